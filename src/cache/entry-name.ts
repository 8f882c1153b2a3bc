import { crc32 } from 'node:zlib';

/** Names of the folders that entries lie in: the first byte of their keys. */
export const SHARD = /^[0-9a-f]{2}$/;
/** What is being written, or was when a run was killed. */
export const PART = /^[0-9a-f-]{36}\.part$/;
/** The rest of the key, and the checksum of the content. */
const ENTRY = /^[0-9a-f]{62}\.([0-9a-f]{8})\.wav$/;

/** In which folder an entry lies, and how its name begins there. */
export function placeOf(key: string): { readonly shard: string; readonly prefix: string } {
  return { shard: key.slice(0, 2), prefix: `${key.slice(2)}.` };
}

/** The checksum stands in the name, so that the file is a plain WAV. */
export function entryName(key: string, checksum: number): string {
  return `${placeOf(key).prefix}${checksum.toString(16).padStart(8, '0')}.wav`;
}

export function isEntryName(name: string): boolean {
  return ENTRY.test(name);
}

/** What an entry begun for a key starts its checksum with: sound under a key that is not its own is damaged, too. */
export function checksumSeed(key: string): number {
  return crc32(key);
}
