import { closeSync, constants, createWriteStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAppending, isReadOnly, positionOf, wasClosed } from '../kit/descriptor.ts';
import { ExitCode, TtsError } from '../kit/error.ts';
import { synced } from '../kit/file.ts';
import { isReaderGone, systemError, unwritable, writing } from '../kit/folders.ts';
import type { Output } from '../kit/host.ts';
import { unlessAborted } from '../kit/wait.ts';
import type { Encoding, StreamingEncoding } from '../sound/encode/encoding.ts';
import { streamingOf } from '../sound/encode/encodings.ts';
import type { Track } from '../sound/pcm.ts';
import type { Delivery, Sink } from './sink.ts';

/** Holds sound back while paused. */
export class Gate {
  #opened: Promise<void> | undefined;
  #open = () => {};

  pause(isPaused: boolean): void {
    if (!isPaused) {
      this.#opened = undefined;
      this.#open();
      return;
    }
    this.#opened ??= new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  /** Waits while paused. @throws the signal's reason */
  async pass(signal: AbortSignal): Promise<void> {
    while (this.#opened) await unlessAborted(this.#opened, signal);
  }
}

/**
 * Makes a sink for a pipe or socket, where a slow reader blocks no thread.
 * @param fd owned, and closed, by the sink
 */
export function pipeSink(fd: number, name: string, encoding: StreamingEncoding): Sink {
  return streamSink(fd, name, encoding, () => new Socket({ fd, readable: false, writable: true }));
}

export function deviceSink(fd: number, name: string, encoding: StreamingEncoding): Sink {
  return streamSink(fd, name, encoding, () => createWriteStream(name, { fd }));
}

function streamSink(fd: number, name: string, encoding: StreamingEncoding, open: () => Writable): Sink {
  // Close only once: the descriptor's number may be reused for another file.
  let isOurs = true;
  const gate = new Gate();
  return {
    isLive: true,
    pause: (isPaused) => gate.pause(isPaused),
    write(track, signal) {
      isOurs = false;
      return writeTrack(track, open(), { name, encoding, signal, progress: noProgress(), gate });
    },
    async discard() {
      if (!isOurs) return;
      isOurs = false;
      try {
        closeSync(fd);
      } catch {}
    },
  };
}

/** How much was written so far. */
export interface PipeProgress {
  /** PCM bytes of the track. */
  bytes: number;
  writtenBytes: number;
  /** True if all sound was written; padding may follow. */
  isAllWritten: boolean;
}

export function noProgress(): PipeProgress {
  return { bytes: 0, writtenBytes: 0, isAllWritten: false };
}

export interface PipeOptions {
  readonly name: string;
  readonly encoding: StreamingEncoding;
  readonly signal: AbortSignal;
  readonly progress: PipeProgress;
  readonly gate?: Gate;
}

/**
 * Writes a track with the reader's back-pressure.
 * @throws TtsError (output); what the track throws
 */
export async function writeTrack(track: Track, reader: Writable, options: PipeOptions): Promise<Delivery> {
  const { name, signal, progress } = options;
  try {
    await pipeline(encodedPieces(track, options), reader, { signal });
    return { ...progress, readerLeft: false };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof TtsError) throw error;
    if (isReaderGone(error as Error)) return { ...progress, readerLeft: true };
    throw unwritable(name, error);
  }
}

/** Encodes a track. Joins the header with the first sound if it is ready, as sox detects a format in its first read. */
async function* encodedPieces(
  track: Track,
  { encoding, progress, gate, signal }: PipeOptions,
): AsyncGenerator<Uint8Array> {
  const before = progress.bytes;
  let bytes = 0;
  const encoded = encoding.stream(track, (more) => {
    bytes += more;
  });
  progress.isAllWritten = false;
  const pieces = encoded[Symbol.asyncIterator]();
  try {
    let next = await pieces.next();
    let ahead: Promise<IteratorResult<Uint8Array>> | undefined = pieces.next();
    if (!next.done && (await isThereAtOnce(ahead))) {
      const sound = await ahead;
      if (!sound.done) next = { value: Buffer.concat([next.value, sound.value]) };
      ahead = undefined;
    }
    while (!next.done) {
      await gate?.pass(signal);
      progress.bytes = before + bytes;
      progress.writtenBytes += next.value.length;
      yield next.value;
      progress.isAllWritten = bytes === track.bytes;
      next = await (ahead ?? pieces.next());
      ahead = undefined;
    }
    progress.isAllWritten = true;
  } finally {
    await pieces.return?.();
  }
}

/** Milliseconds that the header waits for the first sound. */
const AT_ONCE_MS = 2;

function isThereAtOnce(coming: Promise<unknown>): Promise<boolean> {
  const arrival = coming.then(() => true);
  arrival.catch(() => {});
  return Promise.race([arrival, sleep(AT_ONCE_MS, false, { ref: false })]);
}

/**
 * Makes a sink for stdout. With `> out.wav`, the sizes in the header are corrected at the end; with `>> all.wav`, they are
 * not.
 * @throws TtsError (output) for a terminal, for an encoding that needs a file, and if it cannot be inspected
 */
export function stdoutSink(stdout: Pick<Output, 'fd' | 'isTTY'>, encoding: Encoding): Sink {
  const { fd } = stdout;
  const kind = kindOf(stdout);
  if (kind.isFile()) return openFileSink(fd, startOf(fd, kind.size), encoding);
  const open = kind.isFIFO() || kind.isSocket() ? pipeSink : deviceSink;
  const sink = open(fd, 'stdout', streamingOf(encoding, 'stdout'));
  // Keep stdout open: messages may need it.
  return { ...sink, discard: async () => {} };
}

/** @throws TtsError (output) as `stdoutSink` would */
export function isLiveStdout(stdout: Pick<Output, 'fd' | 'isTTY'>): boolean {
  return !kindOf(stdout).isFile();
}

function openFileSink(fd: number, start: number | undefined, encoding: Encoding): Sink {
  return {
    isLive: false,
    async write(track, signal) {
      const file = { fd, name: 'stdout', start, isWatched: true, path: `/proc/self/fd/${fd}` };
      const written = await encoding.record(file, track, signal);
      await synced(fd).catch((error) => {
        throw unwritable('stdout', error);
      });
      return { ...written, readerLeft: false };
    },
    discard: async () => {},
  };
}

function kindOf({ fd, isTTY }: Pick<Output, 'fd' | 'isTTY'>) {
  if (isTTY) throw onTerminal();
  return writing('stdout', () => {
    const kind = fstatSync(fd);
    const isUnfit = kind.isFile() ? isReadOnly(fd) : kind.isCharacterDevice() && wasClosed(fd);
    if (isUnfit) throw systemError('EBADF');
    return kind;
  });
}

/** Returns the offset at which stdout is written; `undefined` if every write appends. */
function startOf(fd: number, size: number): number | undefined {
  const position = positionOf(fd);
  if (position !== undefined) return isAppending(fd) ? undefined : position;
  // The position is known on Linux only. Elsewhere, an empty file is a sign of `>`.
  return size === 0 ? 0 : undefined;
}

/** @throws TtsError (output) for a terminal; the system's error */
export async function openDevice(path: string): Promise<number> {
  // O_NOCTTY: a terminal that is opened here must not become this run's, with its Ctrl-C.
  const fd = openSync(path, constants.O_WRONLY | constants.O_NOCTTY);
  // Loaded late, as node:tty loads the network stack.
  const { isatty } = await import('node:tty');
  if (!isatty(fd)) return fd;
  closeSync(fd);
  throw onTerminal();
}

function onTerminal(): TtsError {
  return new TtsError('audio is not written to a terminal', {
    exitCode: ExitCode.output,
    hint: 'name a file with -o out.wav, or send it through a pipe: tts … | aplay',
  });
}
