import { closeSync, createWriteStream } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { passing } from '../audio/passing.ts';
import type { Speech } from '../audio/pcm.ts';
import { overheadBytes, padding, wavHeader } from '../audio/wav-header.ts';
import { TtsError } from '../error.ts';
import { behindHeader } from './behind-header.ts';
import { assertAsPromised } from './promised-length.ts';
import { isReaderGone } from './reader-gone.ts';
import type { Delivery, Sink } from './sink.ts';
import { unwritable } from './unwritable.ts';

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
  async function* wav() {
    const each = (piece: Uint8Array) => {
      poured.bytes += piece.length;
    };
    // Not `yield*`, which keeps a short piece for longer.
    for await (const piece of behindHeader(wavHeader(format, bytes), passing(pcm, { each }))) yield piece;
    assertAsPromised(poured.bytes, bytes);
    poured.isAll = true;
    if (padding(bytes) > 0) yield new Uint8Array(padding(bytes));
  }
  try {
    await pipeline(wav(), reader, { signal });
    return delivered(false);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof TtsError) throw error;
    if (isReaderGone(error as Error)) return delivered(true);
    throw unwritable(name, error);
  }
}
