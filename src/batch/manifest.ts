import { closeSync, existsSync, readdirSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ExitCode, TtsError } from '../error.ts';
import { assertNoHardLink, openOwn } from '../files/own-file.ts';
import { unwritable } from '../files/writable.ts';
import type { Shard } from './shard.ts';

export interface ManifestEntry {
  readonly id: string;
  /** It is relative to the manifest, with "/". */
  readonly file: string;
  /** It hashes what shapes the sound, and is in hex. */
  readonly key: string;
  readonly sha256: string;
  readonly frames: number;
  /** Hz. */
  readonly sampleRate: number;
  /** They are counted in the text. */
  readonly characters: number;
  /** It tells which option differs where a file is stale. */
  readonly shape?: RowShape | undefined;
}

/** What shapes the sound besides the text. */
export type RowShape = Readonly<Record<string, string | number>>;

export function manifestName(shard?: Shard): string {
  return `${baseName(shard)}.jsonl`;
}

export function journalName(shard?: Shard): string {
  return `${baseName(shard)}.journal`;
}

export function lockName(shard?: Shard): string {
  return `${baseName(shard)}.lock`;
}

function baseName(shard?: Shard): string {
  return shard ? `tts-batch.${shard.index}-of-${shard.count}` : 'tts-batch';
}

export interface BatchFiles {
  readonly parts: readonly string[];
  readonly locks: readonly string[];
  /** The newest entries come last. */
  readonly sources: readonly string[];
}

const PART = /^tts-batch\.\d+-of-\d+\.(?:jsonl|journal)$/;
const LOCK = /^tts-batch(?:\.\d+-of-\d+)?\.lock$/;

export function findBatchFiles(folder: string): BatchFiles {
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  const shards = names.filter((name) => PART.test(name));
  const [main, journal] = [manifestName(), journalName()].map((name) =>
    names.filter((each) => each === name),
  );
  const byAge = [...shards.filter(isManifest), ...shards.filter((name) => !isManifest(name))];
  return {
    parts: [...shards, ...(journal ?? [])],
    locks: names.filter((name) => LOCK.test(name)),
    sources: [...(main ?? []), ...byAge, ...(journal ?? [])],
  };
}

/** Ignores case, as some file systems do. */
export function isBatchFile(name: string): boolean {
  return /^tts-batch(?:\.\d+-of-\d+)?\.(?:jsonl|journal|lock)$/i.test(name);
}

const isManifest = (name: string) => name.endsWith('.jsonl');

/**
 * Reads the entries, without a torn line of a journal.
 * @throws TtsError (usage) for a link, and with the line of a manifest that is not an entry, such as a merge conflict
 */
export function* readEntries(folder: string, name: string, uid?: number): Generator<ManifestEntry> {
  let number = 0;
  for (const line of linesOf(join(folder, name), uid)) {
    number += 1;
    const entry = entryOf(line);
    if (entry) yield entry;
    else if (isManifest(name))
      throw new TtsError(`${join(folder, name)}, line ${number}: this is not an entry of a manifest`, {
        exitCode: ExitCode.usage,
        hint: CONFLICT.test(line) ? OF_CONFLICT : 'delete the line: the file that it stood for is made again',
      });
  }
}

const CONFLICT = /^(?:<{7}|={7}|>{7})(?: |\r?$)/;
const OF_CONFLICT = 'this is a conflict of git: delete the lines <<<<<<<, ======= and >>>>>>>, and run again';

function entryOf(line: string): ManifestEntry | undefined {
  try {
    const entry = JSON.parse(line);
    const texts = [entry.id, entry.file, entry.key, entry.sha256];
    const numbers = [entry.frames, entry.sampleRate, entry.characters];
    const isWhole = texts.every((text) => typeof text === 'string') && numbers.every(Number.isSafeInteger);
    if (!isWhole || !isInside(entry.file)) return undefined;
    const { id, file, key, sha256, frames, sampleRate, characters, shape } = entry;
    return {
      id,
      file,
      key,
      sha256,
      frames,
      sampleRate,
      characters,
      ...(isShape(shape) && { shape }),
    };
  } catch {
    return undefined;
  }
}

/** It has few fields, whoever wrote the manifest. */
const MOST_FIELDS = 20;

function isShape(shape: unknown): shape is RowShape {
  if (typeof shape !== 'object' || shape === null || Array.isArray(shape)) return false;
  const values = Object.values(shape);
  return values.length <= MOST_FIELDS && values.every((each) => /^(?:string|number)$/.test(typeof each));
}

/** A name must stay inside the folder: `--prune` deletes what a manifest names. */
function isInside(file: string): boolean {
  const isAbsolute = /^(?:[/\\]|[a-z]:)/i.test(file);
  return !isAbsolute && !file.includes('\0') && !file.split(/[/\\]/).some((part) => NO_NAMES.has(part));
}

const NO_NAMES = new Set(['', '.', '..']);

/** The fields have one order, so that equal runs write equal bytes. */
export function lineOf(entry: ManifestEntry): string {
  const { id, file, key, sha256, frames, sampleRate, characters, shape } = entry;
  return `${JSON.stringify({ id, file, key, sha256, frames, sampleRate, characters, shape })}\n`;
}

const CHUNK_BYTES = 1024 * 1024;

/** Bytes. A longer line is cut, and so is not an entry. */
const LONGEST_LINE = 128 * 1024 * 1024;

function* linesOf(path: string, uid: number | undefined): Generator<string> {
  const fd = openOwn(path, 'O_RDONLY', uid);
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let pieces: Buffer[] = [];
    let length = 0;
    for (let size = readSync(fd, chunk); size > 0; size = readSync(fd, chunk)) {
      let start = 0;
      for (let end = chunk.indexOf(10); end >= 0 && end < size; end = chunk.indexOf(10, start)) {
        yield Buffer.concat([...pieces, chunk.subarray(start, end)]).toString();
        pieces = [];
        length = 0;
        start = end + 1;
      }
      if (length < LONGEST_LINE) pieces.push(Buffer.from(chunk.subarray(start, size)));
      length += size - start;
    }
    if (length > 0) yield Buffer.concat(pieces).toString();
  } finally {
    closeSync(fd);
  }
}

export class Journal implements Disposable {
  readonly #path: string;
  readonly #fd: number;

  /** @throws TtsError (usage) for a link, (output), as `add` does */
  constructor(path: string, uid?: number) {
    this.#path = path;
    this.#fd = openJournal(path, uid);
    assertNoHardLink(this.#fd, path);
    // This ends a torn line.
    this.#write('\n');
  }

  add(entry: ManifestEntry): void {
    this.#write(lineOf(entry));
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  #write(text: string): void {
    try {
      writeSync(this.#fd, text);
    } catch (error) {
      throw unwritable(this.#path, error);
    }
  }
}

function openJournal(path: string, uid: number | undefined): number {
  try {
    return openOwn(path, 'O_APPEND', uid);
  } catch (error) {
    throw unwritable(path, error);
  }
}
