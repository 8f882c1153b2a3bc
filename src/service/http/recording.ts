import type { FileHandle } from 'node:fs/promises';

/** Sound that is whole. */
export interface Recording {
  readonly bytes: number;
  /** From the beginning, as often as wanted. */
  read(): AsyncIterable<Uint8Array>;
  dispose(): Promise<void>;
}

/** Bytes kept in memory; a longer recording goes to a file, so that many long texts at once do not add up. */
const IN_MEMORY = 4 * 1024 * 1024;
const READ_SIZE = 256 * 1024;

export async function record(sound: AsyncIterable<Uint8Array>): Promise<Recording> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  let file: FileHandle | undefined;
  try {
    for await (const piece of sound) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes <= IN_MEMORY) continue;
      file ??= await openNamelessFile();
      for (const kept of pieces.splice(0)) await file.writeFile(kept);
    }
  } catch (error) {
    await file?.close();
    throw error;
  }
  return file === undefined ? inMemory(pieces, bytes) : inFile(file, bytes);
}

function inMemory(pieces: readonly Uint8Array[], bytes: number): Recording {
  async function* read() {
    yield* pieces;
  }
  return { bytes, read, dispose: async () => {} };
}

function inFile(file: FileHandle, bytes: number): Recording {
  async function* read() {
    for (let position = 0; position < bytes; ) {
      const length = Math.min(READ_SIZE, bytes - position);
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
      if (bytesRead === 0) throw new Error(`The recording ended at ${position} of ${bytes} bytes`);
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
  return { bytes, read, dispose: () => file.close() };
}

/** Unlinked as soon as it is open: nobody else can read it, and it goes when the process goes, however that ends. */
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
