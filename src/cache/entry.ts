import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { singleItem } from '../async.ts';
import { ByteReader } from '../audio/byte-reader.ts';
import { frameBytes, type PcmFormat } from '../audio/pcm.ts';
import { headerBytes, padding } from '../audio/wav-header.ts';
import { beginsWav, readStart } from '../audio/wav-start.ts';
import { ExitCode, TtsError } from '../error.ts';

const BLOCK_BYTES = 256 * 1024;

/** Longer than any header that is written here. */
const HEAD_BYTES = 128;

/** Neither waits for a pipe to be written to, nor follows a link; Windows knows neither. */
const WARY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

interface Layout {
  readonly format: PcmFormat;
  /** Offset of the first sample. */
  readonly start: number;
  /** Bytes of samples. */
  readonly bytes: number;
}

/** An entry that was found whole. It can be read even if another run removes it meanwhile. */
export interface OpenEntry extends Layout {
  readonly path: string;
  readonly file: FileHandle;
}

/**
 * Opens an entry after a look at every byte of it; what is in the least different from what was written is none.
 * @param name what {@link entryName} makes of the key and the checksum
 * @returns `undefined` for what is damaged or foreign
 * @throws what the system says where it cannot be opened
 */
export async function openEntry(path: string, name: string, key: string): Promise<OpenEntry | undefined> {
  const file = await open(path, WARY);
  try {
    const layout = await readLayout(file);
    if (layout && entryName(key, await checksum(file, layout, key)) === name)
      return { ...layout, path, file };
  } catch {
    // No header, or a disk that cannot read it: damaged either way.
  }
  await closeEntry(file);
  return undefined;
}

/** What was only read loses nothing, whatever the system says. */
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

/** In the order in which it was written: samples first, since the header is not known before their end. */
async function checksum(file: FileHandle, { start, bytes }: Layout, key: string): Promise<number> {
  let sum = checksumSeed(key);
  const end = start + bytes + padding(bytes);
  for (let at = start; at < end; at += BLOCK_BYTES)
    sum = crc32(await readBlock(file, at, Math.min(BLOCK_BYTES, end - at)), sum);
  return crc32(await readBlock(file, 0, start), sum);
}

/**
 * The samples in whole frames.
 * @param close runs at their end, or when their reader leaves
 * @throws TtsError if the disk fails; then the entry is removed
 */
export async function* readSamples(
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
      hint: 'try again (its text is then requested anew), or use --no-cache',
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

/** Names of the folders that entries lie in: the first byte of their keys. */
export const SHARD = /^[0-9a-f]{2}$/;
/** An entry that is being written, or was when a run was killed; version 0.1 wrote no word before the number. */
export const PART = /^(?:entry\.)?[0-9a-f-]{36}\.part$/;
/** The rest of the key, and the checksum of the content. */
const ENTRY = /^[0-9a-f]{62}\.([0-9a-f]{8})\.wav$/;

/** In which folder an entry lies, and how its name begins there. */
export function placeOf(key: string): { readonly shard: string; readonly prefix: string } {
  return { shard: key.slice(0, 2), prefix: `${key.slice(2)}.` };
}

/** The checksum stands in the name, so that the file is a plain WAV. */
export function entryName(key: string, checksum: number): string {
  return `${placeOf(key).prefix}${checksum.toString(16).padStart(8, '0')}.wav`;
}

export function isEntryName(name: string): boolean {
  return ENTRY.test(name);
}

/** What an entry begun for a key starts its checksum with: sound under a key that is not its own is damaged, too. */
export function checksumSeed(key: string): number {
  return crc32(key);
}
