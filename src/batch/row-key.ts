import { createHash, hash } from 'node:crypto';
import { keyOf } from '../options/values.ts';
import type { Mix } from '../run/mix.ts';
import { type Speaker, voiceInKeys } from '../sound/voice.ts';
import { countCodePoints } from '../text/unicode.ts';

/** Everything except the text that affects the sound of a row, by option name; texts as short hashes. */
export type RowShape = Readonly<Record<string, string | number>>;

/** The options that affect the sound of a speaker, by name, except the source of its voice. */
type SpeakerShape = Readonly<Record<string, unknown>>;

export function speakerShape({ voice, fields, speed }: Speaker): SpeakerShape {
  return {
    ...keyOf({ ...fields, speaker: voiceInKeys(voice) }, 'voice'),
    ...(speed !== undefined && { speed }),
  };
}

/** Everything except the text that affects the file of a row. */
export interface Shape {
  /** The service or engine that the speaker belongs to. */
  readonly owner: string;
  readonly voice: SpeakerShape;
  readonly mix: Mix;
  readonly maxChars: number;
  readonly cutsParagraphs?: boolean | undefined;
  /** The format of the file and its bitrate; `undefined` for a WAV. */
  readonly encoded?: readonly (string | number | null)[] | undefined;
}

/** Identifies the sound of a row: an unchanged key means that its file need not be made again. */
export interface RowKey {
  /** A SHA-256 in hex. */
  readonly key: string;
  /** Code points of the text. */
  readonly characters: number;
  readonly isBlank: boolean;
  /** The inputs of the key except the text. */
  readonly shape: RowShape;
}

/** Hashes a text piece by piece, together with everything that affects its sound. */
export class TextHash {
  readonly #hash = createHash('sha256');
  #characters = 0;
  #isBlank = true;

  /** @param text the text after Markdown and lexicon */
  add(text: string): void {
    this.#hash.update(text);
    this.#characters += countCodePoints(text);
    this.#isBlank &&= text.trim() === '';
  }

  /** True until spoken text was added. */
  get isEmpty(): boolean {
    return this.#isBlank;
  }

  /** @param mark a change of the sound that is not text, such as a pause */
  addMark(mark: string): void {
    this.#hash.update(`\0${mark}\0`);
  }

  finish(shape: Shape): RowKey {
    const characters = this.#characters;
    const isBlank = this.#isBlank;
    const { owner } = shape;
    const values = { ...shape.voice, ...keyOf(finishOf(shape, characters), 'finish') };
    const key = hash('sha256', JSON.stringify([owner, values, this.#hash.digest('hex')]));
    return { key, characters, isBlank, shape: described({ owner, ...values }) };
  }
}

/** Returns what affects the file but no segment. Silences that only some texts have are hashed with the text. */
function finishOf({ voice, mix, maxChars, cutsParagraphs, encoded = [] }: Shape, characters: number) {
  const { paragraph, sentence } = mix.pauses;
  // The limit does not matter to a text that is not cut.
  const isCut = characters > maxChars || cutsParagraphs || sentence > 0;
  const [encode, bitrate] = encoded;
  return {
    speed: voice.speed,
    loudness: mix.loudness,
    fit: mix.fit?.most,
    length: mix.fit?.length,
    paragraphPause: paragraph,
    pauses: sentence > 0 ? sentence : undefined,
    maxChars: isCut ? maxChars : undefined,
    encode,
    bitrate: bitrate ?? undefined,
  };
}

/** Replaces addresses and texts by short hashes, as a manifest may be shared. */
function described(values: Readonly<Record<string, unknown>>): RowShape {
  const parts = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'number' ? value : hash('sha256', String(value)).slice(0, 8),
  ]);
  return Object.fromEntries(parts);
}
