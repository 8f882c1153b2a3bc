import { basename, dirname, extname, join } from 'node:path';
import { TtsError } from '../kit/error.ts';
import { AtomicFile, type FileOptions } from '../kit/file.ts';
import { behindLinks } from '../kit/folders.ts';
import { printable } from '../kit/words.ts';
import type { Encoding, OpenFile, Written } from '../sound/encode/encoding.ts';
import type { Track } from '../sound/pcm.ts';
import type { Sink } from './sink.ts';

export interface FileSinkOptions {
  readonly encoding: Encoding;
  /** What came before an error is published as `out.partial.wav`. */
  readonly keepsPartial: boolean;
}

/** @throws TtsError (output) */
export function fileSink(file: FileOptions, { encoding, keepsPartial }: FileSinkOptions): Sink {
  const part = AtomicFile.forOutput(file);
  const open = { fd: part.fd, path: part.path, name: file.name, start: 0 };
  return {
    isLive: false,
    async write(track, signal) {
      try {
        const written = keepsPartial
          ? await recordBeginning({ part, open, path: file.path, encoding }, track)
          : await encoding.record(open, track, signal);
        await part.publish(signal);
        return { ...written, readerLeft: false };
      } finally {
        part.discard();
      }
    },
    discard: async () => part.discard(),
  };
}

interface PartialFile {
  readonly part: AtomicFile;
  readonly open: OpenFile;
  readonly path: string;
  readonly encoding: Encoding;
}

/**
 * Publishes what came before an error under a name of its own.
 * @returns what was written if all came
 * @throws TtsError (output); what the track throws
 */
async function recordBeginning({ part, open, path, encoding }: PartialFile, track: Track): Promise<Written> {
  const partial = partialName(behindLinks(path));
  let failure: { readonly error: unknown } | undefined;
  async function* untilFailure(): AsyncGenerator<Uint8Array> {
    try {
      yield* track.pcm;
    } catch (error) {
      failure = { error };
    }
  }
  // The signal ends the track, and what came before is written to its end.
  const never = new AbortController().signal;
  const written = await encoding.record(open, { ...track, pcm: untilFailure() }, never);
  if (!failure) return written;
  if (written.bytes === 0) throw failure.error;
  await part.publish(undefined, partial);
  throw withPartial(failure.error, basename(partial));
}

function partialName(target: string): string {
  const ending = extname(target);
  return join(dirname(target), `${basename(target, ending)}.partial${ending}`);
}

function withPartial(error: unknown, name: string): unknown {
  if (!(error instanceof TtsError)) return error;
  const kept = `${printable(name)} has the audio before it`;
  return error.reworded(error.message, { hint: error.hint === undefined ? kept : `${error.hint}; ${kept}` });
}
