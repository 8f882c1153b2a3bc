import { FileWriter } from '../../kit/descriptor.ts';
import { usageError } from '../../kit/error.ts';
import type { Host } from '../../kit/host.ts';
import type { PcmFormat, Track } from '../pcm.ts';

export interface OpenFile {
  readonly fd: number;
  readonly path: string;
  /** The file's name in messages. */
  readonly name: string;
  /** The offset of the first byte; `undefined` where every write appends. */
  readonly start: number | undefined;
  /** A reader watches the file grow: nothing waits for a larger batch. */
  readonly isWatched?: boolean;
}

export interface Written {
  /** It counts PCM bytes. A reader that left may have taken fewer. */
  readonly bytes: number;
  /** It counts the bytes of the file or the stream, headers included. */
  readonly writtenBytes: number;
}

export interface Programs {
  readonly env: Host['env'];
  readonly platform: Host['platform'];
}

export interface EncodingOptions {
  /** It has kbit/s. `undefined` is what the format has for speech. */
  readonly bitrate?: number | undefined;
  /** Programs are looked for here. Without it, none is found. */
  readonly programs?: Programs;
  /** Milliseconds that a program may neither take nor give anything: a minute by default. */
  readonly patienceMs?: number;
  /** It is called with what had to be left out. */
  readonly warn?: (text: string) => void;
}

/** How sound becomes the bytes of a file. A new one is a file here, its name in `names.ts` and a row in `sink/encodings.ts`. */
export interface Encoding {
  readonly name: string;
  /**
   * It is called before anything is paid for.
   * @param sampleRate Hz of the sound, where it is known by then
   * @throws TtsError (output) if a program is missing that it needs; (usage) for a bitrate that the format does not have
   */
  assertReady(sampleRate?: number): Promise<void>;
  /** @throws TtsError (output), (service); what the track throws */
  record(file: OpenFile, track: Track, signal: AbortSignal): Promise<Written>;
  /**
   * Pipes and players get this one. Formats whose beginning depends on their end have none.
   * @param onSound called with the PCM bytes of each piece that leaves
   */
  readonly stream?: (track: Track, onSound: (bytes: number) => void) => AsyncIterable<Uint8Array>;
}

/** @returns the least and the most kbit/s that an encoder takes for sound of this rate and number of channels */
export type BitrateRange = (format: Pick<PcmFormat, 'sampleRate' | 'channels'>) => readonly [number, number];

/** @throws TtsError (usage) for a bitrate that is out of the range */
export function assertBitrate(
  name: string,
  bitrate: number,
  { rangeOf, format }: { rangeOf: BitrateRange; format: Parameters<BitrateRange>[0] },
): void {
  assertWithin(rangeOf(format), bitrate, `${name.toUpperCase()} at ${format.sampleRate} Hz`);
}

/** The check before any sound came: the number of channels is not known, nor the rate of some services. */
export function assertPossibleBitrate(
  name: string,
  bitrate: number,
  { rangeOf, sampleRate }: { rangeOf: BitrateRange; sampleRate: number | undefined },
): void {
  const [least] = rangeOf({ sampleRate: sampleRate ?? 8000, channels: 1 });
  const [, most] = rangeOf({ sampleRate: sampleRate ?? 48_000, channels: 2 });
  const rate = sampleRate === undefined ? '' : ` at ${sampleRate} Hz`;
  assertWithin([least, most], bitrate, name.toUpperCase() + rate);
}

function assertWithin([least, most]: ReturnType<BitrateRange>, bitrate: number, what: string): void {
  if (bitrate >= least && bitrate <= most) return;
  throw usageError(
    `--bitrate ${bitrate}: ${what} has ${least} to ${most} kbit/s`,
    'choose a bitrate of this range, or leave it out',
  );
}

export type StreamingEncoding = Encoding & Required<Pick<Encoding, 'stream'>>;

/**
 * Writes to a file what a stream brings.
 * @param streamOf it calls its parameter with the PCM bytes of each piece
 * @throws TtsError (output); what the stream throws
 */
export async function writeStream(
  { fd, name, isWatched }: OpenFile,
  streamOf: (onSound: (bytes: number) => void) => AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<Written> {
  const writer = new FileWriter(fd, name);
  let [bytes, writtenBytes] = [0, 0];
  const pieces = streamOf((more) => {
    bytes += more;
  });
  for await (const piece of pieces) {
    signal.throwIfAborted();
    writtenBytes += piece.length;
    writer.write(piece);
    if (isWatched) writer.flush();
  }
  writer.flush();
  return { bytes, writtenBytes };
}

/** The formats that sound is written in. */
export const ENCODINGS = [
  'wav',
  'mp3',
  'm4b',
  'm4a',
  'aac',
  'opus',
  'ogg',
  'flac',
  'alaw',
  'ulaw',
  's16le',
] as const;

export type EncodingName = (typeof ENCODINGS)[number];
