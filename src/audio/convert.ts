import { setImmediate as turn } from 'node:timers/promises';
import type { Resampler } from './resampler.ts';
import { toFloat, toInt16 } from './samples.ts';

/** Frames. One step takes some milliseconds. */
const STEP = 16_384;

/** Converts to another rate in steps: between them, others have their turn and the signal counts. */
export class Converter {
  readonly #resampler: Resampler | undefined;
  readonly #signal: AbortSignal;
  #isFree = false;

  /** @param resampler missing if the rate stays */
  constructor(resampler: Resampler | undefined, signal: AbortSignal) {
    this.#resampler = resampler;
    this.#signal = signal;
  }

  async *push(samples: Int16Array): AsyncGenerator<Int16Array> {
    if (!this.#resampler) return yield samples;
    for (let start = 0; start < samples.length; start += STEP) {
      await turn();
      this.#signal.throwIfAborted();
      yield toInt16(this.#resampler.push(toFloat(samples.subarray(start, start + STEP))));
    }
  }

  end(): Int16Array {
    if (!this.#resampler) return new Int16Array();
    this.#isFree = true;
    return toInt16(this.#resampler.end());
  }

  free(): void {
    if (!this.#isFree) this.#resampler?.free();
    this.#isFree = true;
  }
}
