import { closeSync, createWriteStream } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Speech } from '../audio/pcm.ts';
import { overheadBytes, padding, wavHeader } from '../audio/wav-header.ts';
import { TtsError } from '../error.ts';
import { isReaderGone, unwritable } from '../files/writable.ts';
import { assertAsPromised, type Delivery, type Sink } from './sink.ts';

/**
 * A pipe or a socket. It is written through the event loop: a reader that pauses then blocks no thread, and an end by
 * Ctrl-C does not wait for it.
 * @param fd becomes the sink's own, which closes it when it is written or discarded
 */
export function pipeSink(fd: number, name: string): Sink {
  return streamSink(fd, name, () => new Socket({ fd, readable: false, writable: true }));
}

/** A device that is just written. Its descriptor is dealt with as that of a pipe. */
export function deviceSink(fd: number, name: string): Sink {
  return streamSink(fd, name, () => createWriteStream(name, { fd }));
}

function streamSink(fd: number, name: string, open: () => Writable): Sink {
  // A number that is closed may mean another file at once.
  let isOurs = true;
  return {
    isLive: true,
    write(speech, signal) {
      isOurs = false;
      return pour(speech, open(), { name, signal, poured: { bytes: 0, isAll: false } });
    },
    async discard() {
      if (!isOurs) return;
      isOurs = false;
      try {
        closeSync(fd);
      } catch {
        // Nothing was written that could be lost.
      }
    },
  };
}

export interface Pouring {
  /** Of the stream, for messages. */
  readonly name: string;
  readonly signal: AbortSignal;
  /** Bytes of sound that were written so far, and whether that is all there is. */
  readonly poured: { bytes: number; isAll: boolean };
}

/**
 * Writes a WAV to a stream and ends it, at the pace of who reads there.
 * @throws TtsError (output) when it cannot be written; what the speech throws passes through
 */
export async function pour(
  { format, bytes, pcm }: Speech,
  reader: Writable,
  { name, signal, poured }: Pouring,
): Promise<Delivery> {
  const delivered = (readerLeft: boolean): Delivery => ({
    bytes: poured.bytes,
    overheadBytes: overheadBytes(format, bytes),
    readerLeft,
  });
  try {
    await pipeline(wavPieces({ format, bytes, pcm }, poured), reader, { signal });
    return delivered(false);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof TtsError) throw error;
    if (isReaderGone(error as Error)) return delivered(true);
    throw unwritable(name, error);
  }
}

/** So long does a header wait for the first sound, in milliseconds. */
const AT_ONCE_MS = 2;

/**
 * Sound that is there at once comes in one piece with the header: sox, left to find out what it gets, looks only at what it
 * reads first, and takes a header alone for nothing.
 */
async function* wavPieces(
  { format, bytes, pcm }: Speech,
  poured: Pouring['poured'],
): AsyncGenerator<Uint8Array> {
  const header = wavHeader(format, bytes);
  const pieces = pcm[Symbol.asyncIterator]();
  try {
    const coming = pieces.next();
    // Thrown below, unless the reader leaves before.
    coming.catch(() => {});
    const isAtOnce = await Promise.race([coming.then(() => true), sleep(AT_ONCE_MS, false, { ref: false })]);
    if (!isAtOnce) yield header;
    let next = await coming;
    if (isAtOnce) {
      poured.bytes += next.done ? 0 : next.value.length;
      yield next.done ? header : Buffer.concat([header, next.value]);
      if (!next.done) next = await pieces.next();
    }
    for (; !next.done; next = await pieces.next()) {
      poured.bytes += next.value.length;
      yield next.value;
    }
    assertAsPromised(poured.bytes, bytes);
    poured.isAll = true;
    if (padding(bytes) > 0) yield new Uint8Array(padding(bytes));
  } finally {
    await pieces.return?.();
  }
}
