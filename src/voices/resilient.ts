import { ExitCode, TtsError } from '../kit/error.ts';
import type { ConcurrencyLimiter, Slot } from '../kit/limit.ts';
import { type NumberedText, type RetryPolicy, type RetryState, waitOrGiveUp } from '../kit/retry.ts';
import { type Speech, sameFormat } from '../sound/pcm.ts';

/** @returns `undefined` if the sound goes elsewhere */
export type Synthesize = (text: NumberedText, signal: AbortSignal) => Promise<Speech | undefined>;

export interface Trying extends RetryPolicy {
  readonly limiter: ConcurrencyLimiter;
  /** The checksum is set where the sound is kept. */
  readonly checksum: Checksum | undefined;
  /** Messages use this name for the other side. */
  readonly name: string;
  /** It asks once. */
  readonly ask: Synthesize;
  /**
   * Puts an error of asking or reading into words.
   * @throws the error itself if it is a defect
   */
  readonly explain: (error: unknown) => TtsError | Promise<TtsError>;
}

/**
 * Asks again where that may help. After a broken answer, the next one continues at the same frame.
 * @throws TtsError after all tries, here and while the sound is read
 */
export async function speakWithTries(
  text: NumberedText,
  options: Trying,
  signal: AbortSignal,
): Promise<Speech | undefined> {
  const point = new ResumePoint(options.checksum, () => options.onEvent({ type: 'other take' }));
  const pcm = tries(text, point, options, signal);
  await pcm.next();
  return point.speech && { ...point.speech, pcm, isOneTake: () => point.isOneTake };
}

async function* tries(
  text: NumberedText,
  point: ResumePoint,
  options: Trying,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, undefined> {
  const { limiter, name } = options;
  for (const state: RetryState = { made: 0, hasFallback: text.hasFallback }; ; ) {
    let failure: unknown;
    const slot = await limiter.enter(orderOf(text), signal);
    try {
      const speech = await attempt(text, slot, options, signal);
      yield* point.begin(speech, name);
      for await (const piece of speech?.pcm ?? []) {
        const fresh = point.advance(piece);
        slot.rest();
        if (fresh.length > 0) yield fresh;
        slot.goOn();
      }
      point.end();
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!slot.isPreempted) failure = await options.explain(error);
    } finally {
      slot.leave();
    }
    if (failure) await waitOrGiveUp(failure, options, state, signal);
  }
}

function orderOf({ order, index }: NumberedText): number {
  return order ?? index;
}

/** The limiter learns how the attempt ended, up to its first sound. */
async function attempt(
  text: NumberedText,
  slot: Slot,
  { limiter, ask, explain }: Trying,
  signal: AbortSignal,
): Promise<Speech | undefined> {
  const until = AbortSignal.any([signal, slot.signal]);
  try {
    const speech = await ask(text, until);
    limiter.accepted();
    return speech;
  } catch (error) {
    if (until.aborted) throw error;
    const failure = await explain(error);
    if (text.order === undefined) limiter.failed(slot.order, failure);
    else if (failure.retry?.busy) limiter.refused(failure.retry.after);
    throw failure;
  }
}

/** @param before the checksum of the bytes before; 0 at the start */
type Checksum = (bytes: Uint8Array, before: number) => number;

/** How far the sound has come, so that the next answer continues there. */
class ResumePoint {
  /** The first answer, whose format binds the next ones. */
  speech: Speech | undefined;
  #bytes = 0;
  #checksum = 0;
  #isOneTake = true;
  #toSkip = 0;
  #skippedChecksum = 0;
  readonly #checksumOf: Checksum | undefined;
  readonly #onOtherTake: () => void;

  /**
   * @param checksum computing it takes a seventh of the time of a large answer
   * @param onOtherTake is called if an answer begins otherwise than the first
   */
  constructor(checksum: Checksum | undefined, onOtherTake: () => void) {
    this.#checksumOf = checksum;
    this.#onOtherTake = onOtherTake;
  }

  get isOneTake(): boolean {
    return this.#isOneTake;
  }

  /** @throws TtsError (service) without sound, or in another format */
  *begin(speech: Speech | undefined, name: string): Generator<Uint8Array> {
    this.#toSkip = this.#bytes;
    this.#skippedChecksum = 0;
    if (!this.speech) {
      this.speech = speech;
      // The caller has its speech as soon as the first `next()` returns.
      if (speech) yield new Uint8Array(0);
    } else if (!speech)
      throw new TtsError(`the answer of ${name} broke off, and on retry it sends the audio elsewhere`, {
        exitCode: ExitCode.service,
        hint: 'the whole of it should arrive at the callback URL',
      });
    else if (!sameFormat(speech.format, this.speech.format))
      throw new TtsError(`${name} sent audio in another format when it was asked again`, {
        exitCode: ExitCode.service,
        hint: 'ask for one sample rate with --sample-rate, or leave out --stream',
      });
  }

  /** Pieces end at frame borders. */
  advance(piece: Uint8Array): Uint8Array {
    const fresh = this.#toSkip === 0 ? piece : this.#skip(piece);
    this.#bytes += fresh.length;
    this.#checksum = this.#after(fresh, this.#checksum);
    return fresh;
  }

  /** @throws TtsError (service), with a retry, for a shorter answer */
  end(): void {
    if (this.#toSkip > 0)
      throw new TtsError('on retry, the service sent less audio than before', {
        exitCode: ExitCode.service,
        hint: 'try again without --stream',
        retry: {},
      });
  }

  #skip(piece: Uint8Array): Uint8Array {
    const known = piece.subarray(0, this.#toSkip);
    this.#skippedChecksum = this.#after(known, this.#skippedChecksum);
    this.#toSkip -= known.length;
    if (this.#toSkip === 0 && this.#skippedChecksum !== this.#checksum) {
      this.#isOneTake = false;
      this.#onOtherTake();
    }
    return piece.subarray(known.length);
  }

  #after(piece: Uint8Array, checksum: number): number {
    return this.#checksumOf?.(piece, checksum) ?? 0;
  }
}
