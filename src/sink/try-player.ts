import type { PcmFormat, Speech } from '../audio/pcm.ts';
import { silence, silentFrames } from '../audio/silence.ts';
import { ExitCode, TtsError } from '../error.ts';
import { openPlayer, type PlayerOptions } from './player.ts';
import type { Delivery } from './sink.ts';

/** So little that nobody waits for it. */
const SILENT_SECONDS = 0.05;

/** A player that takes longer over that has hung; a sound device may have to wake up. */
const LIMIT_MS = 5000;

const FORMAT: PcmFormat = { encoding: 'integer', sampleRate: 22_050, channels: 1, bitsPerSample: 16 };

/**
 * Has a moment of silence played, as sound would be.
 * @returns the program that took it
 * @throws TtsError (output) where nobody would hear sound
 */
export async function tryPlayer(options: PlayerOptions, signal: AbortSignal): Promise<string> {
  const { player = '', readerLeft } = await play(options, signal);
  if (!readerLeft) return player;
  throw unheard(`the player ${player} ended before the sound did`);
}

async function play(options: PlayerOptions, signal: AbortSignal): Promise<Delivery> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  const player = await openPlayer(options);
  try {
    return await player.write(moment(), AbortSignal.any([signal, limit]));
  } catch (error) {
    if (error !== limit.reason) throw error;
    throw unheard(`the player did not end within ${LIMIT_MS / 1000} s, given a moment of silence`);
  }
}

function moment(): Speech {
  async function* pcm() {
    yield* silence(FORMAT, SILENT_SECONDS);
  }
  return { format: FORMAT, bytes: silentFrames(FORMAT, SILENT_SECONDS) * 2, pcm: pcm() };
}

function unheard(message: string): TtsError {
  return new TtsError(message, { exitCode: ExitCode.output, hint: 'choose another player with --player' });
}
