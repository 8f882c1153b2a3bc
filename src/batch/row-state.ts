import { createHash, hash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import type { Mix } from '../speech/mix.ts';
import { countCodePoints } from '../text/unicode.ts';
import type { VoiceShape } from '../voices/voice.ts';
import type { ManifestEntry } from './manifest.ts';

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
    return { key, characters: this.#characters, isBlank: this.#isBlank };
  }
}

export function rowKeyOf(text: string, shape: Shape): RowKey {
  const characters = countCodePoints(text);
  return { key: keyOf(hash('sha256', text), characters, shape), characters, isBlank: text.trim() === '' };
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

const SMALL_FILE = 4 * 1024 * 1024;

/** @returns SHA-256 in hex */
export async function hashFile(path: string, signal: AbortSignal): Promise<string> {
  if (statSync(path).size <= SMALL_FILE) return hash('sha256', readFileSync(path));
  const digest = createHash('sha256');
  for await (const piece of createReadStream(path, { signal })) digest.update(piece);
  return digest.digest('hex');
}

export async function stateOf(
  { key, isBlank }: RowKey,
  entry: ManifestEntry | undefined,
  path: string,
  signal: AbortSignal,
): Promise<RowState> {
  if (isBlank) return 'empty';
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return 'missing';
  if (entry?.key !== key) return 'stale';
  return (await hashFile(path, signal)) === entry.sha256 ? 'unchanged' : 'damaged';
}
