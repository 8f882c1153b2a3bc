/** A filter of second order. */
interface Biquad {
  readonly b: readonly [number, number, number];
  readonly a: readonly [number, number];
}

/** The two filters of ITU-R BS.1770, which stand for the head and for how the ear weighs frequencies. */
function kWeighting(sampleRate: number): readonly [Biquad, Biquad] {
  const shelf = (frequency: number, gain: number, q: number): Biquad => {
    const k = Math.tan((Math.PI * frequency) / sampleRate);
    const high = 10 ** (gain / 20);
    const band = high ** 0.4996667741545416;
    const norm = 1 + k / q + k * k;
    return {
      b: [
        (high + (band * k) / q + k * k) / norm,
        (2 * (k * k - high)) / norm,
        (high - (band * k) / q + k * k) / norm,
      ],
      a: [(2 * (k * k - 1)) / norm, (1 - k / q + k * k) / norm],
    };
  };
  const pass = (frequency: number, q: number): Biquad => {
    const k = Math.tan((Math.PI * frequency) / sampleRate);
    const norm = 1 + k / q + k * k;
    return { b: [1, -2, 1], a: [(2 * (k * k - 1)) / norm, (1 - k / q + k * k) / norm] };
  };
  return [
    shelf(1681.974450955533, 3.999843853973347, 0.7071752369554196),
    pass(38.13547087602444, 0.5003270373238773),
  ];
}

/** Steps of 100 ms; a block has four of them. */
const STEPS_PER_SECOND = 10;
const STEPS_PER_BLOCK = 4;

/** LUFS. Quieter blocks are silence. */
const SILENCE = -70;

/** LU. Blocks that are quieter than the mean by this much are pauses. */
const RELATIVE_GATE = 10;

const OFFSET = -0.691;

/** Measures the loudness of a sound by ITU-R BS.1770-4. Memory grows by 80 bytes a second. */
export class LoudnessMeter {
  readonly #filters: readonly (readonly [Filter, Filter])[];
  readonly #stepFrames: number;
  /** The power of each step, summed over the channels. */
  readonly #steps: number[] = [];
  #power = 0;
  #frames = 0;

  constructor(sampleRate: number, channels: number) {
    const [shelf, pass] = kWeighting(sampleRate);
    this.#filters = Array.from({ length: channels }, () => [new Filter(shelf), new Filter(pass)] as const);
    this.#stepFrames = Math.round(sampleRate / STEPS_PER_SECOND);
  }

  /** @param samples from -1 to 1, interleaved */
  push(samples: Float32Array): void {
    const channels = this.#filters.length;
    for (let at = 0; at < samples.length; at += channels) {
      for (let channel = 0; channel < channels; channel += 1) {
        const [shelf, pass] = this.#filters[channel] as readonly [Filter, Filter];
        const weighted = pass.push(shelf.push(samples[at + channel] ?? 0));
        this.#power += weighted * weighted;
      }
      this.#frames += 1;
      if (this.#frames < this.#stepFrames) continue;
      this.#steps.push(this.#power / this.#frames);
      [this.#power, this.#frames] = [0, 0];
    }
  }

  /** LUFS of all that was pushed; `undefined` for silence. A sound that is shorter than a block counts as a whole. */
  get integrated(): number | undefined {
    const steps = this.#steps.length >= STEPS_PER_BLOCK ? this.#steps : this.#withRest();
    const size = Math.min(STEPS_PER_BLOCK, steps.length);
    const blocks: number[] = [];
    for (let at = 0; at + size <= steps.length && size > 0; at += 1)
      blocks.push(mean(steps.slice(at, at + size)));
    const loud = blocks.filter((power) => lufs(power) > SILENCE);
    if (loud.length === 0) return undefined;
    const gate = lufs(mean(loud)) - RELATIVE_GATE;
    return lufs(mean(loud.filter((power) => lufs(power) > gate)));
  }

  #withRest(): number[] {
    return this.#frames === 0 ? this.#steps : [...this.#steps, this.#power / this.#frames];
  }
}

class Filter {
  readonly #biquad: Biquad;
  #first = 0;
  #second = 0;

  constructor(biquad: Biquad) {
    this.#biquad = biquad;
  }

  push(sample: number): number {
    const { a, b } = this.#biquad;
    const out = b[0] * sample + this.#first;
    this.#first = b[1] * sample - a[0] * out + this.#second;
    this.#second = b[2] * sample - a[1] * out;
    return out;
  }
}

function lufs(power: number): number {
  return OFFSET + 10 * Math.log10(power);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
