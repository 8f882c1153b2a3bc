export interface Samples {
  readonly samples: Int16Array;
  /** Hz */
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

/** Clips. */
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
