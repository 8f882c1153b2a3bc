import { createHash } from 'node:crypto';
import { unlessAborted } from '../async.ts';
import type { Speech } from '../audio/pcm.ts';
import type { Synthesize, Voice } from '../client/client.ts';
import type { Keeping } from './entry-writer.ts';
import type { Store } from './store.ts';

interface CacheUse {
  readonly store: Pick<Store, 'get' | 'put'>;
  /** See {@link segmentKey}. */
  readonly keyOf: (text: string) => string;
  /** Called for each text. */
  readonly onLookup: (found: 'hit' | 'miss', index: number) => void;
}

/**
 * Asks the synthesizer only for sound that is not in the cache, and keeps complete sound. A second call for a text waits
 * until the first one has ended.
 */
export function cached(synthesize: Synthesize, { store, keyOf, onLookup }: CacheUse): Synthesize {
  const making = new Map<string, Promise<void>>();
  return async (utterance, signal) => {
    const key = keyOf(utterance.text);
    for (let other = making.get(key); other; other = making.get(key)) await unlessAborted(other, signal);
    const done = claim(making, key, signal);
    try {
      const kept = await store.get(key);
      onLookup(kept ? 'hit' : 'miss', utterance.index);
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

/** Ends when the signal aborts or the returned function is called. */
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
  const promise = new Promise<void>((settled) => {
    resolve = settled;
  });
  return { promise, resolve };
}

/** Passes each piece on before it is written, and reads the next one afterwards. */
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
    // Sound of two renderings is not kept.
    if (isWhole && (isOneTake?.() ?? true)) await entry?.publish();
  } finally {
    await entry?.discard();
    done();
  }
}

/** What shapes the sound of a segment. Streaming does not. */
export interface Spoken extends Pick<Voice, 'speaker' | 'sampleRate' | 'instructions'> {
  /** The address of the service, or the identity of the engine. */
  readonly identity: string;
}

/** SHA-256 as 64 hex digits. JSON separates the parts, and also writes broken UTF-16 unambiguously. */
export function segmentKey({ identity, speaker, sampleRate, instructions }: Spoken, text: string): string {
  const parts = [identity, speaker, sampleRate ?? null, instructions ?? null, text];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
