import { frameBytes, type PcmFormat } from './pcm.ts';

const MAX_PIECE_BYTES = 64 * 1024;

/**
 * Silence as PCM, rounded to whole frames, in pieces that share their memory: to be read only.
 *
 * @param seconds 0 or more
 */
export function* silence(format: PcmFormat, seconds: number): Generator<Uint8Array> {
  const frame = frameBytes(format);
  const piece = new Uint8Array(MAX_PIECE_BYTES - (MAX_PIECE_BYTES % frame));
  // Integers of 8 bits are unsigned in WAV: their middle is not zero.
  if (format.bitsPerSample === 8) piece.fill(0x80);
  for (let left = silentFrames(format, seconds) * frame; left > 0; left -= piece.length) {
    yield piece.subarray(0, left);
  }
}

/** Frames that a silence takes. */
export function silentFrames({ sampleRate }: PcmFormat, seconds: number): number {
  return Math.round(sampleRate * seconds);
}
