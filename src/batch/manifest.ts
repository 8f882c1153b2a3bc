import { closeSync, existsSync, openSync, readdirSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ExitCode, TtsError } from '../error.ts';
import { unwritable } from '../files/writable.ts';
import type { Shard } from './shard.ts';

export interface ManifestEntry {
  readonly id: string;
  /** Relative to the manifest, with "/". */
  readonly file: string;
  /** A hash of what shapes the sound, in hex. */
  readonly key: string;
  readonly sha256: string;
  readonly frames: number;
  /** Hz. */
  readonly sampleRate: number;
  /** Of the text. */
  readonly characters: number;
}

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
  /** The newest entries last. */
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

const isManifest = (name: string) => name.endsWith('.jsonl');

/**
 * Skips a torn line of a journal.
 * @throws TtsError (usage) with the line of a manifest that is no entry, such as a merge conflict
 */
export function* readEntries(folder: string, name: string): Generator<ManifestEntry> {
  let number = 0;
  for (const line of linesOf(join(folder, name))) {
    number += 1;
    const entry = entryOf(line);
    if (entry) yield entry;
    else if (isManifest(name))
      throw new TtsError(`${join(folder, name)}, line ${number}: this is no entry of a manifest`, {
        exitCode: ExitCode.usage,
        hint: 'delete the line: the file that it stood for is made again',
      });
  }
}

function entryOf(line: string): ManifestEntry | undefined {
  try {
    const entry = JSON.parse(line);
    const texts = [entry.id, entry.file, entry.key, entry.sha256];
    const numbers = [entry.frames, entry.sampleRate, entry.characters];
    const isWhole = texts.every((text) => typeof text === 'string') && numbers.every(Number.isSafeInteger);
    return isWhole && isInside(entry.file) ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** `--prune` deletes what a manifest names. */
function isInside(file: string): boolean {
  return !/^(?:[/\\]|[a-z]:)/i.test(file) && !file.split(/[/\\]/).includes('..');
}

/** Equal runs write equal bytes. */
export function lineOf(entry: ManifestEntry): string {
  const { id, file, key, sha256, frames, sampleRate, characters } = entry;
  return `${JSON.stringify({ id, file, key, sha256, frames, sampleRate, characters })}\n`;
}

const CHUNK_BYTES = 1024 * 1024;

function* linesOf(path: string): Generator<string> {
  const fd = openSync(path, 'r');
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let rest = Buffer.alloc(0);
    for (let size = readSync(fd, chunk); size > 0; size = readSync(fd, chunk)) {
      const bytes = Buffer.concat([rest, chunk.subarray(0, size)]);
      let start = 0;
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
        yield bytes.toString('utf8', start, end);
        start = end + 1;
      }
      rest = Buffer.from(bytes.subarray(start));
    }
    if (rest.length > 0) yield rest.toString();
  } finally {
    closeSync(fd);
  }
}

export class Journal implements Disposable {
  readonly #path: string;
  readonly #fd: number;

  /** @throws TtsError (output), as `add` does */
  constructor(path: string) {
    this.#path = path;
    this.#fd = openJournal(path);
    // Ends a torn line.
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

function openJournal(path: string): number {
  try {
    return openSync(path, 'a', 0o666);
  } catch (error) {
    throw unwritable(path, error);
  }
}
