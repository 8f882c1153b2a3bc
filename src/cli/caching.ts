import { cached } from '../cache/cached.ts';
import { segmentKey } from '../cache/key.ts';
import { openStore } from '../cache/store.ts';
import { segmentFolder } from '../settings/folders.ts';
import type { Settings } from '../settings/resolve.ts';
import type { Context } from './commands.ts';
import type { Caching } from './connect.ts';

/** The segment cache as the settings want it; `undefined`, after a warning, where there is no place for it. */
export async function openCaching(
  settings: Settings,
  { host, notices }: Context,
): Promise<Caching | undefined> {
  const store = await openStore({
    folder: segmentFolder(host),
    maxBytes: settings.cacheSize.value,
    warn: (text) => notices.warn(text),
  });
  return (
    store && {
      around: (synthesize, spoken, tell) =>
        cached(synthesize, {
          store,
          keyOf: (text) => segmentKey(spoken, text),
          tell: (found) => tell({ type: 'cache', found }),
        }),
      close: () => store.close(),
    }
  );
}
