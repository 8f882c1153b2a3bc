import { through } from '../../text/live.ts';
import { MarkupDecoder } from '../html/decode.ts';
import type { Archive } from './archive.ts';

/** Bytes. A larger document is unpacked each time it is read. */
const KEPT = 4 * 1024 * 1024;
/** UTF-16 units that are handed out at once. */
const SLICE = 65_536;

/**
 * Prepares a document of the book for being read several times.
 * @returns its characters, from the first one each time
 * @throws TtsError (usage) for a document that is damaged or too large
 */
export async function openDocument(
  archive: Archive,
  path: string,
  name: string,
  signal: AbortSignal,
): Promise<() => AsyncIterable<string>> {
  const characters = () => through(archive.bytes(path, signal), new MarkupDecoder(`${path} in ${name}`));
  if (archive.sizeOf(path) > KEPT) return characters;
  const parts: string[] = [];
  for await (const text of characters()) parts.push(text);
  const whole = parts.join('');
  return () => slicesOf(whole);
}

async function* slicesOf(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += SLICE) yield text.slice(at, at + SLICE);
}
