import { percentDecoded } from '../address.ts';
import type { Speech } from '../audio/pcm.ts';
import { audioFailure, readAnswer } from './answer.ts';
import { noAnswer } from './failure.ts';
import { type RequestFields, requestBody } from './request-body.ts';
import type { ClientEvent, NumberedText } from './retry.ts';
import type { Transport } from './transport.ts';
import { type Synthesize, speakWithTries, type Trying } from './tries.ts';

interface RequestOptions {
  readonly transport: Transport;
  /** The address of the requests. It ends in `/tts`. */
  readonly url: URL;
  readonly key: string;
  /** Where the key was set, for messages: `TTS_API_KEY`. */
  readonly keyOrigin: string;
  readonly fields: RequestFields;
  readonly timeoutMs: number;
  readonly onEvent: (event: ClientEvent) => void;
}

/**
 * Sends `POST /tts`, again where that may help.
 * @throws TtsError after all tries, here and while the sound is read
 */
export function createSynthesizer(
  options: RequestOptions & Omit<Trying, 'name' | 'ask' | 'explain'>,
): Synthesize {
  const trying: Trying = {
    ...options,
    name: options.url.host,
    ask: (text, until) => request(text, options, until),
    explain: (error) => audioFailure(error, options),
  };
  return (text, signal) => speakWithTries(text, trying, signal);
}

/**
 * Sends one `POST /tts`.
 * @returns `undefined` for sound that goes to the callback address
 * @throws TtsError; errors of reading the sound are for `audioFailure`
 */
async function request(
  { text, index }: NumberedText,
  options: RequestOptions,
  signal: AbortSignal,
): Promise<Speech | undefined> {
  const { transport, url, key, timeoutMs, fields, onEvent } = options;
  const begun = Date.now();
  const headers = { 'X-API-KEY': key, 'Content-Type': 'application/json' };
  const body = requestBody(text, fields);
  onEvent({ type: 'request', index, text, post: { url, body } });
  const answer = await transport.post(body, headers, signal).catch((cause) => {
    throw noAnswer(cause, url, timeoutMs);
  });
  onEvent({ type: 'answer', index, status: answer.status, milliseconds: Date.now() - begun });
  const ignored = answer.headers['x-instructions-ignored'];
  if (ignored) onEvent({ type: 'ignored', instructions: percentDecoded(ignored) });
  const hasCallback = fields.callbackUrl !== undefined;
  const onLeftover = (bytes: number) => onEvent({ type: 'leftover', bytes });
  return await readAnswer(answer, { ...options, hasCallback, onLeftover });
}
