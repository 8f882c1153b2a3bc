import { createHmac } from 'node:crypto';
import { only } from '../../only.ts';
import { Refusal } from '../refusal.ts';
import { type Recording, record } from './recording.ts';
import { errorBody, refusalOf } from './refuse.ts';
import type { Sound } from './send-speech.ts';
import { leadingHeader } from './wav-layout.ts';

/** What a callback carries: the WAV, or the error as JSON. */
export interface CallbackBody extends Recording {
  readonly type: 'audio/wav' | 'application/json';
}

/**
 * @param defect told about what was no refusal
 * @throws the reason of an abort
 */
export async function callbackBody(
  sound: Sound,
  signal: AbortSignal,
  defect: (error: unknown) => void,
): Promise<CallbackBody> {
  try {
    return await wav(sound, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Refusal)) defect(error);
    return json(errorBody(refusalOf(error)));
  }
}

/** HMAC-SHA256 in lower-case hexadecimal. */
export async function signatureOf(body: CallbackBody, key: string): Promise<string> {
  const hmac = createHmac('sha256', key);
  for await (const piece of body.read()) hmac.update(piece);
  return hmac.digest('hex');
}

async function wav({ format, pcm }: Sound, signal: AbortSignal): Promise<CallbackBody> {
  const recording = await record(pcm);
  if (signal.aborted) await recording.dispose();
  signal.throwIfAborted();
  const header = leadingHeader(format, recording.bytes);
  async function* read() {
    yield header;
    yield* recording.read();
  }
  return { ...recording, type: 'audio/wav', bytes: header.length + recording.bytes, read };
}

function json(value: unknown): CallbackBody {
  const bytes = Buffer.from(JSON.stringify(value));
  return { type: 'application/json', bytes: bytes.length, read: () => only(bytes), dispose: async () => {} };
}
