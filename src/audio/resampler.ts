import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join as joinPath } from 'node:path';
import boot, { type Speex } from '@echogarden/speex-resampler-wasm/simd';
import { join } from './samples.ts';

/** Frames. */
const BLOCK = 4096;

/** The scale of Speex goes from 0 to 10. This value means 96 taps and 90 dB of attenuation. */
const QUALITY = 6;

/** Addresses in the memory of Speex. */
interface Heap {
  readonly input: number;
  readonly output: number;
  readonly inputFrames: number;
  readonly outputFrames: number;
}

export async function compileResampler(): Promise<WebAssembly.Module> {
  const program = createRequire(import.meta.url).resolve('@echogarden/speex-resampler-wasm/simd');
  return WebAssembly.compile(await readFile(joinPath(program, '..', 'speex-resampler-simd.wasm')));
}

/** @param compiled the result of {@link compileResampler} */
export async function loadResampler(
  compiled: WebAssembly.Module,
): Promise<(from: number, to: number) => Resampler> {
  const speex = await boot({
    instantiateWasm: (imports, done) => done(new WebAssembly.Instance(compiled, imports)),
  });
  return (from, to) => new Resampler(speex, from, to);
}

/**
 * Mono pieces of any length: band-limited, without delay, the same duration to the frame. `end` or `free` releases its
 * memory.
 */
export class Resampler {
  readonly #speex: Speex;
  readonly #state: number;
  readonly #heap: Heap;
  readonly #room: number;

  constructor(speex: Speex, from: number, to: number) {
    this.#speex = speex;
    this.#room = Math.ceil((BLOCK * to) / from) + 1;
    this.#heap = {
      input: speex._malloc(4 * BLOCK),
      output: speex._malloc(4 * this.#room),
      inputFrames: speex._malloc(4),
      outputFrames: speex._malloc(4),
    };
    this.#state = speex._speex_resampler_init(1, from, to, QUALITY, 0);
    if (this.#state === 0) throw new RangeError(`no resampler from ${from} Hz to ${to} Hz`);
    speex._speex_resampler_skip_zeros(this.#state);
  }

  push(samples: Float32Array): Float32Array {
    const pieces: Float32Array[] = [];
    for (let start = 0; start < samples.length; ) {
      const block = samples.subarray(start, start + BLOCK);
      const { used, made } = this.#process(block);
      start += used;
      pieces.push(made);
    }
    return join(pieces);
  }

  end(): Float32Array {
    const latency = this.#speex._speex_resampler_get_input_latency(this.#state);
    const rest = this.push(new Float32Array(latency));
    this.free();
    return rest;
  }

  free(): void {
    this.#speex._speex_resampler_destroy(this.#state);
    for (const address of Object.values(this.#heap)) this.#speex._free(address);
  }

  #process(block: Float32Array): { used: number; made: Float32Array } {
    // The views are replaced when the memory grows.
    const { HEAPF32: floats, HEAPU32: words } = this.#speex;
    const { input, output, inputFrames, outputFrames } = this.#heap;
    floats.set(block, input / 4);
    words[inputFrames / 4] = block.length;
    words[outputFrames / 4] = this.#room;
    this.#speex._speex_resampler_process_float(this.#state, 0, input, inputFrames, output, outputFrames);
    const used = words[inputFrames / 4] ?? 0;
    const made = words[outputFrames / 4] ?? 0;
    if (used === 0 && made === 0) throw new Error('the resampler stands still');
    return { used, made: floats.slice(output / 4, output / 4 + made) };
  }
}
