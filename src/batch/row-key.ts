import { createHash, hash } from 'node:crypto';
import { keyOf } from '../options/values.ts';
import type { Mix } from '../run/mix.ts';
import type { Speaker } from '../sound/voice.ts';
import { countCodePoints } from '../text/unicode.ts';

/** What shapes the sound besides the text, by the names of the options. */
export type RowShape = Readonly<Record<string, string | number>>;

/** What shapes the sound of a speaker, besides the source of its voice, by the names of the options. */
type SpeakerShape = Readonly<Record<string, unknown>>;

export function soundOf({ voice, fields, speed }: Speaker): SpeakerShape {
  return { ...keyOf({ ...fields, speaker: voice.no }, 'voice'), ...(speed !== undefined && { speed }) };
}

export interface Shape {
  /** The service or engine that the number of the speaker belongs to. */
  readonly owner: string;
  readonly voice: SpeakerShape;
  readonly mix: Mix;
  readonly maxChars: number;
  readonly cutsParagraphs?: boolean | undefined;
  /** The format of the file and its bitrate; `undefined` for a WAV. */
  readonly encoded?: readonly (string | number | null)[] | undefined;
}

export interface RowKey {
  /** A SHA-256 in hex. */
  readonly key: string;
  /** Code points. */
  readonly characters: number;
  readonly isBlank: boolean;
  /** What of the key is not the text. */
  readonly shape: RowShape;
}

/** Hashes a text, as it comes, with all that shapes its sound. */
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

  /** True until there is a text that is spoken. */
  get isEmpty(): boolean {
    return this.#isBlank;
  }

  /** @param mark what changes the sound besides the text */
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

/** What shapes a file, but no segment. Silences that only some texts have are hashed with the text. */
function finishOf({ voice, mix, maxChars, cutsParagraphs, encoded = [] }: Shape, characters: number) {
  const { paragraph, sentence } = mix.pauses;
  // A text that is not cut sounds the same whatever the limit is.
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

/** A manifest may be shared: in the place of addresses and texts, it has short hashes of them. */
function described(values: Readonly<Record<string, unknown>>): RowShape {
  const parts = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'number' ? value : hash('sha256', String(value)).slice(0, 8),
  ]);
  return Object.fromEntries(parts);
}
