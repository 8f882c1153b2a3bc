import type { Host } from '../host.ts';
import { checkSink } from '../sink/check.ts';
import { isStdout } from '../sink/open.ts';
import { isPlayed, type Wanted } from './output.ts';

/**
 * Whether somebody may hear the sound of a run while it is made, as far as that is known before its output is opened.
 * Nothing is made.
 * @throws TtsError (output) where opening it would
 */
export async function checkOutput(settings: Wanted, host: Host): Promise<boolean> {
  const { output, clobber } = settings;
  const isHeard = isPlayed(settings, host);
  const name = output?.value ?? '-';
  // A terminal, which gets no sound, may be told of it all the same.
  if ((isHeard && !output) || (isStdout(name) && host.stdout.isTTY)) return true;
  return (await checkSink({ output: name, clobber: clobber.value }, host)) || isHeard;
}
