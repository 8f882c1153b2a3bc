import { releasing } from '../audio/passing.ts';
import { type Speech, sameFormat } from '../audio/pcm.ts';
import { ExitCode, TtsError } from '../error.ts';
import { readAnswer } from './answer.ts';
import { requestBody, type Voice } from './body.ts';
import { type Checksum, Delivered } from './delivered.ts';
import { noAnswer } from './failure.ts';
import type { Pace } from './pace.ts';
import { GaveWay } from './slot.ts';
import type { Transport } from './transport.ts';
import { type Patience, type Trying, trying, waitOrGiveUp } from './trying.ts';

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
