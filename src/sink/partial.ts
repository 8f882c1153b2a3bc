import { basename, dirname, extname, join } from 'node:path';
import type { Speech } from '../audio/pcm.ts';
import { TtsError } from '../error.ts';
import type { AtomicFile } from '../files/atomic-file.ts';
import { printable } from '../printable.ts';
import { type OpenWav, record } from './recording.ts';
import type { Delivery } from './sink.ts';

interface PartialFile {
  readonly part: AtomicFile;
  readonly wav: OpenWav;
  readonly target: string;
}

/**
 * What came before an error is published as `out.partial.wav`.
 * @throws TtsError (output); what the speech throws
 */
export async function recordPartial(
  { part, wav, target }: PartialFile,
  speech: Speech,
  signal: AbortSignal,
): Promise<Delivery> {
  let failure: { readonly error: unknown } | undefined;
  async function* untilFailure(): AsyncGenerator<Uint8Array> {
    try {
      yield* speech.pcm;
    } catch (error) {
      failure = { error };
    }
  }
  const delivery = await record(wav, { ...speech, pcm: untilFailure() }, new AbortController().signal);
  if (!failure) {
    await part.publish(signal);
    return delivery;
  }
  if (delivery.bytes === 0) throw failure.error;
  const name = partialName(target);
  await part.publish(undefined, name);
  throw withPartial(failure.error, basename(name));
}

function partialName(target: string): string {
  const ending = extname(target);
  return join(dirname(target), `${basename(target, ending)}.partial${ending}`);
}

function withPartial(error: unknown, name: string): unknown {
  if (!(error instanceof TtsError)) return error;
  const kept = `${printable(name)} has the audio before it`;
  return error.inWords(error.message, { hint: error.hint === undefined ? kept : `${error.hint}; ${kept}` });
}
