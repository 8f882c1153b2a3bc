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

/** Holds sound back during a pause. */
export class Gate {
  #opened: Promise<void> | undefined;
  #open = () => {};

  get isClosed(): boolean {
    return this.#opened !== undefined;
  }

  set isClosed(isClosed: boolean) {
    if (!isClosed) {
      this.#opened = undefined;
      this.#open();
      return;
    }
    this.#opened ??= new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  /** @throws the reason of the signal */
  async pass(signal: AbortSignal): Promise<void> {
    while (this.#opened) await unlessAborted(this.#opened, signal);
  }
}

/**
 * A slow reader blocks no thread.
 * @param fd owned by the sink
 */
export function pipeSink(fd: number, name: string, encoding: StreamingEncoding): Sink {
  return streamSink(fd, name, encoding, () => new Socket({ fd, readable: false, writable: true }));
}

export function deviceSink(fd: number, name: string, encoding: StreamingEncoding): Sink {
  return streamSink(fd, name, encoding, () => createWriteStream(name, { fd }));
}

function streamSink(fd: number, name: string, encoding: StreamingEncoding, open: () => Writable): Sink {
  // A closed number may soon be another file's.
  let isOurs = true;
  const gate = new Gate();
  return {
    isLive: true,
    pause(isPaused) {
      gate.isClosed = isPaused;
    },
    write(track, signal) {
      isOurs = false;
      return writeTrack(track, open(), { name, encoding, signal, poured: noProgress(), gate });
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

/** What was written so far. */
export interface PipeProgress {
  /** PCM bytes. */
  bytes: number;
  writtenBytes: number;
  /** All sound is written; padding may follow. */
  isAll: boolean;
}

export function noProgress(): PipeProgress {
  return { bytes: 0, writtenBytes: 0, isAll: false };
}

export interface PipeOptions {
  readonly name: string;
  readonly encoding: StreamingEncoding;
  readonly signal: AbortSignal;
  readonly poured: PipeProgress;
  readonly gate?: Gate;
}

/**
 * Writes at the reader's pace.
 * @throws TtsError (output); what the track throws
 */
export async function writeTrack(track: Track, reader: Writable, pouring: PipeOptions): Promise<Delivery> {
  const { name, signal, poured } = pouring;
  try {
    await pipeline(leaving(track, pouring), reader, { signal });
    return { ...poured, readerLeft: false };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof TtsError) throw error;
    if (isReaderGone(error as Error)) return { ...poured, readerLeft: true };
    throw unwritable(name, error);
  }
}

/** sox detects a format in its first read: header and first sound come together if they can. */
async function* leaving(
  track: Track,
  { encoding, poured, gate, signal }: PipeOptions,
): AsyncGenerator<Uint8Array> {
  const before = poured.bytes;
  let bytes = 0;
  const encoded = encoding.stream(track, (more) => {
    bytes += more;
  });
  poured.isAll = false;
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
      poured.bytes = before + bytes;
      poured.writtenBytes += next.value.length;
      yield next.value;
      poured.isAll = bytes === track.bytes;
      next = await (ahead ?? pieces.next());
      ahead = undefined;
    }
    poured.isAll = true;
  } finally {
    await pieces.return?.();
  }
}

/** Milliseconds. */
const AT_ONCE_MS = 2;

function isThereAtOnce(coming: Promise<unknown>): Promise<boolean> {
  const arrival = coming.then(() => true);
  arrival.catch(() => {});
  return Promise.race([arrival, sleep(AT_ONCE_MS, false, { ref: false })]);
}

/**
 * `> out.wav` gets right sizes at the end, `>> all.wav` does not.
 * @throws TtsError (output) for a terminal, for an encoding that needs a file, and if it cannot be inspected
 */
export function stdoutSink(stdout: Pick<Output, 'fd' | 'isTTY'>, encoding: Encoding): Sink {
  const { fd } = stdout;
  const kind = kindOf(stdout);
  if (kind.isFile()) return openFileSink(fd, startOf(fd, kind.size), encoding);
  const open = kind.isFIFO() || kind.isSocket() ? pipeSink : deviceSink;
  const sink = open(fd, 'stdout', streamingOf(encoding, 'stdout'));
  // stdout may be needed for messages.
  return { ...sink, discard: async () => {} };
}

/** @throws TtsError (output) as opening would */
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

/** `undefined` if every write appends. */
function startOf(fd: number, size: number): number | undefined {
  const position = positionOf(fd);
  if (position !== undefined) return isAppending(fd) ? undefined : position;
  // Elsewhere than on Linux, `>` leaves an empty file.
  return size === 0 ? 0 : undefined;
}

/** @throws TtsError (output) for a terminal; the system's error */
export async function openDevice(path: string): Promise<number> {
  // O_NOCTTY: that terminal's Ctrl-C must not reach this run.
  const fd = openSync(path, constants.O_WRONLY | constants.O_NOCTTY);
  // node:tty loads the network stack.
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
