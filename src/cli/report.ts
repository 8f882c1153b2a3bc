import type { Settings } from '../settings/resolve.ts';
import type { Delivery } from '../sink/sink.ts';
import type { Context } from './commands.ts';
import { isProgressWanted } from './progress/wanted.ts';
import type { Tally } from './tally.ts';

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
    const { closing } = await import('./progress/closing.ts');
    const line = closing({ settings, tally, delivery }, host);
    if (isWatched) notices.print(line);
    else notices.detail(() => line);
  } else if (fromCache > 0 && requests === 0)
    notices.note('nothing was asked for: all of it was in the cache');
  else if (fromCache > 0) notices.note(`${fromCache} of ${segments} segments came from the cache`);
}
