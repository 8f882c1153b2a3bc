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
 * A slow reader blocks no thread.
 * @param fd owned by the sink
 */
export function pipeSink(fd: number, name: string): Sink {
  return streamSink(fd, name, () => new Socket({ fd, readable: false, writable: true }));
}

export function deviceSink(fd: number, name: string): Sink {
  return streamSink(fd, name, () => createWriteStream(name, { fd }));
}

function streamSink(fd: number, name: string, open: () => Writable): Sink {
  // A closed number may soon be another file's.
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
      } catch {}
    },
  };
}

export interface Pouring {
  readonly name: string;
  readonly signal: AbortSignal;
  readonly poured: { bytes: number; isAll: boolean };
}

/**
 * At the reader's pace.
 * @throws TtsError (output); what the speech throws
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

/** Milliseconds. */
const AT_ONCE_MS = 2;

/** sox detects a format in its first read: header and first sound come together if they can. */
async function* wavPieces(
  { format, bytes, pcm }: Speech,
  poured: Pouring['poured'],
): AsyncGenerator<Uint8Array> {
  const header = wavHeader(format, bytes);
  const pieces = pcm[Symbol.asyncIterator]();
  try {
    const coming = pieces.next();
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
