import type { PcmFormat, Speech } from '../audio/pcm.ts';
import { silence } from '../audio/silence.ts';
import { ExitCode, TtsError } from '../error.ts';
import { only } from '../only.ts';
import { openPlayer, type PlayerOptions } from './player.ts';

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
  const limit = AbortSignal.timeout(LIMIT_MS);
  const sink = await openPlayer(options);
  try {
    const { player = '' } = await sink.write(moment(), AbortSignal.any([signal, limit]));
    return player;
  } catch (error) {
    if (error !== limit.reason) throw error;
    const message = `the player did not end within ${LIMIT_MS / 1000} s, given a moment of silence`;
    throw new TtsError(message, { exitCode: ExitCode.output });
  }
}

function moment(): Speech {
  const samples = Buffer.concat([...silence(FORMAT, SILENT_SECONDS)]);
  return { format: FORMAT, bytes: samples.length, pcm: only(samples) };
}
