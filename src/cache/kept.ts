import { createHash } from 'node:crypto';
import { unlessAborted } from '../async.ts';
import type { Speech } from '../audio/pcm.ts';
import type { RequestFields, Synthesize } from '../client/attempts.ts';
import type { Claim, Claims } from './claims.ts';
import type { Keeping } from './entry-writer.ts';
import type { Store } from './store.ts';

interface CacheUse {
  readonly store: Pick<Store, 'get' | 'put'>;
  /** Of other runs. */
  readonly claims?: Pick<Claims, 'take'> | undefined;
  readonly keyOf: (text: string) => string;
  readonly onLookup: (found: 'hit' | 'miss', index: number) => void;
  readonly onKept?: (key: string) => void;
}

/** A second call for a text waits for the first. */
export function cached(
  synthesize: Synthesize,
  { store, claims, keyOf, onLookup, onKept }: CacheUse,
): Synthesize {
  const making = new Map<string, Promise<void>>();
  return async (utterance, signal) => {
    const key = keyOf(utterance.text);
    for (let other = making.get(key); other; other = making.get(key)) await unlessAborted(other, signal);
    const released = hold(making, key, signal);
    let claim: Claim | undefined;
    const done = () => {
      claim?.release();
      released();
    };
    signal.addEventListener('abort', done, { once: true });
    try {
      let kept = await store.get(key);
      if (!kept && claims) {
        claim = await claims.take(key, signal);
        kept = await store.get(key);
      }
      onLookup(kept ? 'hit' : 'miss', utterance.index);
      const speech = kept ?? (await synthesize(utterance, signal));
      if (speech && !kept)
        return {
          ...speech,
          pcm: copied(speech, store.put(key, speech.format), { done, claim, onKept: () => onKept?.(key) }),
        };
      done();
      return speech;
    } catch (error) {
      done();
      throw error;
    }
  };
}

/** Ends with the signal or the returned function. */
function hold(making: Map<string, Promise<void>>, key: string, signal: AbortSignal): () => void {
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

/** Each piece goes to the reader before it is written. */
async function* copied(
  { pcm, bytes, isOneTake }: Speech,
  entry: Keeping | undefined,
  {
    done,
    claim,
    onKept,
  }: { readonly done: () => void; readonly claim: Claim | undefined; readonly onKept: () => void },
): AsyncGenerator<Uint8Array> {
  let delivered = 0;
  try {
    for await (const piece of pcm) {
      const written = entry?.write(piece);
      yield piece;
      await written;
      claim?.touch();
      delivered += piece.length;
    }
    const isWhole = bytes === undefined || bytes === delivered;
    // Sound of two renderings is not kept.
    if (entry && isWhole && (isOneTake?.() ?? true)) {
      onKept();
      await entry.publish();
    }
  } finally {
    await entry?.discard();
    done();
  }
}

/** Streaming does not shape the sound. */
export interface Spoken extends Pick<RequestFields, 'speaker' | 'sampleRate' | 'instructions'> {
  /** The service's address, or the engine's identity. */
  readonly identity: string;
}

/** SHA-256 in hex. JSON separates the parts, and also writes broken UTF-16 unambiguously. */
export function segmentKey({ identity, speaker, sampleRate, instructions }: Spoken, text: string): string {
  const parts = [identity, speaker, sampleRate ?? null, instructions ?? null, text];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
