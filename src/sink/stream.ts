import { createWriteStream } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { padding, wavHeader } from '../audio/wav-header.ts';
import { ExitCode, TtsError } from '../error.ts';
import type { Delivery, Sink } from './sink.ts';
import { unwritable } from './unwritable.ts';

/** What the system says when nobody reads any more. */
const READER_LEFT = new Set(['EPIPE', 'ECONNRESET', 'EOF']);

/**
 * A pipe or a socket. It is written through the event loop: a reader that pauses then blocks no thread, and an end by
 * Ctrl-C does not wait for it.
 * @param fd becomes the sink's own and is closed at the end
 */
export function pipeSink(fd: number, name: string): Sink {
  return streamSink(() => new Socket({ fd, readable: false, writable: true }), name);
}

/** A device that is just written. */
export function deviceSink(fd: number, name: string): Sink {
  return streamSink(() => createWriteStream(name, { fd }), name);
}

function streamSink(open: () => Writable, name: string): Sink {
  return {
    isLive: true,
    async write(speech, signal) {
      let bytes = 0;
      async function* wav() {
        yield wavHeader(speech.format, speech.bytes);
        for await (const piece of speech.pcm) {
          bytes += piece.length;
          yield piece;
        }
        assertAsPromised(bytes, speech.bytes);
        if (padding(bytes) > 0) yield new Uint8Array(padding(bytes));
      }
      return deliver(wav(), open(), { name, signal, delivered: () => bytes });
    },
    discard: async () => {},
  };
}

interface Delivering {
  readonly name: string;
  readonly signal: AbortSignal;
  readonly delivered: () => number;
}

async function deliver(
  wav: AsyncIterable<Uint8Array>,
  reader: Writable,
  { name, signal, delivered }: Delivering,
): Promise<Delivery> {
  try {
    await pipeline(wav, reader, { signal });
    return { bytes: delivered(), readerLeft: false };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof TtsError) throw error;
    if (READER_LEFT.has((error as NodeJS.ErrnoException).code ?? ''))
      return { bytes: delivered(), readerLeft: true };
    throw unwritable(name, error);
  }
}

/** The header is gone by the time that a repeated request turns out longer or shorter: better said than hidden. */
function assertAsPromised(bytes: number, promised: number | undefined): void {
  if (promised === undefined || bytes === promised) return;
  throw new TtsError(`the audio has ${bytes} bytes where its header says ${promised}`, {
    exitCode: ExitCode.service,
    hint: 'the service repeated itself differently: try again, with -o',
  });
}
