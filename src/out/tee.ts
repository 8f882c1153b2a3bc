import type { Track } from '../sound/pcm.ts';
import type { Sink } from './sink.ts';

/**
 * Writes one track to an output and to a follower, such as a player. If the follower fails, its error is in the delivery.
 * @throws TtsError of the output, which stops the follower
 */
export function tee(output: Sink, follower: Sink): Sink {
  return {
    isLive: output.isLive || follower.isLive,
    ...(follower.played && { played: follower.played }),
    pause: (isPaused) => follower.pause?.(isPaused),
    async write(track, signal) {
      const [kept, heard] = fork(track);
      const over = new AbortController();
      const hearing = follower.write(heard.track, AbortSignal.any([signal, over.signal]));
      const listening = Promise.allSettled([hearing.finally(heard.leave)]);
      try {
        const delivery = await output.write(kept.track, signal).finally(kept.leave);
        if (delivery.readerLeft) return delivery;
        return await hearing.then(
          () => delivery,
          (failure) => ({ ...delivery, failure }),
        );
      } finally {
        over.abort(new Error('the output is done'));
        await listening;
      }
    },
    async discard() {
      await Promise.allSettled([output.discard(), follower.discard()]);
    },
  };
}

/** One reader's side of a forked track. */
export interface Branch {
  readonly track: Track;
  readonly leave: () => Promise<void>;
}

type Next = IteratorResult<Uint8Array, undefined>;
type Resolve = (next: Next | Promise<Next>) => void;

const DONE: Next = { done: true, value: undefined };

/** Splits a track for two readers. The next piece is read when both have taken the last one, or one has left. */
export function fork(track: Track): readonly [Branch, Branch] {
  const source = track.pcm[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, undefined>;
  const readers = new Map<symbol, Resolve | undefined>();
  const advance = () => {
    if ([...readers.values()].includes(undefined)) return;
    const next = source.next();
    for (const [reader, resolve] of readers) {
      readers.set(reader, undefined);
      resolve?.(next);
    }
  };
  const branch = (): Branch => {
    const reader = Symbol();
    readers.set(reader, undefined);
    const leave = async () => {
      readers.get(reader)?.(DONE);
      if (!readers.delete(reader)) return;
      if (readers.size > 0) advance();
      else await source.return?.();
    };
    const next = () =>
      new Promise<Next>((resolve) => {
        if (!readers.has(reader)) return resolve(DONE);
        readers.set(reader, resolve);
        advance();
      });
    const pcm: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({ next, return: () => leave().then(() => DONE) }),
    };
    return { track: { ...track, pcm }, leave };
  };
  return [branch(), branch()];
}
