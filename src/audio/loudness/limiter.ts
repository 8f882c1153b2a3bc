/** The highest true peak: -1 dB of full scale, less what the estimate of peaks between samples may miss. */
const CEILING = 10 ** (-1.2 / 20);

/** Seconds before and after a peak in which the gain changes. */
const REACH_SECONDS = 0.005;

/** Samples on each side that count for the sound between two samples. */
const TAPS = 6;

/** Positions between two samples at which peaks are looked for. */
const BETWEEN = [0.25, 0.5, 0.75];

/** No peak between samples is higher than the highest sample by more than this, in speech. */
const MOST_BETWEEN = 2;

const KERNELS = BETWEEN.map((position) =>
  Float64Array.from({ length: 2 * TAPS }, (_, at) => {
    const distance = at - TAPS + 1 - position;
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / (TAPS + 1));
    return (Math.sin(Math.PI * distance) / (Math.PI * distance)) * window;
  }),
);

/** Turns a sound down around its peaks, and leaves it alone elsewhere. It holds some milliseconds back. */
export class Limiter {
  readonly #channels: number;
  readonly #reach: number;
  #held: Float32Array;
  /** The held frames that have left already. They only count for the peaks and gains of the next ones. */
  #left = 0;

  constructor(sampleRate: number, channels: number) {
    this.#channels = channels;
    this.#reach = Math.ceil(sampleRate * REACH_SECONDS);
    this.#held = new Float32Array();
  }

  /** @param samples interleaved, of whole frames */
  push(samples: Float32Array): Float32Array {
    const joined = new Float32Array(this.#held.length + samples.length);
    joined.set(this.#held);
    joined.set(samples, this.#held.length);
    this.#held = joined;
    return this.#release(this.#margin);
  }

  end(): Float32Array {
    return this.#release(0);
  }

  /** Frames whose gain the next ones may still change. */
  get #margin(): number {
    return 2 * this.#reach + TAPS;
  }

  /** @param kept frames at the end that stay */
  #release(kept: number): Float32Array {
    const channels = this.#channels;
    const frames = this.#held.length / channels;
    const end = Math.max(this.#left, frames - kept);
    const gains = this.#gains(frames);
    const out = this.#held.slice(this.#left * channels, end * channels);
    if (gains)
      for (let at = 0; at < out.length; at += 1)
        out[at] = (out[at] ?? 0) * (gains[this.#left + Math.floor(at / channels)] ?? 1);
    const first = Math.max(0, end - this.#margin);
    this.#held = this.#held.slice(first * channels);
    this.#left = end - first;
    return out;
  }

  /** @returns `undefined` where no peak is too high */
  #gains(frames: number): Float32Array | undefined {
    const wanted = this.#wanted(frames);
    if (!wanted) return undefined;
    // The lowest gain within reach, and then its mean: it falls before a peak, and is low enough on it.
    const lowest = overWindow(wanted, this.#reach, (values) => Math.min(...values));
    return overWindow(
      lowest,
      this.#reach,
      (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
    );
  }

  #wanted(frames: number): Float32Array | undefined {
    let gains: Float32Array | undefined;
    for (let frame = 0; frame < frames; frame += 1) {
      const peak = this.#peakAt(frame, frames);
      if (peak <= CEILING) continue;
      gains ??= new Float32Array(frames).fill(1);
      for (const each of [frame, frame + 1])
        if (each < frames) gains[each] = Math.min(gains[each] ?? 1, CEILING / peak);
    }
    return gains;
  }

  /** @returns the highest value at a frame, and between it and the next one */
  #peakAt(frame: number, frames: number): number {
    const channels = this.#channels;
    let peak = 0;
    for (let channel = 0; channel < channels; channel += 1) {
      const sample = (at: number) =>
        at < 0 || at >= frames ? 0 : (this.#held[at * channels + channel] ?? 0);
      const here = Math.max(Math.abs(sample(frame)), Math.abs(sample(frame + 1)));
      peak = Math.max(peak, Math.abs(sample(frame)));
      if (here * MOST_BETWEEN <= CEILING) continue;
      for (const kernel of KERNELS) {
        let value = 0;
        for (let tap = 0; tap < kernel.length; tap += 1)
          value += (kernel[tap] ?? 0) * sample(frame + tap - TAPS + 1);
        peak = Math.max(peak, Math.abs(value));
      }
    }
    return peak;
  }
}

/** Works only around values below 1: elsewhere all of a window is 1, and so is its result. */
function overWindow(
  values: Float32Array,
  reach: number,
  combine: (window: Float32Array) => number,
): Float32Array {
  const result = new Float32Array(values.length).fill(1);
  let done = 0;
  for (let at = 0; at < values.length; at += 1) {
    if ((values[at] ?? 1) >= 1) continue;
    for (let near = Math.max(done, at - reach); near <= Math.min(values.length - 1, at + reach); near += 1) {
      result[near] = combine(values.subarray(Math.max(0, near - reach), near + reach + 1));
      done = near + 1;
    }
  }
  return result;
}
