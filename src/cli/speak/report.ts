import { secondsOf } from '../../audio/pcm.ts';
import type { Host } from '../../host.ts';
import { printable } from '../../printable.ts';
import type { Settings } from '../../settings/resolve.ts';
import { isStdout } from '../../sink/open.ts';
import type { Delivery } from '../../sink/sink.ts';
import type { ServiceEvent } from '../../speech/connection.ts';
import { isPlayed } from '../../speech/outputs.ts';
import type { Tally } from '../../speech/totals.ts';
import type { Context } from '../context.ts';
import { isProgressWanted, type Notices } from '../terminal/notices.ts';
import { closingLine } from '../terminal/progress-line.ts';

interface Run {
  readonly settings: Settings;
  readonly tally: Tally;
}

/** What a person would like to know of a run that went well. */
export async function report(
  { settings, tally }: Run,
  delivery: Delivery | undefined,
  { host, notices }: Pick<Context, 'host' | 'notices'>,
): Promise<void> {
  if (delivery?.readerLeft) return;
  const { fromCache, segments, requests } = tally;
  const isWatched = isProgressWanted(host, notices);
  if (!delivery) notices.note(`the service sends the audio to ${settings.callbackUrl?.value.href}`);
  else if (isWatched || notices.verbose) {
    const line = closing({ settings, tally, delivery }, host);
    if (isWatched) notices.print(line);
    else notices.detail(() => line);
  } else if (fromCache > 0 && requests === 0)
    notices.note('nothing was asked for: all of it was in the cache');
  else if (fromCache > 0) notices.note(`${fromCache} of ${segments} segments came from the cache`);
}

/** What the client does, in a line for `--verbose`. */
export function describe(event: ServiceEvent): string {
  switch (event.type) {
    case 'request':
      return `POST ${event.url.href}  X-API-KEY: ***  ${event.body}`;
    case 'answer':
      return `status ${event.status} after ${Math.round(event.milliseconds)} ms`;
    case 'cache':
      return event.found === 'hit' ? 'from the cache' : 'not in the cache';
    case 'retry':
      return `${event.error.message}: another try in ${event.seconds.toFixed(1)} s`;
    case 'other take':
      return 'on retry the service sent different audio: a word may be repeated or missing; this segment is not cached';
  }
}

/** Who waits for longer than this without a word would think that nothing goes on. */
const LONG_PAUSE_SECONDS = 10;

/** Tells of a long pause where nothing else shows that the run goes on. */
export function warnOfPause(event: ServiceEvent, notices: Notices): void {
  if (event.type !== 'retry' || event.seconds < LONG_PAUSE_SECONDS || notices.verbose) return;
  notices.warn(`${event.error.message}: another try in ${Math.round(event.seconds)} s`);
}

interface Whole {
  readonly settings: Pick<Settings, 'output' | 'clobber' | 'play' | 'player'>;
  readonly tally: Tally;
  readonly delivery: Delivery;
}

/** The line that a person is left with when all of it was delivered. */
function closing({ settings, tally, delivery }: Whole, host: Pick<Host, 'stdout'>): string {
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
