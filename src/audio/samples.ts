import type { PcmFormat } from './pcm.ts';

export interface Samples {
  readonly samples: Int16Array;
  /** Hz. */
  readonly sampleRate: number;
}

const FULL_SCALE = 32_768;

export function silence(frames: number): Float32Array {
  return new Float32Array(pages(4 * frames));
}

/** @returns samples from -1 to 1 */
export function toFloat(samples: Int16Array): Float32Array {
  const floats = silence(samples.length);
  for (let frame = 0; frame < floats.length; frame += 1) floats[frame] = (samples[frame] ?? 0) / FULL_SCALE;
  return floats;
}

/** Samples beyond full scale are clipped. */
export function toInt16(samples: Float32Array): Int16Array {
  const integers = new Int16Array(pages(2 * samples.length));
  for (let frame = 0; frame < samples.length; frame += 1) {
    const integer = Math.round((samples[frame] ?? 0) * FULL_SCALE);
    integers[frame] = Math.max(-FULL_SCALE, Math.min(FULL_SCALE - 1, integer));
  }
  return integers;
}

export function join(pieces: readonly Float32Array[]): Float32Array {
  const joined = silence(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let end = 0;
  for (const piece of pieces) {
    joined.set(piece, end);
    end += piece.length;
  }
  return joined;
}

/** The system has mapped memory back at once; malloc would keep buffers of some MB. */
export function pages(bytes: number): ArrayBuffer {
  return new ArrayBuffer(bytes, { maxByteLength: bytes });
}

type Kind = Pick<PcmFormat, 'encoding' | 'bitsPerSample'>;

/** @returns reads a sample, from -1 to 1 */
export function sampleReader({ encoding, bitsPerSample }: Kind): (view: DataView, at: number) => number {
  if (encoding === 'float') return (view, at) => view.getFloat32(at, true);
  if (bitsPerSample === 8) return (view, at) => (view.getUint8(at) - 128) / 2 ** 7;
  if (bitsPerSample === 16) return (view, at) => view.getInt16(at, true) / 2 ** 15;
  if (bitsPerSample === 24)
    return (view, at) => (view.getInt16(at + 1, true) * 256 + view.getUint8(at)) / 2 ** 23;
  return (view, at) => view.getInt32(at, true) / 2 ** 31;
}

/** @returns writes a sample, from -1 to 1; integers are clipped */
export function sampleWriter({ encoding, bitsPerSample }: Kind) {
  if (encoding === 'float')
    return (view: DataView, at: number, sample: number) => view.setFloat32(at, sample, true);
  const scale = 2 ** (bitsPerSample - 1);
  const write = integerWriter(bitsPerSample);
  return (view: DataView, at: number, sample: number) =>
    write(view, at, Math.max(-scale, Math.min(scale - 1, Math.round(sample * scale))));
}

function integerWriter(bits: number): (view: DataView, at: number, value: number) => void {
  if (bits === 8) return (view, at, value) => view.setUint8(at, value + 128);
  if (bits === 16) return (view, at, value) => view.setInt16(at, value, true);
  if (bits === 32) return (view, at, value) => view.setInt32(at, value, true);
  return (view, at, value) => {
    view.setUint8(at, value & 0xff);
    view.setInt16(at + 1, value >> 8, true);
  };
}
