import {
  closeSync,
  constants,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
  writevSync,
} from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writing } from './folders.ts';
import { yieldToEventLoop } from './wait.ts';

/** Bytes. In blocks of this size, the cost of system calls is negligible. */
const BLOCK_BYTES = 1 << 20;

/** Writes synchronously, in blocks: another thread would cost more than the copy into the system's cache. */
export class FileWriter {
  readonly #fd: number;
  readonly #name: string;
  readonly #elsewhere: string | undefined;
  #block: Uint8Array[] = [];
  #bytes = 0;

  /** @param elsewhere the hint if the file cannot be written */
  constructor(fd: number, name: string, elsewhere?: string) {
    this.#fd = fd;
    this.#name = name;
    this.#elsewhere = elsewhere;
  }

  /** @throws TtsError (output), perhaps for an earlier piece */
  write(piece: Uint8Array): void {
    if (piece.length > 0) this.#block.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes >= BLOCK_BYTES) this.flush();
  }

  flush(): void {
    const block = this.#block;
    const length = this.#bytes;
    this.#block = [];
    this.#bytes = 0;
    writing(this.#name, () => writeWhole(this.#fd, block, length), this.#elsewhere);
  }
}

/** Avoids a copy, unless the system takes only a part. */
function writeWhole(fd: number, block: readonly Uint8Array[], length: number): void {
  const done = block.length > 0 ? writevSync(fd, block) : 0;
  if (done < length) writeFileSync(fd, Buffer.concat(block).subarray(done));
}

export function writeAt(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(fd, bytes, done, bytes.length - done, position + done);
}

/** @throws Error if the file ends before the buffer is full */
export async function readAt(file: FileHandle, into: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < into.length; ) {
    const { bytesRead } = await file.read(into, done, into.length - done, position + done);
    if (bytesRead === 0) throw new Error('the file became shorter while it was read');
    done += bytesRead;
  }
}

/** The value of O_APPEND on Linux. */
const O_APPEND = 0o2000;
const O_ACCMODE = 0o3;

/** True if a file name is the number of a descriptor instead. */
export function isDescriptor(name: string): boolean {
  return /^\d+$/.test(name);
}

/**
 * True for a standard stream that was closed: Node opens /dev/null for reading and writing in its place, while a shell's
 * `> /dev/null` opens it for writing only. Only Linux shows the difference.
 */
export function wasClosed(fd: number): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === '/dev/null' && accessOf(fd) === constants.O_RDWR;
  } catch {
    return false;
  }
}

/** Always false outside Linux, which alone lists the flags of a descriptor. */
export function isReadOnly(fd: number): boolean {
  try {
    return accessOf(fd) === constants.O_RDONLY;
  } catch {
    return false;
  }
}

/** @returns `undefined` outside Linux */
export function positionOf(fd: number): number | undefined {
  try {
    const [, position] = /^pos:\s*(\d+)/m.exec(infoOf(fd)) ?? [];
    return position === undefined ? undefined : Number(position);
  } catch {
    return undefined;
  }
}

/**
 * True if every write appends.
 * @throws the system's error outside Linux
 */
export function isAppending(fd: number): boolean {
  return (flagsOf(fd) & O_APPEND) !== 0;
}

function accessOf(fd: number): number {
  return flagsOf(fd) & O_ACCMODE;
}

function flagsOf(fd: number): number {
  return Number.parseInt(/^flags:\s*(\d+)/m.exec(infoOf(fd))?.[1] ?? '', 8);
}

function infoOf(fd: number): string {
  return readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1');
}

const ELSEWHERE = 'name another folder for temporary files with TMPDIR';

/** The most bytes that are read from a temporary file at once. */
const PIECE_BYTES = 256 * 1024;

/** A temporary file without a name, so that a killed run leaves nothing. On Windows, it has a name until it is closed. */
export class NamelessFile implements Disposable {
  readonly fd: number;
  readonly #path: string;
  readonly #writer: FileWriter;

  /**
   * @param what a part of the file's name, which tells temporary files apart
   * @throws TtsError (output), here and in the methods
   */
  constructor(what: string) {
    this.#path = join(tmpdir(), `tts-${what}-${crypto.randomUUID()}`);
    this.fd = writing(this.#path, () => openSync(this.#path, 'wx+', 0o600), ELSEWHERE);
    this.#writer = new FileWriter(this.fd, this.#path, ELSEWHERE);
    this.#remove();
  }

  write(piece: Uint8Array): void {
    this.#writer.write(piece);
  }

  /** Writes what is still buffered. */
  flush(): void {
    this.#writer.flush();
  }

  /** @returns all that was written, in pieces of whole frames */
  async *read(frameBytes: number): AsyncGenerator<Uint8Array> {
    this.flush();
    const size = PIECE_BYTES - (PIECE_BYTES % frameBytes);
    for (let at = 0; ; at += size) {
      const piece = new Uint8Array(size);
      const read = readSync(this.fd, piece, 0, size, at);
      if (read > 0) yield piece.subarray(0, read);
      if (read < size) return;
      await yieldToEventLoop();
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
    this.#remove();
  }

  #remove(): void {
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // Windows does not remove an open file.
    }
  }
}
