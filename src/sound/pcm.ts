/** The types of sound and its metadata, and helpers for PCM. */
import type { Drops } from '../kit/drops.ts';

/** Interleaved little-endian samples; 8-bit integers are unsigned, as in WAV. */
export interface PcmFormat {
  readonly encoding: 'integer' | 'float';
  /** Hz. */
  readonly sampleRate: number;
  readonly channels: number;
  /** Integers have 8, 16, 24 or 32 bits, floats 32. */
  readonly bitsPerSample: number;
}

/** The format of local voices and of headerless files: 16-bit mono. */
export function bareFormat(sampleRate: number): PcmFormat {
  return { encoding: 'integer', sampleRate, channels: 1, bitsPerSample: 16 };
}

export interface Speech {
  readonly format: PcmFormat;
  readonly bytes: number | undefined;
  /** Pieces of whole frames. They can be iterated once. */
  readonly pcm: AsyncIterable<Uint8Array>;
  /** False if the pieces come from different renderings. Known once `pcm` has ended. */
  readonly isOneTake?: (() => boolean) | undefined;
}

/**
 * Passes the pieces through.
 * @param onPiece called with the bytes of each piece before it is yielded
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

/** Bytes of a short piece: a stop takes effect between two pieces, and a piece from a voice may be 20 s long. */
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

/** Metadata of a document, taken from it or from options. */
export interface Tags {
  readonly title?: string | undefined;
  readonly author?: string | undefined;
  /** A language tag, such as `de` or `en-GB`. */
  readonly language?: string | undefined;
  /** Begins with the year. */
  readonly date?: string | undefined;
  readonly description?: string | undefined;
  readonly series?: { readonly name: string; readonly number?: string | undefined } | undefined;
  readonly cover?: Cover | undefined;
  /** The name of the voice that speaks. */
  readonly narrator?: string | undefined;
  /** The title of the book, if the sound is one of its chapters. */
  readonly album?: string | undefined;
  /** Which chapter of its book the sound is, from 1. */
  readonly track?: { readonly number: number; readonly count: number } | undefined;
}

/** The title for the sound before the first chapter, in formats that need one. */
export const OPENING = 'Opening';

export interface Chapter {
  readonly title: string | undefined;
  /** 1 for the chapters of a book, 2 for the sections in them. */
  readonly level: number;
  /** The index of the first frame. */
  readonly start: number;
  /** The index of the first frame after the chapter. */
  readonly end: number;
}

/** A sound with all that goes into one output. */
export interface Track extends Speech {
  readonly tags: Tags;
  /** Complete once `pcm` has ended. */
  chapters(): readonly Chapter[];
  /** At each drop, a player discards its buffer and continues after the matching `Flush` in the sound. */
  readonly drops?: Drops | undefined;
}

/** Returns a track without tags and chapters. */
export function untagged(speech: Speech): Track {
  return { ...speech, tags: {}, chapters: () => [] };
}

export function frameBytes(format: Pick<PcmFormat, 'channels' | 'bitsPerSample'>): number {
  return format.channels * (format.bitsPerSample / 8);
}

export function secondsOf(format: PcmFormat, bytes: number): number {
  return bytes / frameBytes(format) / format.sampleRate;
}

/** Writes a time as in `01:02:03.456`. Rounds it from whole frames, so that errors do not add up. */
export function timestamp(frames: number, sampleRate: number, point = '.'): string {
  const milliseconds = Math.round((frames * 1000) / sampleRate);
  const seconds = Math.floor(milliseconds / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const clock = parts.map((part) => String(part).padStart(2, '0')).join(':');
  return `${clock}${point}${String(milliseconds % 1000).padStart(3, '0')}`;
}

/** @param speed above 1 for faster, below 1 for slower */
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

/** Yields silence. The pieces share their memory, so they must not be changed. */
export function* silentPieces(format: PcmFormat, seconds: number): Generator<Uint8Array> {
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
