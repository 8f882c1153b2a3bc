import { createHash } from 'node:crypto';
import type { Voice } from '../client/body.ts';

/** All that the sound of a segment hangs on. Whether it is streamed is no part of it: the sound is the same. */
export interface Spoken extends Pick<Voice, 'speaker' | 'sampleRate' | 'instructions'> {
  /** The address that is asked; the same speaker number is somebody else elsewhere. */
  readonly url: URL;
}

/**
 * The name of a segment in the cache: SHA-256 as 64 hex digits. JSON keeps the parts apart, tells a part that is
 * missing from an empty one, and writes even broken UTF-16 in a way of its own.
 */
export function segmentKey({ url, speaker, sampleRate, instructions }: Spoken, text: string): string {
  const parts = [url.href, speaker, sampleRate ?? null, instructions ?? null, text];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
