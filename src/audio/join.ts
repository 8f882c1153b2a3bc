import { releasing } from '../async.ts';
import { ExitCode, TtsError } from '../error.ts';
import { describeFormat, type PcmFormat, type Speech, sameFormat } from './pcm.ts';

export interface JoinOptions {
  /** Asked when the first part is there: whether it is the only one, so that its size is the size of all. */
  readonly isSingle?: () => boolean;
}

/**
 * Several parts in order as one. Resolves with the first of them; the others are asked for while `pcm` is iterated, each
 * when the one before it has ended. When the reader leaves, the part at hand and the parts to come are let go.
 *
 * @param speeches at least one
 * @throws TtsError while `pcm` is iterated, at a part in another format
 */
export async function join(speeches: AsyncIterable<Speech>, options: JoinOptions = {}): Promise<Speech> {
  const parts = speeches[Symbol.asyncIterator]();
  const first = await parts.next();
  if (first.done) throw new Error('there is no part to join');
  const { format, bytes } = first.value;
  /** The part that came and that nobody has begun to read. */
  let waiting: Speech | undefined = first.value;
  const release = async () => {
    await waiting?.pcm[Symbol.asyncIterator]().return?.();
    await parts.return?.();
  };

  async function* joined(): AsyncGenerator<Uint8Array> {
    for (let number = 1; waiting !== undefined; number++) {
      if (!sameFormat(waiting.format, format)) throw formatChanged(number, format, waiting.format);
      const { pcm } = waiting;
      waiting = undefined;
      yield* pcm;
      const next: IteratorResult<Speech, unknown> = await parts.next();
      if (!next.done) waiting = next.value;
    }
  }
  return { format, bytes: options.isSingle?.() ? bytes : undefined, pcm: releasing(joined(), release) };
}

function formatChanged(number: number, first: PcmFormat, other: PcmFormat): TtsError {
  return new TtsError(
    `part ${number} of the speech came as ${describeFormat(other)}, the first as ${describeFormat(first)}`,
    { exitCode: ExitCode.service, hint: hintFor(first, other) },
  );
}

function hintFor(first: PcmFormat, other: PcmFormat): string {
  // The sample rate is all that can be asked for.
  if (sameFormat({ ...first, sampleRate: other.sampleRate }, other))
    return '--no-cache asks for all parts anew, if some were kept from before; else set --sample-rate, or another one';
  const what = first.channels === other.channels ? 'kind of samples' : 'number of channels';
  return `the service has to keep to one ${what}; a larger --max-chars makes fewer parts`;
}
