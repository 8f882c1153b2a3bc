/** The system calls of Flite's WebAssembly program. */
import { mappedBuffer } from '../sound/samples.ts';

const SUCCESS = 0;
const BADF = 8;

const FILE_TYPE_DIRECTORY = 3;
const FILE_TYPE_REGULAR = 4;

/** File descriptors after those of the standard streams. */
const FOLDER = 3;
const OUTPUT = 4;

/** The program ended with an error. Its memory must not be used again. */
class WasiExit extends Error {
  override readonly name = 'WasiExit';
}

/**
 * The part of WASI preview 1 that Flite needs: one output file, in memory, and a clock that stands still. `node:wasi` is no
 * choice: it aborts after about ten runs of one of the voices.
 */
export class Wasi {
  #memory: WebAssembly.Memory | undefined;
  #args: readonly Uint8Array[] = [];
  #file = new Uint8Array();
  #written = 0;
  #messages = '';

  readonly imports = {
    args_sizes_get: (count: number, size: number) => {
      this.#setUint32(count, this.#args.length);
      this.#setUint32(
        size,
        this.#args.reduce((sum, arg) => sum + arg.length, 0),
      );
      return SUCCESS;
    },
    args_get: (pointers: number, texts: number) => {
      let text = texts;
      for (const [index, arg] of this.#args.entries()) {
        this.#setUint32(pointers + 4 * index, text);
        this.#bytes(text, arg.length).set(arg);
        text += arg.length;
      }
      return SUCCESS;
    },
    clock_time_get: (_clock: number, _precision: bigint, time: number) => {
      this.#view().setBigUint64(time, 0n, true);
      return SUCCESS;
    },
    fd_prestat_get: (fd: number, prestat: number) => {
      if (fd !== FOLDER) return BADF;
      this.#setUint32(prestat, 0);
      this.#setUint32(prestat + 4, '.'.length);
      return SUCCESS;
    },
    fd_prestat_dir_name: (_fd: number, name: number) => {
      this.#view().setUint8(name, '.'.charCodeAt(0));
      return SUCCESS;
    },
    fd_fdstat_get: (fd: number, stat: number) => {
      this.#bytes(stat, 24).fill(0xff); // all rights
      this.#view().setBigUint64(stat, 0n, true);
      this.#view().setUint8(stat, fd === FOLDER ? FILE_TYPE_DIRECTORY : FILE_TYPE_REGULAR);
      return SUCCESS;
    },
    fd_fdstat_set_flags: () => SUCCESS,
    path_open: (...[, , , , , , , , fd]: readonly number[]) => {
      this.#written = 0;
      this.#setUint32(fd ?? 0, OUTPUT);
      return SUCCESS;
    },
    fd_write: (fd: number, vectors: number, count: number, written: number) => {
      const pieces = this.#vectors(vectors, count);
      if (fd === OUTPUT) for (const piece of pieces) this.#append(piece);
      else this.#messages += pieces.map((piece) => Buffer.from(piece).toString('latin1')).join('');
      this.#setUint32(
        written,
        pieces.reduce((sum, piece) => sum + piece.length, 0),
      );
      return SUCCESS;
    },
    fd_read: () => BADF,
    fd_seek: () => BADF,
    fd_close: () => SUCCESS,
    proc_exit: (status: number) => {
      throw new WasiExit(`ended with status ${status}: ${this.#messages.trim()}`);
    },
  };

  /** To be called before each run. */
  prepare(memory: WebAssembly.Memory, args: readonly string[]): void {
    this.#memory = memory;
    this.#args = args.map((arg) => Buffer.from(`${arg}\0`));
    this.#written = 0;
    this.#messages = '';
  }

  /** The text that the last run printed. */
  get messages(): string {
    return this.#messages;
  }

  /** The bytes of the output file, valid until the next run. */
  get output(): Buffer {
    return Buffer.from(this.#file.buffer, 0, this.#written);
  }

  #append(piece: Uint8Array): void {
    const end = this.#written + piece.length;
    if (end > this.#file.length) {
      const larger = new Uint8Array(mappedBuffer(2 * end));
      larger.set(this.#file);
      this.#file = larger;
    }
    this.#file.set(piece, this.#written);
    this.#written = end;
  }

  #view(): DataView {
    if (!this.#memory) throw new WasiExit('a program that was not prepared');
    return new DataView(this.#memory.buffer);
  }

  #bytes(address: number, length: number): Uint8Array {
    return new Uint8Array(this.#view().buffer, address, length);
  }

  #setUint32(address: number, value: number): void {
    this.#view().setUint32(address, value, true);
  }

  #vectors(address: number, count: number): Uint8Array[] {
    const view = this.#view();
    return Array.from({ length: count }, (_, index) => {
      const vector = address + 8 * index;
      return this.#bytes(view.getUint32(vector, true), view.getUint32(vector + 4, true));
    });
  }
}
