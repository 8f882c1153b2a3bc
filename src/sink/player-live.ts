import type { Writable } from 'node:stream';
import { unlessAborted } from '../aborted.ts';
import { overheadBytes } from '../audio/wav-header.ts';
import type { TtsError } from '../error.ts';
import type { PlayerProcess } from './player-process.ts';
import type { Sink } from './sink.ts';
import { pour } from './stream.ts';

export interface LiveSink extends Sink {
  /** Resolves when the player has ended, with the error where it failed. */
  readonly ended: Promise<TtsError | undefined>;
  /** The same, where it has failed by now. */
  readonly failure: TtsError | undefined;
}

/** For a reader that does not leave. */
export const NEVER = new Promise<void>(() => {});

/**
 * Sound on its way to a player that is running. One that is closed before the end is a reader that leaves, and one
 * that fails is an error, also while the sound is still being made.
 */
export function liveSink(player: PlayerProcess, input: Writable): LiveSink {
  // What goes wrong while nothing is written shows when something is.
  input.on('error', () => {});
  const stop = async () => {
    input.destroy();
    await player.stop();
  };
  return {
    isLive: true,
    ended: player.ended,
    left: player.ended.then((failure) => (failure ? NEVER : undefined)),
    get failure() {
      return player.failure;
    },
    async write(speech, signal) {
      const poured = { bytes: 0, isAll: false };
      const pouring = pour(speech, input, { name: player.name, signal, poured });
      // When the player ends first, it does not matter any more what becomes of this.
      pouring.catch(() => {});
      try {
        await unlessAborted(Promise.race([pouring, player.ended]), signal);
        const failure = await unlessAborted(player.ended, signal);
        if (failure) throw failure;
        // One that knows the length from the header does not wait for the end of the stream.
        const overhead = overheadBytes(speech.format, speech.bytes);
        return {
          player: player.program,
          bytes: poured.bytes,
          overheadBytes: overhead,
          readerLeft: !poured.isAll,
        };
      } catch (error) {
        // What has come of a sound that breaks off is heard to its end.
        await unlessAborted(player.ended, signal);
        throw error;
      } finally {
        await stop();
      }
    },
    discard: stop,
  };
}
