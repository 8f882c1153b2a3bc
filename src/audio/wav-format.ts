import type { PcmFormat } from './pcm.ts';

/** Bytes of a WAVEFORMATEXTENSIBLE, the longest form of the chunk. */
export const FORMAT_BYTES = 40;

const PCM = 0x0001;
const FLOAT = 0x0003;
const EXTENSIBLE = 0xfffe;

/** A KSDATAFORMAT_SUBTYPE_* is a format tag of two bytes and these fourteen. */
const SUBFORMAT_TAIL = Buffer.from('000000001000800000aa00389b71', 'hex');

/** The format tags come from Microsoft's mmreg.h. */
const CODECS: Readonly<Record<number, string>> = {
  2: 'Microsoft ADPCM',
  6: 'A-law',
  7: 'mu-law',
  17: 'IMA ADPCM',
  49: 'GSM 6.10',
  80: 'MPEG audio',
  85: 'MP3',
  255: 'AAC',
};

const MAX_CHANNELS = 64;
const MAX_SAMPLE_RATE = 768_000;

/**
 * Ignores byte rate and block align, which some services get wrong.
 * @param chunk the chunk, cut at {@link FORMAT_BYTES}
 * @throws WavError `unsupported`
 */
export function parseFormat(chunk: Buffer): PcmFormat {
  if (chunk.length < 16) throw new WavError('unsupported', `WAV with a fmt chunk of ${chunk.length} bytes`);
  const tag = formatTag(chunk);
  const channels = chunk.readUInt16LE(2);
  const sampleRate = chunk.readUInt32LE(4);
  const bits = chunk.readUInt16LE(14);
  if (tag !== PCM && tag !== FLOAT) {
    throw new WavError('unsupported', `WAV with ${CODECS[tag] ?? `codec ${tag}`} in it instead of PCM`);
  }
  if (channels < 1 || channels > MAX_CHANNELS) {
    throw new WavError('unsupported', `WAV with ${channels} channels`);
  }
  if (sampleRate < 1 || sampleRate > MAX_SAMPLE_RATE) {
    throw new WavError('unsupported', `WAV with a sample rate of ${sampleRate} Hz`);
  }
  if (tag === FLOAT ? bits !== 32 : bits < 1 || bits > 32) {
    throw new WavError('unsupported', `WAV with ${bits}-bit ${tag === FLOAT ? 'float' : 'integer'} samples`);
  }
  return {
    encoding: tag === FLOAT ? 'float' : 'integer',
    sampleRate,
    channels,
    bitsPerSample: Math.ceil(bits / 8) * 8,
  };
}

function formatTag(chunk: Buffer): number {
  const tag = chunk.readUInt16LE(0);
  if (tag !== EXTENSIBLE) return tag;
  if (chunk.length < FORMAT_BYTES) {
    throw new WavError('unsupported', `WAV with an extensible fmt chunk of only ${chunk.length} bytes`);
  }
  if (!chunk.subarray(26, FORMAT_BYTES).equals(SUBFORMAT_TAIL)) {
    throw new WavError(
      'unsupported',
      `WAV with the unknown subformat ${chunk.toString('hex', 24, FORMAT_BYTES)}`,
    );
  }
  return chunk.readUInt16LE(24);
}

/** `incomplete` means that the body ended early or without a sample, `format-changed` that two headers of one body differ. */
export type WavProblem = 'not-wav' | 'incomplete' | 'unsupported' | 'format-changed';

export class WavError extends Error {
  override readonly name = 'WavError';
  readonly problem: WavProblem;
  /** The first bytes of what is `not-wav`, 1024 at most. */
  readonly head: Uint8Array | undefined;

  constructor(problem: WavProblem, message: string, head?: Uint8Array) {
    super(message);
    this.problem = problem;
    this.head = head;
  }
}

/** Bytes. Some writers subtract a header from the largest size, or round it down. */
const SLACK = 0x1_0000;

/**
 * A wrong guess costs one check of two: HTTP marks the end as well.
 * @returns `undefined` for a placeholder: 0, about 2^31 (sox), 2^32 (ffmpeg) or 2,000,000,000
 */
export function realSize(size: number): number | undefined {
  const nearly = (limit: number) => size > limit - SLACK && size <= limit;
  if (size === 0 || nearly(2 ** 31) || nearly(2 ** 32) || nearly(2_000_000_000)) return undefined;
  return size;
}

/** It does what {@link realSize} does for the size in a `ds64` chunk (EBU Tech 3306). */
export function realSize64(size: bigint): number | undefined {
  return size > 0n && size <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(size) : undefined;
}

export function isFourCC(bytes: Uint8Array, at: number): boolean {
  if (bytes.length < at + 4) return false;
  for (let i = at; i < at + 4; i++) {
    const byte = bytes[i] ?? 0;
    if (byte < 0x20 || byte > 0x7e) return false;
  }
  return true;
}

export function fourCC(bytes: Uint8Array, at = 0): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
