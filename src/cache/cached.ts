import { createHash } from 'node:crypto';
import { unlessAborted } from '../async.ts';
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
 * A synthesizer that asks another one only for sound that is not in the cache, and keeps sound that comes to its end. A
 * second call for the same text waits until the sound of the first is read to its end, left, or aborted.
 */
export function cached(synthesize: Synthesize, { store, keyOf, tell }: CacheUse): Synthesize {
  const making = new Map<string, Promise<void>>();
  return async (utterance, signal) => {
    const key = keyOf(utterance.text);
    for (let other = making.get(key); other; other = making.get(key)) await unlessAborted(other, signal);
    const done = claim(making, key, signal);
    try {
      const kept = await store.get(key);
      tell(kept ? 'hit' : 'miss');
      const speech = kept ?? (await synthesize(utterance, signal));
      if (speech && !kept) return { ...speech, pcm: copied(speech, store.put(key, speech.format), done) };
      done();
      return speech;
    } catch (error) {
      done();
      throw error;
    }
  };
}

/** Marks a key as taken until the signal aborts or the returned function is called. */
function claim(making: Map<string, Promise<void>>, key: string, signal: AbortSignal): () => void {
  const { promise, resolve } = resolvable();
  const done = () => {
    signal.removeEventListener('abort', done);
    if (making.get(key) === promise) making.delete(key);
    resolve();
  };
  making.set(key, promise);
  signal.addEventListener('abort', done);
  return done;
}

function resolvable() {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Hands each piece on without waiting for the disk, but reads the next only when this one is written. */
async function* copied(
  { pcm, bytes, isOneTake }: Speech,
  entry: Keeping | undefined,
  done: () => void,
): AsyncGenerator<Uint8Array> {
  let delivered = 0;
  try {
    for await (const piece of pcm) {
      const written = entry?.write(piece);
      yield piece;
      await written;
      delivered += piece.length;
    }
    const isWhole = bytes === undefined || bytes === delivered;
    // Sound that was put together of two renderings would be heard again and again.
    if (isWhole && (isOneTake?.() ?? true)) await entry?.publish();
  } finally {
    await entry?.discard();
    done();
  }
}

/** All that the sound of a segment hangs on. Whether it is streamed is no part of it: the sound is the same. */
export interface Spoken extends Pick<Voice, 'speaker' | 'sampleRate' | 'instructions'> {
  /** The address of the service, or what the engine is: the same speaker number is another voice elsewhere. */
  readonly identity: string;
}

/**
 * The name of a segment in the cache: SHA-256 as 64 hex digits. JSON keeps the parts apart, tells a part that is
 * missing from an empty one, and writes even broken UTF-16 in a way of its own.
 */
export function segmentKey({ identity, speaker, sampleRate, instructions }: Spoken, text: string): string {
  const parts = [identity, speaker, sampleRate ?? null, instructions ?? null, text];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
