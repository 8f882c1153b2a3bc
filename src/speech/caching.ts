import { crc32 } from 'node:zlib';
import { cached, segmentKey } from '../cache/kept.ts';
import { Claims } from '../cache/claims.ts';
import { noteService } from '../cache/services.ts';
import { openStore, type Store } from '../cache/store.ts';
import type { Checksum, RequestFields, Synthesize } from '../client/attempts.ts';
import { noSegmentFolder, segmentFolder } from '../files/folders.ts';
import type { RunContext } from '../host.ts';

export interface Caching {
  readonly checksum: Checksum;
  around(
    synthesize: Synthesize,
    spoken: RequestFields & { readonly identity: string },
    onLookup: (found: 'hit' | 'miss', index: number) => void,
  ): Synthesize;
  close(): Promise<void>;
}

/** @returns `undefined`, after a warning, for a user without a folder */
export async function openSegments(
  maxBytes: number,
  { host, notices }: RunContext,
): Promise<Store | undefined> {
  const warn = (text: string) => notices.warnLater(text);
  const folder = segmentFolder(host);
  if (folder !== undefined) return openStore({ folder, maxBytes, uid: host.uid, warn });
  warn(`segments are not kept: ${noSegmentFolder().message}`);
  return undefined;
}

export async function openCaching(maxBytes: number, context: RunContext): Promise<Caching | undefined> {
  const store = await openSegments(maxBytes, context);
  const folder = segmentFolder(context.host);
  const claims = folder === undefined ? undefined : new Claims(folder, context.host);
  return (
    store && {
      checksum: crc32,
      around: (synthesize, spoken, onLookup) =>
        cached(synthesize, {
          store,
          claims,
          keyOf: (text) => segmentKey(spoken, text),
          onLookup,
          onKept: (key) => folder !== undefined && noteService(folder, spoken.identity, key),
        }),
      close: () => store.close(),
    }
  );
}
