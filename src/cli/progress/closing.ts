import { secondsOf } from '../../audio/pcm.ts';
import type { Host } from '../../host.ts';
import { printable } from '../../printable.ts';
import type { Settings } from '../../settings/resolve.ts';
import { isStdout } from '../../sink/open.ts';
import type { Delivery } from '../../sink/sink.ts';
import { isPlayed } from '../output.ts';
import type { Tally } from '../tally.ts';
import { closingLine } from './line.ts';

interface Whole {
  readonly settings: Pick<Settings, 'output' | 'clobber' | 'play' | 'player'>;
  readonly tally: Tally;
  readonly delivery: Delivery;
}

/** The line that a person is left with when all of it was delivered. */
export function closing({ settings, tally, delivery }: Whole, host: Pick<Host, 'stdout'>): string {
  const { format, segments, fromCache, elapsed } = tally;
  if (!format) throw new Error('sound was delivered that nobody heard');
  return closingLine({
    name: nameOf(settings, host),
    audioSeconds: secondsOf(format, delivery.bytes),
    sampleRate: format.sampleRate,
    segments,
    fromCache,
    seconds: elapsed / 1000,
  });
}

function nameOf(settings: Whole['settings'], host: Pick<Host, 'stdout'>): string {
  const { output } = settings;
  if (output && !isStdout(output.value)) return printable(output.value);
  return !output && isPlayed(settings, host) ? 'played' : 'stdout';
}
