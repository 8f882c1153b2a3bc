/** Changes the speed of sound without its pitch, through the library Sonic. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import boot, { type Sonic } from '@echogarden/sonic-wasm';
import { loadOnce, yieldToEventLoop } from '../kit/wait.ts';
import { frameBytes, framesAtSpeed, type PcmFormat, type Speech } from './pcm.ts';
import { bytesOf, readFloats } from './samples.ts';

/** Frames per block. Sonic's output depends on how its input is cut, so all blocks have this size. */
const BLOCK = 1024;

/** Blocks per tick of the event loop: some milliseconds of work. */
const BLOCKS_AT_ONCE = 8;

const FLOAT_BYTES = 4;

/**
 * Changes the speed and keeps the pitch. The duration is divided by the speed, exact to the frame.
 * @param speed a factor; 1 returns the sound unchanged
 */
export function atSpeed(speech: Speech, speed: number): Speech {
  return speed === 1 ? speech : { ...speech, bytes: undefined, pcm: stretched(speech, speed) };
}

async function* stretched({ format, pcm }: Speech, speed: number): AsyncGenerator<Uint8Array> {
  const sonic = new Stretcher(await loaded(), format, speed);
  const size = frameBytes(format);
  let [taken, made, blocks] = [0, 0, 0];
  const due = () => framesAtSpeed(taken, speed) - made;
  try {
    for await (const block of blocksOf(pcm, BLOCK * size)) {
      taken += block.length / size;
      const bytes = limited(sonic.push(block), due() * size);
      made += bytes.length / size;
      if (bytes.length > 0) yield bytes;
      blocks += 1;
      if (blocks % BLOCKS_AT_ONCE === 0) await yieldToEventLoop();
    }
    // Sonic may omit the last frames, which are then silence.
    if (due() > 0) yield exactly(sonic.end(), due() * size, format);
  } finally {
    sonic.free();
  }
}

/** Yields blocks of this length; the last one may be shorter. */
async function* blocksOf(pcm: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Uint8Array> {
  const block = Buffer.alloc(length);
  let filled = 0;
  for await (const piece of pcm) {
    for (let start = 0; start < piece.length; ) {
      const part = piece.subarray(start, start + length - filled);
      block.set(part, filled);
      filled += part.length;
      start += part.length;
      if (filled < length) continue;
      yield block;
      filled = 0;
    }
  }
  if (filled > 0) yield block.subarray(0, filled);
}

function limited(bytes: Uint8Array, most: number): Uint8Array {
  return bytes.subarray(0, Math.max(0, most));
}

function exactly(bytes: Uint8Array, length: number, { encoding, bitsPerSample }: PcmFormat): Uint8Array {
  const isUnsigned = encoding === 'integer' && bitsPerSample === 8;
  const exact = new Uint8Array(length).fill(isUnsigned ? 0x80 : 0);
  exact.set(limited(bytes, length));
  return exact;
}

const loaded = loadOnce(async (): Promise<Sonic> => {
  const program = createRequire(import.meta.url).resolve('@echogarden/sonic-wasm');
  const compiled = await WebAssembly.compile(await readFile(join(program, '..', 'sonic.wasm')));
  return boot({
    instantiateWasm(imports, done) {
      const instance = new WebAssembly.Instance(compiled, imports);
      done(instance);
      return instance.exports;
    },
  });
});

/** One sound in Sonic's memory. */
class Stretcher {
  readonly #sonic: Sonic;
  readonly #format: PcmFormat;
  readonly #stream: number;
  /** The address of the buffer for frames in both directions. */
  readonly #room: number;

  constructor(sonic: Sonic, format: PcmFormat, speed: number) {
    this.#sonic = sonic;
    this.#format = format;
    this.#stream = sonic._sonicCreateStream(format.sampleRate, format.channels);
    this.#room = sonic._malloc(BLOCK * format.channels * FLOAT_BYTES);
    if (this.#stream === 0 || this.#room === 0) throw noMemory();
    sonic._sonicSetSpeed(this.#stream, speed);
  }

  /** @param bytes whole frames, at most {@link BLOCK} */
  push(bytes: Uint8Array): Uint8Array {
    readFloats(bytes, this.#format, this.#floats());
    const frames = bytes.length / frameBytes(this.#format);
    if (this.#sonic._sonicWriteFloatToStream(this.#stream, this.#room, frames) === 0) throw noMemory();
    return this.#taken();
  }

  end(): Uint8Array {
    if (this.#sonic._sonicFlushStream(this.#stream) === 0) throw noMemory();
    return this.#taken();
  }

  free(): void {
    this.#sonic._sonicDestroyStream(this.#stream);
    this.#sonic._free(this.#room);
  }

  #taken(): Uint8Array {
    const pieces: Uint8Array[] = [];
    for (;;) {
      const frames = this.#sonic._sonicReadFloatFromStream(this.#stream, this.#room, BLOCK);
      if (frames === 0) return Buffer.concat(pieces);
      pieces.push(bytesOf(this.#floats().subarray(0, frames * this.#format.channels), this.#format));
    }
  }

  /** Created for each use, since the view is replaced when the memory grows. */
  #floats(): Float32Array {
    const start = this.#room / FLOAT_BYTES;
    return this.#sonic.HEAPF32.subarray(start, start + BLOCK * this.#format.channels);
  }
}

function noMemory(): Error {
  return new Error('there is not enough memory to change the speed');
}
