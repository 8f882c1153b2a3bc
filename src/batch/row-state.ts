import { createHash, hash } from 'node:crypto';
import { createReadStream, readFileSync, type Stats, statSync } from 'node:fs';
import { countCodePoints } from '../text/unicode.ts';
import type { ManifestEntry } from './manifest.ts';
import type { RowVoice } from './plan.ts';

/**
 * How the file of a row stands. `missing`: there is none. `stale`: it was made of another text or with another voice, or
 * the manifest does not know it. `damaged`: its bytes are not those that were written. `empty`: the row has no text.
 */
export type RowState = 'unchanged' | 'missing' | 'stale' | 'damaged' | 'empty';

/** All that shapes the sound of a row beside its text. */
export interface Shape {
  /** The service or engine that speaks: the same speaker number is another voice elsewhere. */
  readonly identity: string;
  readonly voice: RowVoice;
  /** Seconds between paragraphs. */
  readonly paragraphPause: number;
  /** Characters of the longest request. It shapes the sound of longer texts only. */
  readonly maxChars: number;
}

export interface RowKey {
  /** SHA-256, as hex digits. */
  readonly key: string;
  /** Characters (code points) of the text. */
  readonly characters: number;
  readonly isBlank: boolean;
}

/** Computes the key of a row while its text goes by. Equal keys mean equal sound. */
export class TextHash {
  readonly #hash = createHash('sha256');
  #characters = 0;
  #isBlank = true;

  /** @param text a piece of what is spoken, behind Markdown and the lexicon */
  add(text: string): void {
    this.#hash.update(text);
    this.#characters += countCodePoints(text);
    this.#isBlank &&= text.trim() === '';
  }

  /** Call once, when all of the text went by. */
  finish(shape: Shape): RowKey {
    const key = keyOf(this.#hash.digest('hex'), this.#characters, shape);
    return { key, characters: this.#characters, isBlank: this.#isBlank };
  }
}

/** The key of a text that is all there: the same in less time. */
export function rowKeyOf(text: string, shape: Shape): RowKey {
  const characters = countCodePoints(text);
  return { key: keyOf(hash('sha256', text), characters, shape), characters, isBlank: text.trim() === '' };
}

function keyOf(
  text: string,
  characters: number,
  { identity, voice, paragraphPause, maxChars }: Shape,
): string {
  const { speaker, sampleRate, instructions } = voice;
  const owner = voice.identity ?? identity;
  const cut = characters > maxChars ? maxChars : null;
  return hash(
    'sha256',
    JSON.stringify([owner, speaker, sampleRate ?? null, instructions ?? null, paragraphPause, cut, text]),
  );
}

/** Bytes of a file that is read in one piece. */
const SMALL_FILE = 4 * 1024 * 1024;

/** @returns SHA-256 of a file, as hex digits */
export async function hashFile(path: string, signal: AbortSignal): Promise<string> {
  if (statSync(path).size <= SMALL_FILE) return hash('sha256', readFileSync(path));
  const digest = createHash('sha256');
  for await (const piece of createReadStream(path, { signal })) digest.update(piece);
  return digest.digest('hex');
}

/**
 * Compares what a row needs with what is there.
 * @param entry what the manifest says of the row's file
 */
export async function stateOf(
  { key, isBlank }: RowKey,
  entry: ManifestEntry | undefined,
  path: string,
  signal: AbortSignal,
): Promise<RowState> {
  if (isBlank) return 'empty';
  if (!isFile(statSync(path, { throwIfNoEntry: false }))) return 'missing';
  if (entry?.key !== key) return 'stale';
  return (await hashFile(path, signal)) === entry.sha256 ? 'unchanged' : 'damaged';
}

function isFile(stats: Stats | undefined): boolean {
  return stats?.isFile() === true;
}
