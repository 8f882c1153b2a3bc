import type { Drops } from '../kit/drops.ts';

/** Samples are interleaved and little-endian; 8-bit integers are unsigned, as in WAV. */
export interface PcmFormat {
  readonly encoding: 'integer' | 'float';
  /** Hz. */
  readonly sampleRate: number;
  readonly channels: number;
  /** Integers have 8, 16, 24 or 32 bits, floats 32. */
  readonly bitsPerSample: number;
}

/** 16 bits, one channel: what a voice of this machine makes, and what samples without a header are. */
export function bareFormat(sampleRate: number): PcmFormat {
  return { encoding: 'integer', sampleRate, channels: 1, bitsPerSample: 16 };
}

export interface Speech {
  readonly format: PcmFormat;
  readonly bytes: number | undefined;
  /** Pieces are whole frames. The source can be iterated once. */
  readonly pcm: AsyncIterable<Uint8Array>;
  /** False if the pieces come from different renderings. Known when `pcm` has ended. */
  readonly isOneTake?: (() => boolean) | undefined;
}

/**
 * Gives the same pieces.
 * @param onPiece is called with the bytes of each before it is given out
 */
export async function* counted(
  pcm: AsyncIterable<Uint8Array>,
  onPiece: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pcm) {
    onPiece(piece.length);
    yield piece;
  }
}

/** A stop takes effect between two pieces, and a piece of a voice may be 20 s long. */
const LIVE_BYTES = 16 * 1024;

export async function* inShortPieces(
  pcm: AsyncIterable<Uint8Array>,
  format: PcmFormat,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pcm) yield* shortPieces(piece, format);
}

export function* shortPieces(sound: Uint8Array, format: PcmFormat): Generator<Uint8Array> {
  const most = LIVE_BYTES - (LIVE_BYTES % frameBytes(format));
  for (let at = 0; at < sound.length; at += most) yield sound.subarray(at, at + most);
}

export interface Cover {
  readonly mediaType: 'image/jpeg' | 'image/png';
  readonly bytes: Uint8Array;
}

/** Metadata of a document, from itself or from options. */
export interface Tags {
  readonly title?: string | undefined;
  readonly author?: string | undefined;
  /** A language tag, such as `de` or `en-GB`. */
  readonly language?: string | undefined;
  /** It begins with the year. */
  readonly date?: string | undefined;
  readonly description?: string | undefined;
  readonly series?: { readonly name: string; readonly number?: string | undefined } | undefined;
  readonly cover?: Cover | undefined;
  /** It is the name of the voice that speaks. */
  readonly narrator?: string | undefined;
  /** The title of the book, where the sound is a chapter of it. */
  readonly album?: string | undefined;
  /** The place of the sound among the chapters of its book; the first is 1. */
  readonly track?: { readonly number: number; readonly count: number } | undefined;
}

/** The name of what is heard before the first chapter, where it needs one. */
export const OPENING = 'Opening';

export interface Chapter {
  readonly title: string | undefined;
  /** Chapters of a book have level 1, those inside them level 2. */
  readonly level: number;
  /** The number of the first frame. */
  readonly start: number;
  /** The number of the first frame after the chapter. */
  readonly end: number;
}

/** All that goes into one output. */
export interface Track extends Speech {
  readonly tags: Tags;
  /** The list is complete when `pcm` has ended. */
  chapters(): readonly Chapter[];
  /** At each drop a player discards its buffer, and goes on after the matching `Flush` in the sound. */
  readonly drops?: Drops | undefined;
}

/** Makes a track without tags and chapters. */
export function untagged(speech: Speech): Track {
  return { ...speech, tags: {}, chapters: () => [] };
}

export function frameBytes(format: Pick<PcmFormat, 'channels' | 'bitsPerSample'>): number {
  return format.channels * (format.bitsPerSample / 8);
}

export function secondsOf(format: PcmFormat, bytes: number): number {
  return bytes / frameBytes(format) / format.sampleRate;
}

/** How many frames a sound has that is heard faster (above 1) or slower. */
export function framesAtSpeed(frames: number, speed: number): number {
  return Math.round(frames / speed);
}

export function sameFormat(a: PcmFormat, b: PcmFormat): boolean {
  return (
    a.encoding === b.encoding &&
    a.sampleRate === b.sampleRate &&
    a.channels === b.channels &&
    a.bitsPerSample === b.bitsPerSample
  );
}

export function describeFormat({ encoding, sampleRate, channels, bitsPerSample }: PcmFormat): string {
  const sides = channels === 1 ? 'mono' : channels === 2 ? 'stereo' : `${channels} channels`;
  return `${sampleRate} Hz, ${sides}, ${bitsPerSample}-bit ${encoding}`;
}

const MAX_PIECE_BYTES = 64 * 1024;

/** The pieces share one memory, and must not be changed. */
export function* silence(format: PcmFormat, seconds: number): Generator<Uint8Array> {
  const frame = frameBytes(format);
  const piece = new Uint8Array(MAX_PIECE_BYTES - (MAX_PIECE_BYTES % frame));
  if (format.bitsPerSample === 8) piece.fill(0x80);
  for (let remaining = silentFrames(format, seconds) * frame; remaining > 0; remaining -= piece.length) {
    yield piece.subarray(0, remaining);
  }
}

export function silentFrames({ sampleRate }: PcmFormat, seconds: number): number {
  return Math.round(sampleRate * seconds);
}
