import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join as joinPath } from 'node:path';
import boot, { type Speex } from '@echogarden/speex-resampler-wasm/simd';
import { loadOnce, yieldToEventLoop } from '../kit/wait.ts';
import { frameBytes, type PcmFormat, type Speech } from './pcm.ts';
import { bytesOf, join, lanesOf, toFloat, toInt16 } from './samples.ts';

/** Frames that Speex converts at a time. */
const BLOCK = 4096;

/** On Speex's scale from 0 to 10, this means 96 taps and 90 dB of attenuation. */
const QUALITY = 6;

/** Addresses in the memory of Speex. */
interface Heap {
  readonly input: number;
  readonly output: number;
  readonly inputFrames: number;
  readonly outputFrames: number;
}

/** Starts Speex with a memory of its own. */
export async function openSpeex(): Promise<Speex> {
  const program = createRequire(import.meta.url).resolve('@echogarden/speex-resampler-wasm/simd');
  const code = await readFile(joinPath(program, '..', 'speex-resampler-simd.wasm'));
  const compiled = await WebAssembly.compile(code);
  return boot({ instantiateWasm: (imports, done) => done(new WebAssembly.Instance(compiled, imports)) });
}

/** Makes a resampler from one rate to another, both in Hz. */
export type MakeResampler = (from: number, to: number) => Resampler;

/** Loads Speex, once for each thread. */
export const loadResampler = loadOnce(async (): Promise<MakeResampler> => {
  const speex = await openSpeex();
  return (from, to) => new Resampler(speex, from, to);
});

/**
 * Converts the sample rate of mono sound, in pieces of any length: band-limited, without delay, with the same duration to
 * the frame. `end` or `free` releases its memory.
 */
export class Resampler {
  readonly #speex: Speex;
  readonly #state: number;
  readonly #heap: Heap;
  readonly #room: number;
  #isFree = false;

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

  /** @param samples from -1 to 1 */
  push(samples: Float32Array | Float64Array): Float32Array {
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
    if (this.#isFree) return;
    this.#isFree = true;
    this.#speex._speex_resampler_destroy(this.#state);
    for (const address of Object.values(this.#heap)) this.#speex._free(address);
  }

  #process(block: Float32Array | Float64Array): { used: number; made: Float32Array } {
    // Read the views each time: they are replaced when the memory grows.
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

/** Frames that are converted between two ticks, in some milliseconds. */
const STEP = 16_384;

/** Converts to another rate in steps, with a tick of the event loop and a check of the signal between them. */
export async function* resampled(
  pieces: AsyncIterable<Int16Array>,
  resampler: Resampler,
  signal: AbortSignal,
): AsyncGenerator<Int16Array> {
  try {
    for await (const samples of pieces)
      for (let start = 0; start < samples.length; start += STEP) {
        await yieldToEventLoop();
        signal.throwIfAborted();
        yield toInt16(resampler.push(toFloat(samples.subarray(start, start + STEP))));
      }
    yield toInt16(resampler.end());
  } finally {
    resampler.free();
  }
}

/** Keeps the duration, to the frame. If the number of channels changes, each new one is the mean of the old ones. */
export function converted({ format, pcm }: Speech, to: PcmFormat): Speech {
  return { format: to, bytes: undefined, pcm: conversion(pcm, format, to) };
}

async function* conversion(
  pcm: AsyncIterable<Uint8Array>,
  from: PcmFormat,
  to: PcmFormat,
): AsyncGenerator<Uint8Array> {
  const lanes = from.channels === to.channels ? to.channels : 1;
  const isSameRate = from.sampleRate === to.sampleRate;
  const resamplers = isSameRate ? undefined : await resamplersFor(lanes, from.sampleRate, to.sampleRate);
  const step = STEP * frameBytes(from);
  let [taken, made] = [0, 0];
  try {
    for await (const piece of pcm) {
      for (let start = 0; start < piece.length; start += step) {
        const floats = lanesOf(piece.subarray(start, start + step), from, lanes);
        const resampled = floats.map((lane, at) => resamplers?.[at]?.push(lane) ?? lane);
        taken += floats[0]?.length ?? 0;
        made += resampled[0]?.length ?? 0;
        yield joined(resampled, to);
        await yieldToEventLoop();
      }
    }
    const due = Math.round((taken * to.sampleRate) / from.sampleRate) - made;
    const rests = resamplers?.map((each) => exactly(due, each.end()));
    if (rests && due > 0) yield joined(rests, to);
  } finally {
    for (const each of resamplers ?? []) each.free();
  }
}

async function resamplersFor(lanes: number, from: number, to: number): Promise<Resampler[]> {
  const make = await loadResampler();
  return Array.from({ length: lanes }, () => make(from, to));
}

function joined(lanes: readonly (Float32Array | Float64Array)[], format: PcmFormat): Uint8Array {
  const { channels } = format;
  const samples = new Float32Array((lanes[0]?.length ?? 0) * channels);
  for (let at = 0; at < samples.length; at += 1) {
    const lane = lanes[(at % channels) % lanes.length];
    samples[at] = lane?.[Math.floor(at / channels)] ?? 0;
  }
  return bytesOf(samples, format);
}

function exactly(frames: number, samples: Float32Array): Float32Array {
  const exact = new Float32Array(Math.max(0, frames));
  exact.set(samples.subarray(0, exact.length));
  return exact;
}

/** Cuts pieces so that each has an even number of bytes, as 16-bit samples need. */
export async function* evenPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let odd = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = Buffer.concat([odd, piece]);
    odd = bytes.subarray(bytes.length - (bytes.length % 2));
    yield bytes.subarray(0, bytes.length - odd.length);
  }
}

/** @param pieces whole frames */
export async function* mono(
  pieces: AsyncIterable<Uint8Array>,
  format: PcmFormat,
): AsyncGenerator<Int16Array> {
  for await (const piece of pieces) yield toMono16(piece, format);
}

/** Mixes the channels: each sample is their mean. */
function toMono16(bytes: Uint8Array, format: PcmFormat): Int16Array {
  const { channels, bitsPerSample, encoding } = format;
  if (channels === 1 && bitsPerSample === 16 && encoding === 'integer')
    return new Int16Array(new Uint8Array(bytes).buffer);
  const [mono = new Float64Array()] = lanesOf(bytes, format, 1);
  return toInt16(mono);
}
