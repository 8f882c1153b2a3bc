import { createHash, hash } from 'node:crypto';
import type { Mix } from '../run/mix.ts';
import type { Speaker } from '../sound/voice.ts';
import { countCodePoints } from '../text/unicode.ts';

/** What shapes the sound besides the text. */
export type RowShape = Readonly<Record<string, string | number>>;

/** What shapes the sound of a speaker, besides the source of its voice. */
interface VoiceShape {
  readonly speaker: number;
  /** Hz. */
  readonly sampleRate?: number | undefined;
  readonly instructions?: string | undefined;
  readonly speed?: number | undefined;
}

export function soundOf({ voice, fields: { sampleRate, instructions }, speed }: Speaker): VoiceShape {
  return { speaker: voice.no, sampleRate, instructions, speed };
}

export interface Shape {
  /** The service or engine that the number of the speaker belongs to. */
  readonly owner: string;
  readonly voice: VoiceShape;
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
    const key = keyOf(this.#hash.digest('hex'), this.#characters, shape);
    return { key, characters: this.#characters, isBlank: this.#isBlank, shape: describedShape(shape) };
  }
}

export function rowKeyOf(text: string, shape: Shape): RowKey {
  const characters = countCodePoints(text);
  const key = keyOf(hash('sha256', text), characters, shape);
  return { key, characters, isBlank: text.trim() === '', shape: describedShape(shape) };
}

function keyOf(
  text: string,
  characters: number,
  { owner, voice, mix, maxChars, cutsParagraphs, encoded }: Shape,
): string {
  const { speaker, sampleRate, instructions, speed } = voice;
  const {
    pauses: { paragraph, sentence },
    ...others
  } = mix;
  // A text that is not cut sounds the same whatever the limit is.
  const cut = characters > maxChars || cutsParagraphs || sentence > 0 ? maxChars : null;
  const parts = [owner, speaker, sampleRate ?? null, instructions ?? null, paragraph, cut, text];
  const further = [
    ...(sentence > 0 ? [sentence] : []),
    ...Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [{ [name]: value }])),
    ...(encoded ? [encoded] : []),
    ...(speed ? [{ speed }] : []),
  ];
  return hash('sha256', JSON.stringify([...parts, ...further]));
}

/** A manifest may be shared: in the place of addresses and texts, it has short hashes of them. */
function describedShape({ owner, voice, mix: { pauses, ...others }, encoded }: Shape): RowShape {
  const { speaker, sampleRate, instructions, speed } = voice;
  const parts = {
    service: shortHash(owner),
    speaker,
    sampleRate,
    instructions: instructions && shortHash(instructions),
    speed,
    pauses: shortHash(JSON.stringify(pauses)),
    ...others,
    format: encoded?.filter((part) => part !== null).join(' '),
  };
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as RowShape;
}

function shortHash(text: string): string {
  return hash('sha256', text).slice(0, 8);
}
