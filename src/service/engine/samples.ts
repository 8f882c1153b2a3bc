/** Sound as it comes from a voice. */
export interface Samples {
  readonly samples: Int16Array;
  /** Hz */
  readonly sampleRate: number;
}

const FULL_SCALE = 32_768;

/** @returns the same samples from -1 to 1 */
export function toFloat(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples);
  for (let frame = 0; frame < floats.length; frame += 1) floats[frame] = (floats[frame] ?? 0) / FULL_SCALE;
  return floats;
}

/** Rounds to 16 bits; what lies outside of -1 to 1 is cut off. */
export function toInt16(samples: Float32Array): Int16Array {
  const integers = new Int16Array(samples.length);
  for (let frame = 0; frame < samples.length; frame += 1) {
    const integer = Math.round((samples[frame] ?? 0) * FULL_SCALE);
    integers[frame] = Math.max(-FULL_SCALE, Math.min(FULL_SCALE - 1, integer));
  }
  return integers;
}

export function join(pieces: readonly Float32Array[]): Float32Array {
  const joined = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let end = 0;
  for (const piece of pieces) {
    joined.set(piece, end);
    end += piece.length;
  }
  return joined;
}
