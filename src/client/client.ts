import { releasing } from '../async.ts';
import { type Speech, sameFormat } from '../audio/pcm.ts';
import { ExitCode, TtsError } from '../error.ts';
import { readAnswer } from './answer.ts';
import { noAnswer } from './failure.ts';
import { GaveWay, type Pace } from './limiter.ts';
import { type Patience, type Trying, trying, waitOrGiveUp } from './retry.ts';
import type { Transport } from './transport.ts';

export interface ClientOptions extends Patience {
  readonly transport: Transport;
  /** The whole address, `/tts` included. */
  readonly url: URL;
  /** What people call the service; its host, unless set. */
  readonly name?: string | undefined;
  readonly key: string;
  /** Where the key came from, in words. */
  readonly keyOrigin: string;
  readonly voice: Voice;
  readonly timeoutMs: number;
  readonly pace: Pace;
  /** Given by whoever keeps what comes: it tells whether an answer that was resumed begins as the first one did. */
  readonly checksum: Checksum | undefined;
}

/** What is to be spoken, and whose sound is heard first. */
interface Utterance {
  readonly text: string;
  readonly index: number;
}

/** Makes the sound of a text; `undefined` where the service sends it elsewhere. */
export type Synthesize = (utterance: Utterance, signal: AbortSignal) => Promise<Speech | undefined>;

/**
 * A synthesizer behind `POST /tts`. A request that fails for the moment is made again; one that breaks off in the
 * middle goes on at the frame where it broke, so that what was delivered is never delivered twice.
 * @throws TtsError here and while the sound is read, after all tries
 */
export function createClient(options: ClientOptions): Synthesize {
  return async ({ text, index }, signal) => {
    const request = { body: requestBody(text, options.voice), index, signal, tries: { made: 0 } };
    const speech = await open(options, request);
    if (!speech) return undefined;
    const delivered = new Delivered(options.checksum, () => options.tell({ type: 'other take' }));
    const pcm = releasing(resumed(speech, delivered, { options, request }), () => letGo(speech));
    return { ...speech, pcm, isOneTake: () => delivered.isOneTake };
  };
}

interface Request extends Trying {
  readonly body: string;
  readonly index: number;
}

function open(options: ClientOptions, request: Request): Promise<Speech | undefined> {
  return trying(() => attempt(options, request), options, request);
}

/** One request, from its admission to the end of its answer. */
async function attempt(options: ClientOptions, request: Request): Promise<Speech | undefined> {
  const { pace } = options;
  const slot = await pace.enter(request.index, request.signal);
  try {
    const speech = await exchange(options, request);
    pace.accepted();
    if (!speech) slot.leave();
    return speech && { ...speech, pcm: slot.hold(speech.pcm) };
  } catch (error) {
    if (error instanceof TtsError) {
      if (error.retry?.busy) pace.refused(error.retry.after);
      // Such as a key that is refused. Another text, or another speaker, may be welcome.
      if (!error.retry && !error.isUnwanted) pace.close(request.index, error);
    }
    slot.leave();
    throw error;
  }
}

/** Lets go of a sound that nobody may have begun to read: its own `finally` would not run. */
async function letGo({ pcm }: Speech): Promise<void> {
  await pcm[Symbol.asyncIterator]().return?.();
}

async function exchange(options: ClientOptions, { body, signal }: Request): Promise<Speech | undefined> {
  const { transport, url, name, key, keyOrigin, voice, timeoutMs, tell } = options;
  const begun = Date.now();
  const headers = { 'X-API-KEY': key, 'Content-Type': 'application/json' };
  const sending = () => tell({ type: 'request', url, body });
  const answer = await transport.post(body, headers, signal, sending).catch((cause) => {
    throw noAnswer(cause, url, timeoutMs);
  });
  tell({ type: 'answer', status: answer.status, milliseconds: Date.now() - begun });
  const elsewhere = voice.callbackUrl !== undefined;
  return readAnswer(answer, { url, name, timeoutMs, keyOrigin, elsewhere });
}

async function* resumed(
  first: Speech,
  delivered: Delivered,
  { options, request }: { readonly options: ClientOptions; readonly request: Request },
): AsyncGenerator<Uint8Array> {
  for (let speech: Speech | undefined = first; ; speech = await open(options, request)) {
    if (!speech) throw sentElsewhere(options.url);
    if (!sameFormat(speech.format, first.format)) {
      await letGo(speech);
      throw changed(options.url);
    }
    try {
      for await (const piece of delivered.behind(speech.pcm)) {
        delivered.count(piece);
        yield piece;
      }
      return;
    } catch (error) {
      if (!(error instanceof GaveWay)) await waitOrGiveUp(error, options, request);
    }
  }
}

function sentElsewhere(url: URL): TtsError {
  return new TtsError(`the answer of ${url.host} broke off, and on retry it sends the audio elsewhere`, {
    exitCode: ExitCode.service,
    hint: 'the whole of it should arrive at the callback URL',
  });
}

function changed(url: URL): TtsError {
  return new TtsError(`${url.host} sent audio in another format when it was asked again`, {
    exitCode: ExitCode.service,
    hint: 'ask for one sample rate with --sample-rate, or without --stream',
  });
}

/** What the service is asked for; only what somebody set is sent. */
export interface Voice {
  readonly speaker: number;
  readonly stream?: boolean | undefined;
  /** Hz. */
  readonly sampleRate?: number | undefined;
  readonly instructions?: string | undefined;
  readonly callbackUrl?: string | undefined;
}

/** The JSON body of `POST /tts`. */
export function requestBody(
  text: string,
  { speaker, stream, sampleRate, instructions, callbackUrl }: Voice,
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

/** Goes on from the checksum of the bytes in front; 0 where there are none. */
export type Checksum = (bytes: Uint8Array, before: number) => number;

/** What was delivered of a sound, so that another rendering of it can go on behind. */
class Delivered {
  #bytes = 0;
  #checksum = 0;
  #isOneTake = true;
  readonly #checksumOf: Checksum | undefined;
  readonly #differs: () => void;

  /**
   * @param checksum none where nobody needs it: it takes a seventh of the time of a large answer
   * @param differs called where another rendering does not begin like the first: it may be spoken differently
   */
  constructor(checksum: Checksum | undefined, differs: () => void) {
    this.#checksumOf = checksum;
    this.#differs = differs;
  }

  /** Whether every rendering began like the first, as far as somebody looked. */
  get isOneTake(): boolean {
    return this.#isOneTake;
  }

  count(piece: Uint8Array): void {
    this.#bytes += piece.length;
    this.#checksum = this.#after(piece, this.#checksum);
  }

  /**
   * The samples that were not delivered before. Pieces end at frame borders, and so does what was delivered.
   * @throws TtsError (service), to be tried again, when there are fewer
   */
  behind(pcm: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    return this.#bytes === 0 ? pcm : this.#behind(pcm, this.#bytes);
  }

  async *#behind(pcm: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
    const expected = this.#checksum;
    let left = bytes;
    let checksum = 0;
    for await (const piece of pcm) {
      if (left === 0) {
        yield piece;
        continue;
      }
      const known = piece.subarray(0, left);
      checksum = this.#after(known, checksum);
      left -= known.length;
      if (left === 0 && checksum !== expected) {
        this.#isOneTake = false;
        this.#differs();
      }
      if (known.length < piece.length) yield piece.subarray(known.length);
    }
    if (left > 0)
      throw new TtsError('on retry, the service sent less audio than before', {
        exitCode: ExitCode.service,
        hint: 'try again without --stream',
        retry: {},
      });
  }

  #after(piece: Uint8Array, checksum: number): number {
    return this.#checksumOf?.(piece, checksum) ?? 0;
  }
}
