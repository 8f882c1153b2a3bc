import { createHash, hash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import type { Mix } from '../speech/mix.ts';
import { countCodePoints } from '../text/unicode.ts';
import type { VoiceShape } from '../voices/voice.ts';
import type { RowShape } from './manifest.ts';

/**
 * `stale` is a file of another text or voice, or one that the manifest does not name. `damaged` is a file with other bytes
 * than were written, and `empty` a row without text.
 */
export type RowState = 'unchanged' | 'missing' | 'stale' | 'damaged' | 'empty';

export interface Shape {
  /** The service or engine that the number of the speaker belongs to. */
  readonly owner: string;
  readonly voice: Omit<VoiceShape, 'identity'>;
  readonly mix: Mix;
  readonly maxChars: number;
  readonly cutsParagraphs?: boolean | undefined;
  /** The format of the file and its bitrate; `undefined` for a WAV. */
  readonly encoded?: readonly (string | number | null)[] | undefined;
}

export interface RowKey {
  /** It is a SHA-256 in hex. */
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

  /** @param mark what is heard and not spoken */
  addMark(mark: string): void {
    this.#hash.update(`\0${mark}\0`);
  }

  finish(shape: Shape): RowKey {
    const key = keyOf(this.#hash.digest('hex'), this.#characters, shape);
    return { key, characters: this.#characters, isBlank: this.#isBlank, shape: toldOf(shape) };
  }
}

export function rowKeyOf(text: string, shape: Shape): RowKey {
  const characters = countCodePoints(text);
  const key = keyOf(hash('sha256', text), characters, shape);
  return { key, characters, isBlank: text.trim() === '', shape: toldOf(shape) };
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

/** A manifest may be shared: it has short hashes of addresses and texts. */
function toldOf({ owner, voice, mix: { pauses, ...others }, encoded }: Shape): RowShape {
  const { speaker, sampleRate, instructions, speed } = voice;
  const said = {
    service: short(owner),
    speaker,
    sampleRate,
    instructions: instructions && short(instructions),
    speed,
    pauses: short(JSON.stringify(pauses)),
    ...others,
    format: encoded?.filter((part) => part !== null).join(' '),
  };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)) as RowShape;
}

function short(text: string): string {
  return hash('sha256', text).slice(0, 8);
}

const SMALL_FILE = 4 * 1024 * 1024;

/** @returns SHA-256 in hex */
export async function hashFile(path: string, signal: AbortSignal): Promise<string> {
  if (statSync(path).size <= SMALL_FILE) return hash('sha256', readFileSync(path));
  const digest = createHash('sha256');
  for await (const piece of createReadStream(path, { signal })) digest.update(piece);
  return digest.digest('hex');
}
