import { percentDecoded } from '../address.ts';
import type { Speech } from '../audio/pcm.ts';
import { readAnswer } from './answer.ts';
import { noAnswer } from './failure.ts';
import type { ClientEvent } from './retry.ts';
import type { Transport } from './transport.ts';

export interface RequestOptions {
  readonly transport: Transport;
  /** The address of the requests. It ends in `/tts`. */
  readonly url: URL;
  /** Messages use this name. Without it, they name the host. */
  readonly name?: string | undefined;
  readonly key: string;
  /** Where the key was set, for messages: `TTS_API_KEY`. */
  readonly keyOrigin: string;
  readonly isInside?: boolean | undefined;
  readonly fields: RequestFields;
  readonly timeoutMs: number;
  readonly onEvent: (event: ClientEvent) => void;
}

/** All of a request besides its text. */
export interface RequestFields {
  readonly speaker: number;
  readonly stream?: boolean | undefined;
  /** Hz. */
  readonly sampleRate?: number | undefined;
  readonly instructions?: string | undefined;
  readonly callbackUrl?: string | undefined;
}

export interface NumberedText {
  readonly text: string;
  /** The place of the text among those of its run. */
  readonly index: number;
}

/** Unset fields are not sent. */
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

/**
 * Sends one `POST /tts`.
 * @returns `undefined` for sound that goes to the callback address
 * @throws TtsError; errors of reading the sound are for `audioFailure`
 */
export async function request(
  { text, index }: NumberedText,
  options: RequestOptions,
  signal: AbortSignal,
): Promise<Speech | undefined> {
  const { transport, url, key, timeoutMs, fields, onEvent } = options;
  const begun = Date.now();
  const headers = { 'X-API-KEY': key, 'Content-Type': 'application/json' };
  const body = requestBody(text, fields);
  onEvent({ type: 'request', index, text, url, body });
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
