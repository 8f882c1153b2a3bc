import { FileWriter } from '../../kit/descriptor.ts';
import { usageError } from '../../kit/error.ts';
import { unwritable } from '../../kit/folders.ts';
import type { ProgramHost } from '../../kit/host.ts';
import type { PcmFormat, Track } from '../pcm.ts';

export interface OpenFile {
  readonly fd: number;
  readonly path: string;
  /** The file's name in messages. */
  readonly name: string;
  /** The offset of the first byte; `undefined` if every write appends. */
  readonly start: number | undefined;
  /** True if a reader may follow the file as it grows: every piece is then written at once. */
  readonly isWatched?: boolean;
}

export interface WrittenSize {
  /** PCM bytes. A reader that left may have taken fewer. */
  readonly bytes: number;
  /** Bytes of the file or stream, with headers. */
  readonly writtenBytes: number;
}

export interface EncodingOptions {
  /** kbit/s; `undefined` for the format's default for speech. */
  readonly bitrate?: number | undefined;
  /** Where to look for programs. Without it, none is found. */
  readonly programs?: ProgramHost;
  /** Milliseconds that a program may neither read nor write: a minute by default. */
  readonly timeoutMs?: number;
  /** Called with a sentence on what was left out. */
  readonly warn?: (text: string) => void;
}

/** Turns sound into the bytes of a file. A new encoding needs a name in `ENCODINGS` and a row in `encodings.ts`. */
export interface Encoding {
  readonly name: string;
  /**
   * Called before anything costs money.
   * @param sampleRate Hz of the sound, if it is known by then
   * @throws TtsError (output) if a required program is missing; (usage) for a bitrate that the format does not have
   */
  assertReady(sampleRate?: number): Promise<void>;
  /** @throws TtsError (output), (service); whatever the track throws */
  record(file: OpenFile, track: Track, signal: AbortSignal): Promise<WrittenSize>;
  /**
   * Encodes for pipes and players. Formats whose beginning depends on their end have no stream.
   * @param onSound called with the PCM bytes of each piece that leaves
   */
  readonly stream?: (track: Track, onSound: (bytes: number) => void) => AsyncIterable<Uint8Array>;
}

/** @returns the lowest and the highest kbit/s that an encoder accepts for this rate and number of channels */
export type BitrateRange = (format: Pick<PcmFormat, 'sampleRate' | 'channels'>) => readonly [number, number];

/**
 * Before there is sound, the channels and the rate of some services are unknown: then the widest range applies.
 * @param bitrate kbit/s; `undefined` for the default
 * @throws TtsError (usage) for a bitrate out of range
 */
export function assertBitrate(
  name: string,
  bitrate: number | undefined,
  rangeOf: BitrateRange,
  { sampleRate, channels }: { readonly sampleRate: number | undefined; readonly channels?: number },
): void {
  if (bitrate === undefined) return;
  const [least] = rangeOf({ sampleRate: sampleRate ?? 8000, channels: channels ?? 1 });
  const [, most] = rangeOf({ sampleRate: sampleRate ?? 48_000, channels: channels ?? 2 });
  if (bitrate >= least && bitrate <= most) return;
  const rate = sampleRate === undefined ? '' : ` at ${sampleRate} Hz`;
  throw usageError(
    `--bitrate ${bitrate}: ${name.toUpperCase()}${rate} has ${least} to ${most} kbit/s`,
    'choose a bitrate of this range, or leave it out',
  );
}

export type StreamingEncoding = Encoding & Required<Pick<Encoding, 'stream'>>;

/**
 * Writes a stream to a file.
 * @param streamOf calls its parameter with the PCM bytes of each piece
 * @throws TtsError (output); whatever the stream throws
 */
export async function writeStream(
  { fd, name, isWatched }: OpenFile,
  streamOf: (onSound: (bytes: number) => void) => AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<WrittenSize> {
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

/**
 * Writes what is only known at the end, such as the length of the file.
 * @throws TtsError (output) in place of the system's error; the signal's reason
 */
export async function writeEnd<T>(
  file: OpenFile,
  signal: AbortSignal,
  write: (file: OpenFile) => Promise<T>,
): Promise<T> {
  try {
    return await write(file);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw unwritable(file.name, error);
  }
}

/** The formats for output. */
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
  'epub',
] as const;

export type EncodingName = (typeof ENCODINGS)[number];
