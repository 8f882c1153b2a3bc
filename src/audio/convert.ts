import { yieldToEventLoop } from '../async.ts';
import { frameBytes, type PcmFormat, type Speech } from './pcm.ts';
import { compileResampler, loadResampler, type Resampler } from './resampler.ts';
import { sampleReader, sampleWriter, toFloat, toInt16 } from './samples.ts';

/** Frames. One step takes some milliseconds. */
const STEP = 16_384;

/** Converts to another rate in steps: between them, others have their turn and the signal counts. */
export class Converter {
  readonly #resampler: Resampler | undefined;
  readonly #signal: AbortSignal;
  #isFree = false;

  /** @param resampler `undefined` if the rate stays */
  constructor(resampler: Resampler | undefined, signal: AbortSignal) {
    this.#resampler = resampler;
    this.#signal = signal;
  }

  async *push(samples: Int16Array): AsyncGenerator<Int16Array> {
    if (!this.#resampler) return yield samples;
    for (let start = 0; start < samples.length; start += STEP) {
      await yieldToEventLoop();
      this.#signal.throwIfAborted();
      yield toInt16(this.#resampler.push(toFloat(samples.subarray(start, start + STEP))));
    }
  }

  end(): Int16Array {
    if (!this.#resampler) return new Int16Array();
    this.#isFree = true;
    return toInt16(this.#resampler.end());
  }

  free(): void {
    if (!this.#isFree) this.#resampler?.free();
    this.#isFree = true;
  }
}

/** The duration stays, to the frame. Where the number of channels changes, each new one has the mean of the old ones. */
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
  const resamplers = isSameRate ? undefined : await openResamplers(lanes, from.sampleRate, to.sampleRate);
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
    const rests = resamplers?.splice(0).map((each) => exactly(due, each.end()));
    if (rests && due > 0) yield joined(rests, to);
  } finally {
    for (const each of resamplers ?? []) each.free();
  }
}

let loaded: ReturnType<typeof loadResampler> | undefined;

async function openResamplers(lanes: number, from: number, to: number): Promise<Resampler[]> {
  loaded ??= compileResampler().then(loadResampler);
  const open = await loaded;
  return Array.from({ length: lanes }, () => open(from, to));
}

function lanesOf(bytes: Uint8Array, format: PcmFormat, lanes: number): Float32Array[] {
  const { channels, bitsPerSample } = format;
  const size = frameBytes(format);
  const read = sampleReader(format);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const mixed = channels / lanes;
  return Array.from({ length: lanes }, (_, lane) =>
    Float32Array.from({ length: bytes.length / size }, (_, frame) => {
      let sum = 0;
      for (let channel = lane; channel < lane + mixed; channel += 1)
        sum += read(view, frame * size + (channel * bitsPerSample) / 8);
      return sum / mixed;
    }),
  );
}

function joined(lanes: readonly Float32Array[], format: PcmFormat): Uint8Array {
  const { channels, bitsPerSample } = format;
  const frames = lanes[0]?.length ?? 0;
  const bytes = new Uint8Array(frames * frameBytes(format));
  const view = new DataView(bytes.buffer);
  const write = sampleWriter(format);
  let at = 0;
  for (let frame = 0; frame < frames; frame += 1)
    for (let channel = 0; channel < channels; channel += 1, at += bitsPerSample / 8)
      write(view, at, lanes[channel % lanes.length]?.[frame] ?? 0);
  return bytes;
}

function exactly(frames: number, samples: Float32Array): Float32Array {
  const exact = new Float32Array(Math.max(0, frames));
  exact.set(samples.subarray(0, exact.length));
  return exact;
}
