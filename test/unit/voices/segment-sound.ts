import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PcmFormat, Speech } from '../../../src/sound/pcm.ts';
import type { Store } from '../../../src/voices/cache-store.ts';
import { collect, inPieces } from '../sound/body.ts';
import { speechFormat } from '../sound/wav-builder.ts';

export const uid = process.geteuid?.();

export function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function speechOf(pcm: Uint8Array, { format = speechFormat, pieces = 1000 } = {}): Speech {
  return { format, bytes: undefined, pcm: inPieces(pcm, pieces) };
}

/** Writes an entry, whole. */
export async function keep(
  store: Store,
  key: string,
  pcm: Uint8Array,
  format: PcmFormat = speechFormat,
): Promise<void> {
  const draft = store.put({ key, format, owner: '' });
  for await (const piece of inPieces(pcm, 1000)) await draft?.write(piece);
  await draft?.publish();
}

/** The sound of an entry; `undefined` for a miss. */
export async function heard(store: Store, key: string): Promise<Buffer | undefined> {
  const speech = await store.get(key);
  return speech && collect(speech.pcm);
}

/** Paths of all files below a folder that match. */
export function filesBelow(folder: string, pattern: RegExp): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name))
    .sort();
}
