import { createHash } from 'node:crypto';
import { releasing, unlessAborted } from '../async.ts';
import type { Speech } from '../audio/pcm.ts';
import type { Synthesize, Voice } from '../client/client.ts';
import type { Keeping } from './entry-writer.ts';
import type { Store } from './store.ts';

interface CacheUse {
  readonly store: Pick<Store, 'get' | 'put'>;
  /** The key of a text: see {@link segmentKey}. */
  readonly keyOf: (text: string) => string;
  /** Hears of each text whether its sound was there. */
  readonly tell: (found: 'hit' | 'miss') => void;
}

/**
 * A synthesizer that asks another one only for what is not in the cache, and keeps what comes to its proper end. A text
 * that is being made is not made a second time beside it: the second call waits until the sound of the first was read
 * to its end or was left, which its reader has to see to.
 */
export function cached(synthesize: Synthesize, { store, keyOf, tell }: CacheUse): Synthesize {
  const making = new Map<string, Promise<void>>();
  return async (utterance, signal) => {
    const key = keyOf(utterance.text);
    for (let other = making.get(key); other; other = making.get(key)) await unlessAborted(other, signal);
    const done = claim(making, key);
    try {
      const kept = await store.get(key);
      tell(kept ? 'hit' : 'miss');
      const speech = kept ?? (await synthesize(utterance, signal));
      if (speech && !kept) return withEntry(speech, store.put(key, speech.format), done);
      done();
      return speech;
    } catch (error) {
      done();
      throw error;
    }
  };
}

/** Marks a key as taken until the function that is returned is called. */
function claim(making: Map<string, Promise<void>>, key: string): () => void {
  let settle = () => {};
  making.set(
    key,
    new Promise((resolve) => {
      settle = resolve;
    }),
  );
  return () => {
    making.delete(key);
    settle();
  };
}

/** The same sound, which is kept when it was read to its end. */
function withEntry(speech: Speech, entry: Keeping | undefined, done: () => void): Speech {
  const release = async () => {
    try {
      await speech.pcm[Symbol.asyncIterator]().return?.();
    } finally {
      await entry?.discard();
      done();
    }
  };
  return { ...speech, pcm: releasing(copied(speech, entry), release) };
}

/** Hands each piece on without waiting for the disk, but reads the next only when this one is written. */
async function* copied(
  { pcm, bytes, isOneTake }: Speech,
  entry: Keeping | undefined,
): AsyncGenerator<Uint8Array> {
  let delivered = 0;
  for await (const piece of pcm) {
    const written = entry?.write(piece);
    yield piece;
    await written;
    delivered += piece.length;
  }
  const isWhole = bytes === undefined || bytes === delivered;
  // What is kept is heard again and again: no sound that was put together of two.
  if (isWhole && (isOneTake?.() ?? true)) await entry?.publish();
}

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
