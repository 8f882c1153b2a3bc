import { fork } from '../audio/fork.ts';
import type { Sink } from './sink.ts';

/**
 * Sends one sound to an output that must succeed and, at the same time, to a listener that may fail. Both keep step. When
 * the listener leaves or fails, the output gets all of it all the same. What the listener fails of is told by the delivery.
 * @throws TtsError of the output, which stops the listener at once
 */
export function tee(output: Sink, listener: Sink): Sink {
  return {
    isLive: output.isLive || listener.isLive,
    async write(speech, signal) {
      const [kept, heard] = fork(speech);
      const over = new AbortController();
      const hearing = listener.write(heard.speech, AbortSignal.any([signal, over.signal]));
      const listening = Promise.allSettled([hearing.finally(heard.leave)]);
      try {
        const delivery = await output.write(kept.speech, signal).finally(kept.leave);
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
      await Promise.allSettled([output.discard(), listener.discard()]);
    },
  };
}
