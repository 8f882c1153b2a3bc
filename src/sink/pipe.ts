import { closeSync, createWriteStream } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Track } from '../audio/pcm.ts';
import { TtsError } from '../error.ts';
import { isReaderGone, unwritable } from '../files/writable.ts';
import type { StreamingEncoding } from './encoding/encoding.ts';
import { Gate } from './gate.ts';
import type { Delivery, Sink } from './sink.ts';

/**
 * A slow reader blocks no thread.
 * @param fd owned by the sink
 */
export function pipeSink(fd: number, name: string, encoding: StreamingEncoding): Sink {
  return streamSink({ fd, name, encoding }, () => new Socket({ fd, readable: false, writable: true }));
}

export function deviceSink(fd: number, name: string, encoding: StreamingEncoding): Sink {
  return streamSink({ fd, name, encoding }, () => createWriteStream(name, { fd }));
}

interface OpenStream {
  readonly fd: number;
  readonly name: string;
  readonly encoding: StreamingEncoding;
}

function streamSink({ fd, name, encoding }: OpenStream, open: () => Writable): Sink {
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
      return pour(track, open(), { name, encoding, signal, poured: nothingPoured(), gate });
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

/** What has left so far. */
export interface Poured {
  /** It counts PCM bytes. */
  bytes: number;
  writtenBytes: number;
  /** All sound has left; padding may still be on its way. */
  isAll: boolean;
}

export function nothingPoured(): Poured {
  return { bytes: 0, writtenBytes: 0, isAll: false };
}

export interface Pouring {
  readonly name: string;
  readonly encoding: StreamingEncoding;
  readonly signal: AbortSignal;
  readonly poured: Poured;
  readonly gate?: Gate;
}

/**
 * Writes at the reader's pace.
 * @throws TtsError (output); what the track throws
 */
export async function pour(track: Track, reader: Writable, pouring: Pouring): Promise<Delivery> {
  const { name, signal, poured } = pouring;
  const delivered = (readerLeft: boolean): Delivery => ({
    bytes: poured.bytes,
    writtenBytes: poured.writtenBytes,
    readerLeft,
  });
  try {
    await pipeline(leaving(track, pouring), reader, { signal });
    return delivered(false);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof TtsError) throw error;
    if (isReaderGone(error as Error)) return delivered(true);
    throw unwritable(name, error);
  }
}

/** sox detects a format in its first read: header and first sound come together if they can. */
async function* leaving(
  track: Track,
  { encoding, poured, gate, signal }: Pouring,
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
