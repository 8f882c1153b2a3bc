import { percentDecoded } from '../address.ts';
import { type Speech, sameFormat } from '../audio/pcm.ts';
import { ExitCode, TtsError } from '../error.ts';
import { audioFailure, readAnswer } from './answer.ts';
import { noAnswer } from './failure.ts';
import type { ConcurrencyLimiter, Slot } from './limiter.ts';
import { type RetryPolicy, type RetryState, waitOrGiveUp } from './retry.ts';
import type { Transport } from './transport.ts';

export interface ClientOptions extends RetryPolicy {
  readonly transport: Transport;
  /** With `/tts`. */
  readonly url: URL;
  /** By default the host. */
  readonly name?: string | undefined;
  readonly key: string;
  /** In words. */
  readonly keyOrigin: string;
  readonly fields: RequestFields;
  readonly timeoutMs: number;
  readonly limiter: ConcurrencyLimiter;
  /** Set where sound is kept. */
  readonly checksum: Checksum | undefined;
}

interface NumberedText {
  readonly text: string;
  /** In the whole. */
  readonly index: number;
}

export type Synthesize = (text: NumberedText, signal: AbortSignal) => Promise<Speech | undefined>;

/**
 * `POST /tts`, repeated where that may help. A broken answer continues at the same frame.
 * @throws TtsError after all tries, here and while the sound is read
 */
export function createSynthesizer(options: ClientOptions): Synthesize {
  return async (text, signal) => {
    const point = new ResumePoint(options.checksum, () => options.onEvent({ type: 'other take' }));
    const pcm = synthesize(options, { ...text, point, signal });
    await pcm.next();
    return point.speech && { ...point.speech, pcm, isOneTake: () => point.isOneTake };
  };
}

interface ResumableText extends NumberedText {
  readonly point: ResumePoint;
  readonly signal: AbortSignal;
}

async function* synthesize(
  options: ClientOptions,
  { text, index, point, signal }: ResumableText,
): AsyncGenerator<Uint8Array, undefined> {
  const { limiter, url, fields } = options;
  const body = requestBody(text, fields);
  for (const state: RetryState = { made: 0 }; ; ) {
    let failure: unknown;
    const slot = await limiter.enter(index, signal);
    try {
      const speech = await request(options, {
        text,
        body,
        slot,
        signal: AbortSignal.any([signal, slot.signal]),
      });
      yield* point.begin(speech, url);
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
      if (!slot.isPreempted) failure = audioFailure(error, options);
    } finally {
      slot.leave();
    }
    if (failure) await waitOrGiveUp(failure, options, state, signal);
  }
}

interface Attempt {
  readonly text: string;
  readonly body: string;
  readonly slot: Slot;
  readonly signal: AbortSignal;
}

async function request(
  options: ClientOptions,
  { text, body, slot, signal }: Attempt,
): Promise<Speech | undefined> {
  const { transport, url, key, timeoutMs, limiter, fields, onEvent } = options;
  const begun = Date.now();
  const headers = { 'X-API-KEY': key, 'Content-Type': 'application/json' };
  try {
    onEvent({ type: 'request', index: slot.order, text, url, body });
    const answer = await transport.post(body, headers, signal).catch((cause) => {
      throw noAnswer(cause, url, timeoutMs);
    });
    onEvent({ type: 'answer', index: slot.order, status: answer.status, milliseconds: Date.now() - begun });
    const ignored = answer.headers['x-instructions-ignored'];
    if (ignored) onEvent({ type: 'ignored', instructions: percentDecoded(ignored) });
    const hasCallback = fields.callbackUrl !== undefined;
    const onLeftover = (bytes: number) => onEvent({ type: 'leftover', bytes });
    const speech = await readAnswer(answer, { ...options, hasCallback, onLeftover });
    limiter.accepted();
    return speech;
  } catch (error) {
    if (error instanceof TtsError && !signal.aborted) limiter.failed(slot.order, error);
    throw error;
  }
}

/** Unset fields are not sent. */
export interface RequestFields {
  readonly speaker: number;
  readonly stream?: boolean | undefined;
  /** Hz. */
  readonly sampleRate?: number | undefined;
  readonly instructions?: string | undefined;
  readonly callbackUrl?: string | undefined;
}

export function requestBody(
  text: string,
  { speaker, stream, sampleRate, instructions, callbackUrl }: RequestFields,
): string {
  const config = { use_streaming_response: stream, sample_rate: sampleRate, instructions };
  const configured = Object.values(config).some((value) => value !== undefined);
  return JSON.stringify({
    text,
    speaker_no: speaker,
    config: configured ? config : undefined,
    callback_url: callbackUrl,
  });
}

/** @param before checksum of the bytes before, 0 at the start */
export type Checksum = (bytes: Uint8Array, before: number) => number;

class ResumePoint {
  /** Of the first answer. */
  speech: Speech | undefined;
  #bytes = 0;
  #checksum = 0;
  #isOneTake = true;
  #toSkip = 0;
  #skippedChecksum = 0;
  readonly #checksumOf: Checksum | undefined;
  readonly #onOtherTake: () => void;

  /**
   * @param checksum takes a seventh of the time of a large answer
   * @param onOtherTake called if an answer begins otherwise than the first
   */
  constructor(checksum: Checksum | undefined, onOtherTake: () => void) {
    this.#checksumOf = checksum;
    this.#onOtherTake = onOtherTake;
  }

  get isOneTake(): boolean {
    return this.#isOneTake;
  }

  /** @throws TtsError (service) without sound, or in another format */
  *begin(speech: Speech | undefined, url: URL): Generator<Uint8Array> {
    this.#toSkip = this.#bytes;
    this.#skippedChecksum = 0;
    if (!this.speech) {
      this.speech = speech;
      if (speech) yield new Uint8Array(0);
    } else if (!speech)
      throw new TtsError(`the answer of ${url.host} broke off, and on retry it sends the audio elsewhere`, {
        exitCode: ExitCode.service,
        hint: 'the whole of it should arrive at the callback URL',
      });
    else if (!sameFormat(speech.format, this.speech.format))
      throw new TtsError(`${url.host} sent audio in another format when it was asked again`, {
        exitCode: ExitCode.service,
        hint: 'ask for one sample rate with --sample-rate, or without --stream',
      });
  }

  /** At frame borders. */
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
