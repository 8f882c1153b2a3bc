import type { Settings } from '../settings/resolve.ts';
import type { Delivery } from '../sink/sink.ts';
import type { Context } from './commands.ts';
import type { Progress } from './progress.ts';
import { withoutSecrets } from './shown-value.ts';
import type { Tally } from './tally.ts';

interface Run {
  readonly settings: Settings;
  readonly tally: Tally;
  /** Set where a person saw it go on. */
  readonly progress: Progress | undefined;
}

/** What a person would like to know of a run that went well. */
export async function report(
  { settings, tally, progress }: Run,
  delivery: Delivery | undefined,
  { host, notices }: Pick<Context, 'host' | 'notices'>,
): Promise<void> {
  if (delivery?.readerLeft) return;
  const { fromCache, segments, requests } = tally;
  if (!delivery)
    notices.note(
      `the service sends the audio to ${settings.callbackUrl && withoutSecrets(settings.callbackUrl.value)}`,
    );
  else if (progress || notices.verbose) {
    const { closing } = await import('./progress-closing.ts');
    const line = closing({ settings, tally, delivery }, host);
    if (progress) notices.print(line);
    else notices.detail(() => line);
  } else if (fromCache > 0 && requests === 0)
    notices.note('nothing was asked for: all of it was in the cache');
  else if (fromCache > 0) notices.note(`${fromCache} of ${segments} segments came from the cache`);
}
