import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { singleItem } from '../async.ts';
import { ByteReader } from '../audio/byte-reader.ts';
import { frameBytes, type PcmFormat } from '../audio/pcm.ts';
import { headerBytes, padding } from '../audio/wav-header.ts';
import { beginsWav, readStart } from '../audio/wav-start.ts';
import { ExitCode, TtsError } from '../error.ts';

const BLOCK_BYTES = 256 * 1024;

const HEAD_BYTES = 128;

/** With these flags, opening follows no link, and waits for no writer of a pipe. Windows has neither flag. */
const WARY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

interface Layout {
  readonly format: PcmFormat;
  readonly start: number;
  readonly bytes: number;
}

/** An open entry can be read even if another run removes it. */
export interface OpenEntry extends Layout {
  readonly path: string;
  readonly file: FileHandle;
}

/**
 * Opens an entry after a check of every byte.
 * @param name from {@link entryName}
 * @returns `undefined` for a damaged or foreign file
 * @throws the system's error
 */
export async function openEntry(path: string, name: string, key: string): Promise<OpenEntry | undefined> {
  const file = await open(path, WARY);
  try {
    const layout = await readLayout(file);
    if (layout && entryName(key, await checksum(file, layout, key)) === name)
      return { ...layout, path, file };
  } catch {
    // The file has no header, or the disk cannot be read.
  }
  await closeEntry(file);
  return undefined;
}

/** Closes a file that was only read, so that an error loses nothing. */
export async function closeEntry(file: FileHandle): Promise<void> {
  await file.close().catch(() => {});
}

async function readLayout(file: FileHandle): Promise<Layout | undefined> {
  const found = await file.stat();
  if (!found.isFile()) return undefined;
  const head = await readBlock(file, 0, Math.min(HEAD_BYTES, found.size));
  if (!beginsWav(head)) return undefined;
  const { format, size: bytes } = await readStart(new ByteReader(singleItem(head)));
  if (bytes === undefined) return undefined;
  const start = headerBytes(format, bytes);
  return start + bytes + padding(bytes) === found.size ? { format, start, bytes } : undefined;
}

/** Computes the checksum over the samples and then the header, in the order in which they were written. */
async function checksum(file: FileHandle, { start, bytes }: Layout, key: string): Promise<number> {
  let sum = checksumSeed(key);
  const end = start + bytes + padding(bytes);
  for (let at = start; at < end; at += BLOCK_BYTES)
    sum = crc32(await readBlock(file, at, Math.min(BLOCK_BYTES, end - at)), sum);
  return crc32(await readBlock(file, 0, start), sum);
}

/**
 * It gives whole frames.
 * @param close is called at the end, or when the reader leaves
 * @throws TtsError if the disk fails; the entry is removed
 */
export async function* readEntry(
  { file, path, format, start, bytes }: OpenEntry,
  close: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const frame = frameBytes(format);
  const block = Math.max(frame, BLOCK_BYTES - (BLOCK_BYTES % frame));
  const end = start + bytes;
  try {
    for (let at = start; at < end; at += block) yield await readBlock(file, at, Math.min(block, end - at));
  } catch (cause) {
    await rm(path, { force: true }).catch(() => {});
    throw new TtsError(`cannot read ${path}, which was whole a moment ago`, {
      exitCode: ExitCode.output,
      hint: 'try again (its text is then requested again), or use --no-cache',
      cause,
    });
  } finally {
    await close();
  }
}

async function readBlock(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const block = Buffer.allocUnsafe(length);
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(block, done, length - done, position + done);
    if (bytesRead === 0) throw new Error('the file ends early');
    done += bytesRead;
  }
  return block;
}

/** The folder of an entry is the first byte of its key. */
export const SHARD = /^[0-9a-f]{2}$/;
/** Parts of version 0.1 had no prefix. */
export const PART = /^(?:(?:entry\.)?[0-9a-f-]{36}\.part|[0-9a-f]{64}\.claim)$/;
const ENTRY = /^[0-9a-f]{62}\.([0-9a-f]{8})\.wav$/;

export function placeOf(key: string): { readonly shard: string; readonly prefix: string } {
  return { shard: key.slice(0, 2), prefix: `${key.slice(2)}.` };
}

export function entryName(key: string, checksum: number): string {
  return `${placeOf(key).prefix}${checksum.toString(16).padStart(8, '0')}.wav`;
}

/** @param path the path of an entry at its place */
export function keyOfEntry(path: string): string {
  return basename(dirname(path)) + basename(path).slice(0, 62);
}

export function isEntryName(name: string): boolean {
  return ENTRY.test(name);
}

/** The checksum begins with the key, so that sound under another key counts as damaged. */
export function checksumSeed(key: string): number {
  return crc32(key);
}
