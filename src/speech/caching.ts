import { crc32 } from 'node:zlib';
import { cached, segmentKey } from '../cache/cached.ts';
import { openStore, type Store } from '../cache/store.ts';
import { noSegmentFolder, segmentFolder } from '../files/folders.ts';
import type { RunContext } from '../host.ts';
import type { Settings } from '../settings/resolve.ts';
import type { Caching } from './connection.ts';

/** The segment cache as the settings want it; `undefined`, after a warning, where there is no place for it. */
export async function openSegments(
  { cacheSize }: Pick<Settings, 'cacheSize'>,
  { host, notices }: RunContext,
): Promise<Store | undefined> {
  const warn = (text: string) => notices.doubt(text);
  const folder = segmentFolder(host);
  if (folder !== undefined) return openStore({ folder, maxBytes: cacheSize.value, uid: host.uid, warn });
  warn(`segments are not kept: ${noSegmentFolder().message}`);
  return undefined;
}

/** What puts it around a client. */
export async function openCaching(settings: Settings, context: RunContext): Promise<Caching | undefined> {
  const store = await openSegments(settings, context);
  return (
    store && {
      checksum: crc32,
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
