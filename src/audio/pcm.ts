/** How samples are laid out: interleaved, little-endian, 8-bit integers unsigned (as in WAV). */
export interface PcmFormat {
  readonly encoding: 'integer' | 'float';
  /** Frames a second, in Hz. */
  readonly sampleRate: number;
  readonly channels: number;
  /** 8, 16, 24 or 32 for integers; 32 for floats. */
  readonly bitsPerSample: number;
}

/** Sound in one format. */
export interface Speech {
  readonly format: PcmFormat;
  /** Bytes of PCM in all, if known before the end. */
  readonly bytes: number | undefined;
  /** Pieces of any length that begin and end at a frame border. May be iterated once. */
  readonly pcm: AsyncIterable<Uint8Array>;
  /** To be asked at the end: false if the sound was put together of renderings that differ. */
  readonly isOneTake?: (() => boolean) | undefined;
}

/** Bytes of one frame: a sample for every channel. */
export function frameBytes(format: PcmFormat): number {
  return format.channels * (format.bitsPerSample / 8);
}

export function secondsOf(format: PcmFormat, bytes: number): number {
  return bytes / frameBytes(format) / format.sampleRate;
}

export function sameFormat(a: PcmFormat, b: PcmFormat): boolean {
  return (
    a.encoding === b.encoding &&
    a.sampleRate === b.sampleRate &&
    a.channels === b.channels &&
    a.bitsPerSample === b.bitsPerSample
  );
}

/** A format in words, for messages: `22050 Hz, mono, 16-bit integer`. */
export function describeFormat({ encoding, sampleRate, channels, bitsPerSample }: PcmFormat): string {
  const sides = channels === 1 ? 'mono' : channels === 2 ? 'stereo' : `${channels} channels`;
  return `${sampleRate} Hz, ${sides}, ${bitsPerSample}-bit ${encoding}`;
}

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

export function silentFrames({ sampleRate }: PcmFormat, seconds: number): number {
  return Math.round(sampleRate * seconds);
}
