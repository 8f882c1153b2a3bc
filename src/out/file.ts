import { basename, dirname, extname, join } from 'node:path';
import { TtsError } from '../kit/error.ts';
import { AtomicFile, type FileOptions } from '../kit/file.ts';
import { linkTarget } from '../kit/folders.ts';
import { printable } from '../kit/words.ts';
import type { Encoding, WrittenSize } from '../sound/encode/encoding.ts';
import type { Track } from '../sound/pcm.ts';
import type { Sink } from './sink.ts';

/**
 * @param keepsPartial true to publish the sound before an error as `out.partial.wav`
 * @throws TtsError (output)
 */
export function fileSink(file: FileOptions, encoding: Encoding, keepsPartial: boolean): Sink {
  const part = AtomicFile.forOutput(file);
  const open = { fd: part.fd, path: part.path, name: file.name, start: 0 };
  const recordBeginning = async (track: Track): Promise<WrittenSize> => {
    const beginning = upToFailure(track);
    // A signal of its own: the caller's signal ends the track, and the sound before that is still written.
    const written = await encoding.record(open, beginning.track, new AbortController().signal);
    const { failure } = beginning;
    if (!failure) return written;
    if (written.bytes === 0) throw failure.error;
    const partial = partialName(linkTarget(file.path));
    await part.publish(undefined, partial).catch(() => {
      throw failure.error;
    });
    throw withPartial(failure.error, basename(partial));
  };
  return {
    isLive: false,
    async write(track, signal) {
      try {
        const written = keepsPartial
          ? await recordBeginning(track)
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

/** Returns a track that ends where its sound fails, with the failure as soon as there is one. */
function upToFailure(track: Track): { readonly track: Track; failure?: { readonly error: unknown } } {
  const beginning: ReturnType<typeof upToFailure> = { track: { ...track, pcm: pcm() } };
  async function* pcm(): AsyncGenerator<Uint8Array> {
    try {
      yield* track.pcm;
    } catch (error) {
      beginning.failure = { error };
    }
  }
  return beginning;
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
