import type { Host } from '../host.ts';
import { checkSink } from '../sink/check.ts';
import { findPlayer } from '../sink/find-player.ts';
import { isStdout } from '../sink/open.ts';
import { isPlayed, playerOptions, type Wanted } from './output.ts';

/**
 * Whether somebody may hear the sound of a run while it is made, as far as that is known before its output is opened.
 * Nothing is made.
 * @throws TtsError (output) where opening it would; that there is no player is left to the run
 */
export async function checkOutput(settings: Wanted, host: Host): Promise<boolean> {
  const { output, clobber } = settings;
  const isHeard = isPlayed(settings, host) && (await isPlayedLive(settings, host));
  if (!output && isPlayed(settings, host)) return isHeard;
  const name = output?.value ?? '-';
  // A terminal, which gets no sound, may be told of it all the same.
  if (isStdout(name) && host.stdout.isTTY) return true;
  return (await checkSink({ output: name, clobber: clobber.value }, host)) || isHeard;
}

async function isPlayedLive(settings: Wanted, host: Host): Promise<boolean> {
  const found = await findPlayer(playerOptions(settings, host));
  return found?.isLive === true;
}
