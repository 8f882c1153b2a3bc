import { ExitCode, TtsError } from '../kit/error.ts';
import type { ConcurrencyLimiter, Slot } from '../kit/limit.ts';
import { type RetryPolicy, type RetryState, waitOrGiveUp } from '../kit/retry.ts';
import { type Speech, sameFormat } from '../sound/pcm.ts';
import type { Utterance, VoiceSource } from '../sound/voice.ts';

interface Resilience {
  readonly limiter: ConcurrencyLimiter;
  /** Tries after the first. */
  readonly retries: number;
  /** Seconds that are waited at most where the source asks to wait. */
  readonly longestWait?: number | undefined;
  /** @returns `undefined` if the sound is not cached */
  readonly checksum: () => Promise<Checksum | undefined>;
}

/**
 * Wraps a source: limits its open requests, and retries if that may help. After a broken answer, the next one continues at
 * the same frame.
 */
export function resilient(source: VoiceSource, how: Resilience): VoiceSource {
  return {
    ...source,
    async speak(utterance, signal) {
      const point = new ResumePoint(await how.checksum(), () => utterance.report({ type: 'other take' }));
      const pcm = tries(source, utterance, { ...how, point }, signal);
      await pcm.next();
      return point.speech && { ...point.speech, pcm, isOneTake: () => point.isOneTake };
    },
  };
}

interface Trying extends Resilience {
  readonly point: ResumePoint;
}

async function* tries(
  source: VoiceSource,
  utterance: Utterance,
  { limiter, retries, longestWait, point }: Trying,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, undefined> {
  const policy: RetryPolicy = {
    retries,
    longestWait,
    onRetry: ({ error, seconds }) => {
      // Requests of other texts would use up the rate meanwhile, and this text would be refused until it has no tries left.
      if (error.exitCode === ExitCode.quota) limiter.hold(seconds);
      utterance.report({ type: 'retry', error, seconds });
    },
  };
  for (const state: RetryState = { made: 0, hasFallback: utterance.hasFallback }; ; ) {
    let wait: Promise<void> | undefined;
    const slot = await limiter.enter(utterance.order ?? utterance.index, signal);
    try {
      const speech = await attempt(source, utterance, { slot, limiter }, signal);
      yield* point.begin(speech, source.name);
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
      // The wait begins before the slot is free for another text.
      if (!slot.isPreempted) wait = waitOrGiveUp(error, policy, state, signal);
    } finally {
      slot.leave();
    }
    await wait;
  }
}

/** Makes one attempt, and tells the limiter how it ended, up to its first sound. */
async function attempt(
  source: VoiceSource,
  utterance: Utterance,
  { slot, limiter }: { readonly slot: Slot; readonly limiter: ConcurrencyLimiter },
  signal: AbortSignal,
): Promise<Speech | undefined> {
  const until = AbortSignal.any([signal, slot.signal]);
  try {
    const speech = await source.speak(utterance, until);
    limiter.accepted();
    return speech;
  } catch (error) {
    if (until.aborted || !(error instanceof TtsError)) throw error;
    if (utterance.order === undefined) limiter.failed(slot.order, error);
    else if (error.retry?.busy) limiter.refused(error.retry.after);
    throw error;
  }
}

/** @param before the checksum of the preceding bytes; 0 at the start */
type Checksum = (bytes: Uint8Array, before: number) => number;

/** The point that the sound has reached, at which the next answer continues. */
class ResumePoint {
  /** The first answer, whose format binds the next ones. */
  speech: Speech | undefined;
  #bytes = 0;
  #checksum = 0;
  /** False if an answer began differently from the first. */
  isOneTake = true;
  #toSkip = 0;
  #skippedChecksum = 0;
  readonly #checksumOf: Checksum | undefined;
  readonly #onOtherTake: () => void;

  /**
   * @param checksum optional, because it takes a seventh of the time of a large answer
   * @param onOtherTake is called if an answer begins differently from the first
   */
  constructor(checksum: Checksum | undefined, onOtherTake: () => void) {
    this.#checksumOf = checksum;
    this.#onOtherTake = onOtherTake;
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

  /** Returns the part of a piece that is new. Pieces have to end at frame borders. */
  advance(piece: Uint8Array): Uint8Array {
    const fresh = this.#toSkip === 0 ? piece : this.#skip(piece);
    this.#bytes += fresh.length;
    this.#checksum = this.#after(fresh, this.#checksum);
    return fresh;
  }

  /** @throws TtsError (service), with a retry, for an answer shorter than the sound so far */
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
      this.isOneTake = false;
      this.#onOtherTake();
    }
    return piece.subarray(known.length);
  }

  #after(piece: Uint8Array, checksum: number): number {
    return this.#checksumOf?.(piece, checksum) ?? 0;
  }
}
