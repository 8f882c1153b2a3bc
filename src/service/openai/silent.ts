import { type PcmFormat, silence } from '../../audio/pcm.ts';
import { EngineError, OWN_RATE } from '../../engine/contract.ts';
import type { Sound } from '../http/stored-sound.ts';

const SECONDS = 0.1;

const FORMAT: PcmFormat = { encoding: 'integer', sampleRate: OWN_RATE, channels: 1, bitsPerSample: 16 };

/**
 * Clients try a key with a single full stop, and send pieces of a chat that are an emoji or three dots. OpenAI answers them
 * with sound: a text without a letter and a digit that the voice cannot read is a short silence.
 */
export async function soundOrSilence(text: string, speaking: Promise<Sound>): Promise<Sound> {
  if (/[\p{L}\p{N}]/u.test(text)) return speaking;
  const nothing = { format: FORMAT, speakable: true, pcm: silentPieces(FORMAT) };
  const sound = await speaking.catch((error: unknown) => instead(nothing, error));
  return { ...sound, pcm: orSilence(sound) };
}

async function* orSilence({ format, pcm }: Sound): AsyncGenerator<Uint8Array> {
  try {
    yield* pcm;
  } catch (error) {
    yield* instead(silentPieces(format), error);
  }
}

async function* silentPieces(format: PcmFormat): AsyncGenerator<Uint8Array> {
  yield* silence(format, SECONDS);
}

/** @throws what is not the refusal of a text */
function instead<T>(replacement: T, error: unknown): T {
  if (error instanceof EngineError && error.kind === 'unsupported text') return replacement;
  throw error;
}
