import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { PcmFormat } from '../../audio/pcm.ts';
import { unwritable } from '../../files/writable.ts';
import { Refusal } from './refusal.ts';

/** What an engine makes of one request. */
export interface Sound {
  readonly format: PcmFormat;
  /** True if the engine surely speaks the text. Otherwise it may still refuse it. */
  readonly speakable: boolean;
  readonly pcm: AsyncIterable<Uint8Array>;
}

/** Sound that is complete. */
export interface StoredSound {
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array>;
  dispose(): Promise<void>;
}

/** Bytes. A longer sound goes to a file. */
const MOST = 4 * 1024 * 1024;

/** Bytes. All stored sound in memory together is not longer. */
const MOST_OF_ALL = 64 * 1024 * 1024;

const READ_SIZE = 256 * 1024;

let kept = 0;

/** @throws Refusal 507 if the temporary folder takes no more; the errors of the sound */
export async function storeSound(sound: AsyncIterable<Uint8Array>): Promise<StoredSound> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  let file: FileHandle | undefined;
  try {
    for await (const piece of sound) {
      pieces.push(piece);
      bytes += piece.length;
      kept += piece.length;
      if (file === undefined && bytes <= MOST && kept <= MOST_OF_ALL) continue;
      file ??= await openNamelessFile().catch(refuseStorage);
      for (const part of take(pieces)) await file.writeFile(part).catch(refuseStorage);
    }
  } catch (error) {
    take(pieces);
    await file?.close();
    throw error;
  }
  return file === undefined ? inMemory(pieces, bytes) : inFile(file, bytes);
}

function take(pieces: Uint8Array[]): Uint8Array[] {
  kept -= pieces.reduce((sum, { length }) => sum + length, 0);
  return pieces.splice(0);
}

function inMemory(pieces: Uint8Array[], bytes: number): StoredSound {
  async function* read() {
    yield* pieces;
  }
  return { bytes, read, dispose: async () => void take(pieces) };
}

function inFile(file: FileHandle, bytes: number): StoredSound {
  async function* read() {
    for (let position = 0; position < bytes; ) {
      const length = Math.min(READ_SIZE, bytes - position);
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
      if (bytesRead === 0) throw new Error(`The stored sound ended at ${position} of ${bytes} bytes`);
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
  return { bytes, read, dispose: () => file.close() };
}

/** RFC 4918, section 11.5. */
const INSUFFICIENT_STORAGE = 507;

function refuseStorage(cause: unknown): never {
  throw new Refusal(INSUFFICIENT_STORAGE, 'storage_failed', unwritable(tmpdir(), cause).message);
}

/** The file loses its name at once: it has no other reader. */
async function openNamelessFile(): Promise<FileHandle> {
  const [{ open, unlink }, { tmpdir }, { randomUUID }, { join }] = await Promise.all([
    import('node:fs/promises'),
    import('node:os'),
    import('node:crypto'),
    import('node:path'),
  ]);
  const path = join(tmpdir(), `tts-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}
