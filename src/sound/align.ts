/** Which moment of one sound is which moment of another that says the same words. */

/** Seconds between two frames, where moments are to be exact, and where it is enough to compare. */
export const FINE_STEP = 0.01;
export const COARSE_STEP = 0.02;
/** Seconds of the sound that a frame looks at. */
const WINDOW = 0.025;

const BANDS = 26;
const CEPSTRA = 13;
/** Each frame has its cepstra, and how they change. */
const VALUES = 2 * CEPSTRA;
/** Hz. Telephone sound has nothing above 4000, and little of speech is below. */
const LOWEST = 80;
const HIGHEST = 7600;

/** The first of the cepstra is the loudness, which differs most between voices. Measured between the built-in voices. */
const LOUDNESS_WEIGHT = 0.3;
const CHANGE_WEIGHT = 0.3;

/** Frames over which a change is measured, on each side. */
const REACH = 2;

/** Below the loudest band, in nepers of power: noise of a recording and digital silence are the same to an alignment. */
const FLOOR = 12;

/** How a sound changes: mel-frequency cepstral coefficients and their changes. */
export interface Features {
  /** Seconds between two frames. */
  readonly step: number;
  /** The number of frames. */
  readonly count: number;
  /** {@link VALUES} for each frame; each has the mean 0 over the sound. */
  readonly values: Float32Array;
  /** 1 for a frame that is no pause. */
  readonly sounding: Uint8Array;
}

/** @returns Hz up to which features of sounds of these rates can be compared */
export function comparableUpTo(...sampleRates: readonly number[]): number {
  return Math.min(HIGHEST, ...sampleRates.map((rate) => 0.475 * rate));
}

/** @returns those of the sound played backwards */
export function reversed({ values, sounding, ...features }: Features): Features {
  const backwards = new Float32Array(values.length);
  for (let from = 0, to = values.length - VALUES; to >= 0; from += VALUES, to -= VALUES)
    backwards.set(values.subarray(from, from + VALUES), to);
  return { ...features, values: backwards, sounding: sounding.toReversed() };
}

/** Takes the features of one sound, of which no samples are kept. */
export class FeatureMeter {
  readonly #step: number;
  readonly #size: number;
  /** Samples between two frames. */
  readonly #advance: number;
  readonly #window: Float64Array;
  readonly #fourier: Fourier;
  readonly #filters: readonly Filter[];
  /** Samples from the beginning of the next frame. */
  readonly #ahead: Float64Array;
  #filled = 0;
  /** Samples in front of the next frame. */
  #skip = 0;
  #passed = 0;
  #begun = 0;
  readonly #logs: number[] = [];
  readonly #powers: number[] = [];

  /**
   * @param sampleRate Hz
   * @param top from {@link comparableUpTo}
   */
  constructor(sampleRate: number, top: number, step: number = FINE_STEP) {
    this.#step = step;
    this.#size = Math.round(WINDOW * sampleRate);
    this.#advance = step * sampleRate;
    this.#window = Float64Array.from(
      { length: this.#size },
      (_, at) => 0.54 - 0.46 * Math.cos((2 * Math.PI * at) / (this.#size - 1)),
    );
    this.#fourier = new Fourier(2 ** Math.ceil(Math.log2(this.#size)));
    this.#filters = melFilters(sampleRate, this.#fourier.size, top);
    this.#ahead = new Float64Array(this.#size);
  }

  /** @param samples of one channel, from -1 to 1 */
  push(samples: Float64Array): void {
    for (let at = 0; at < samples.length; ) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, samples.length - at);
        this.#skip -= skipped;
        at += skipped;
        continue;
      }
      const taken = Math.min(this.#size - this.#filled, samples.length - at);
      this.#ahead.set(samples.subarray(at, at + taken), this.#filled);
      this.#filled += taken;
      at += taken;
      if (this.#filled === this.#size) this.#frame();
    }
  }

  #frame(): void {
    this.#measure();
    this.#begun += 1;
    const next = Math.round(this.#begun * this.#advance);
    const move = next - this.#passed;
    this.#passed = next;
    this.#ahead.copyWithin(0, Math.min(move, this.#size));
    this.#filled = Math.max(0, this.#size - move);
    this.#skip = Math.max(0, move - this.#size);
  }

  #measure(): void {
    this.#powers.push(this.#ahead.reduce((sum, sample) => sum + sample * sample, 0));
    const power = this.#fourier.power(this.#ahead, this.#window);
    for (const { first, weights } of this.#filters) {
      let sum = 0;
      for (let at = 0; at < weights.length; at += 1) sum += (weights[at] ?? 0) * (power[first + at] ?? 0);
      this.#logs.push(Math.log(sum + 1e-10));
    }
  }

  end(): Features {
    const count = this.#logs.length / BANDS;
    const values = normalised(withChanges(cepstraOf(this.#logs), count), count);
    return { step: this.#step, count, values, sounding: soundingIn(this.#powers) };
  }
}

/** Of the power of loud speech: 26 dB below it. */
const PAUSE = 0.0025;

function soundingIn(powers: readonly number[]): Uint8Array {
  const loud = powers.toSorted((a, b) => a - b)[Math.floor(0.95 * powers.length)] ?? 0;
  return Uint8Array.from(powers, (power) => (power > PAUSE * loud ? 1 : 0));
}

interface Filter {
  /** The first line of the spectrum that it lets through. */
  readonly first: number;
  readonly weights: Float64Array;
}

function melFilters(sampleRate: number, size: number, top: number): readonly Filter[] {
  const mel = (hertz: number) => 1127 * Math.log1p(hertz / 700);
  const hertz = (mels: number) => 700 * Math.expm1(mels / 1127);
  const [low, high] = [mel(LOWEST), mel(top)];
  const edges = Array.from(
    { length: BANDS + 2 },
    (_, at) => (hertz(low + ((high - low) * at) / (BANDS + 1)) * size) / sampleRate,
  );
  return Array.from({ length: BANDS }, (_, band) => {
    const [from = 0, middle = 0, to = 0] = edges.slice(band, band + 3);
    const first = Math.max(1, Math.ceil(from));
    const last = Math.max(first, Math.floor(to));
    const weights = Float64Array.from({ length: last - first + 1 }, (_, at) => {
      const line = first + at;
      return Math.max(1e-3, line < middle ? (line - from) / (middle - from) : (to - line) / (to - middle));
    });
    return { first, weights };
  });
}

function cepstraOf(logs: readonly number[]): Float32Array {
  const floor = logs.reduce((most, log) => Math.max(most, log), -Infinity) - FLOOR;
  const count = logs.length / BANDS;
  const cepstra = new Float32Array(count * CEPSTRA);
  for (let frame = 0; frame < count; frame += 1)
    for (let order = 0; order < CEPSTRA; order += 1) {
      let sum = 0;
      for (let band = 0; band < BANDS; band += 1)
        sum += Math.max(floor, logs[frame * BANDS + band] ?? 0) * (COSINES[order * BANDS + band] ?? 0);
      cepstra[frame * CEPSTRA + order] = sum;
    }
  return cepstra;
}

const COSINES = Float64Array.from({ length: CEPSTRA * BANDS }, (_, at) => {
  const [order, band] = [Math.floor(at / BANDS), at % BANDS];
  return Math.cos((Math.PI * order * (band + 0.5)) / BANDS);
});

function withChanges(cepstra: Float32Array, count: number): Float32Array {
  const values = new Float32Array(count * VALUES);
  const at = (frame: number, order: number) =>
    cepstra[Math.max(0, Math.min(count - 1, frame)) * CEPSTRA + order] ?? 0;
  for (let frame = 0; frame < count; frame += 1)
    for (let order = 0; order < CEPSTRA; order += 1) {
      let change = 0;
      for (let far = 1; far <= REACH; far += 1)
        change += far * (at(frame + far, order) - at(frame - far, order));
      values[frame * VALUES + order] = at(frame, order);
      values[frame * VALUES + CEPSTRA + order] = change;
    }
  return values;
}

/** In place. What is left is how a moment differs from the others of its voice. */
function normalised(values: Float32Array, count: number): Float32Array {
  for (let order = 0; order < VALUES; order += 1) {
    let sum = 0;
    for (let at = order; at < values.length; at += VALUES) sum += values[at] ?? 0;
    const mean = sum / count;
    const weight = (order === 0 ? LOUDNESS_WEIGHT : 1) * (order < CEPSTRA ? 1 : CHANGE_WEIGHT);
    for (let at = order; at < values.length; at += VALUES) values[at] = weight * ((values[at] ?? 0) - mean);
  }
  return values;
}

/** Spectra of real sounds, by the algorithm of Cooley and Tukey. */
class Fourier {
  /** A power of two. */
  readonly size: number;
  readonly #real: Float64Array;
  readonly #imaginary: Float64Array;
  readonly #cosines: Float64Array;
  readonly #sines: Float64Array;
  readonly #reversed: Uint32Array;

  constructor(size: number) {
    this.size = size;
    this.#real = new Float64Array(size);
    this.#imaginary = new Float64Array(size);
    this.#cosines = Float64Array.from({ length: size / 2 }, (_, at) => Math.cos((2 * Math.PI * at) / size));
    this.#sines = Float64Array.from({ length: size / 2 }, (_, at) => -Math.sin((2 * Math.PI * at) / size));
    this.#reversed = new Uint32Array(size);
    for (let at = 1; at < size; at += 1)
      this.#reversed[at] = ((this.#reversed[at >> 1] ?? 0) >> 1) | (at & 1 ? size >> 1 : 0);
  }

  /** @returns the power of each line, valid until the next call */
  power(samples: Float64Array, window: Float64Array): Float64Array {
    const [real, imaginary] = [this.#real, this.#imaginary];
    for (let at = 0; at < this.size; at += 1) {
      const from = this.#reversed[at] ?? 0;
      real[at] = from < window.length ? (samples[from] ?? 0) * (window[from] ?? 0) : 0;
      imaginary[at] = 0;
    }
    for (let half = 1; half < this.size; half *= 2) this.#butterflies(half);
    for (let at = 0; at <= this.size / 2; at += 1)
      real[at] = (real[at] ?? 0) ** 2 + (imaginary[at] ?? 0) ** 2;
    return real;
  }

  #butterflies(half: number): void {
    const [real, imaginary, cosines, sines] = [this.#real, this.#imaginary, this.#cosines, this.#sines];
    const stride = this.size / (2 * half);
    for (let start = 0; start < this.size; start += 2 * half)
      for (let at = 0; at < half; at += 1) {
        const [cosine, sine] = [cosines[at * stride] ?? 0, sines[at * stride] ?? 0];
        const [low, high] = [start + at, start + at + half];
        const re = (real[high] ?? 0) * cosine - (imaginary[high] ?? 0) * sine;
        const im = (real[high] ?? 0) * sine + (imaginary[high] ?? 0) * cosine;
        real[high] = (real[low] ?? 0) - re;
        imaginary[high] = (imaginary[low] ?? 0) - im;
        real[low] = (real[low] ?? 0) + re;
        imaginary[low] = (imaginary[low] ?? 0) + im;
      }
  }
}

/** The path may leave the straight line by this share of the longer sound, and by this number of frames in any case. */
const BAND = 0.35;
/** Seconds. */
const LEAST_BAND = 1;
/** Cells of the band, of which each takes a byte: a minute of speech, and narrower for more. */
const MOST_CELLS = 64 * 1024 * 1024;

/** What a step along one of the sounds alone costs; one along both costs {@link ALONG_BOTH}. With 1, the path lingers where voices differ. */
const ALONE = 1.3;
const ALONG_BOTH = 2;

const BOTH = 0;
const OF_FIRST = 1;
const OF_SECOND = 2;

export interface Alignment {
  /** @returns the moment of the second sound for one of the first, in seconds */
  at(seconds: number): number;
  /** @returns the moment of the first sound for one of the second, in seconds */
  back(seconds: number): number;
  /** The median distance of what was found to be the same, which a part that is missing or added changes little. */
  readonly usual: number;
  /** Seconds of the first sound that the second one seems to lack. */
  readonly missing: number;
  /** Seconds of the second sound that the first one seems to lack. */
  readonly extra: number;
}

/**
 * Dynamic time warping (Sakoe and Chiba, 1978) within a band around the straight line.
 * @returns `undefined` if one of the sounds is too short
 */
export function align(first: Features, second: Features): Alignment | undefined {
  if (first.count < 2 || second.count < 2) return undefined;
  const width = Math.min(
    second.count,
    1 +
      2 *
        Math.max(Math.round(LEAST_BAND / first.step), Math.round(BAND * Math.max(first.count, second.count))),
    Math.max(3, Math.floor(MOST_CELLS / first.count)),
  );
  const slope = (second.count - 1) / (first.count - 1);
  const lows = Int32Array.from({ length: first.count }, (_, row) =>
    Math.max(0, Math.min(second.count - width, Math.round(row * slope) - (width >> 1))),
  );
  const steps = stepsThrough(first, second, { lows, width });
  const path = pathThrough(first, second, { lows, width, steps });
  return {
    at: momentsOf(first, path),
    back: momentsOf(
      second,
      path.map(([row, column]) => [column, row]),
    ),
    usual: medianOf(path.map(([row, column]) => distance(first.values, row, second.values, column))),
    ...differences(first, second, path),
  };
}

interface Band {
  /** The first column of each row. */
  readonly lows: Int32Array;
  /** Columns of a row. */
  readonly width: number;
}

function stepsThrough(first: Features, second: Features, { lows, width }: Band): Uint8Array {
  const steps = new Uint8Array(first.count * width);
  // In front of the band and behind it there is no way.
  const room = 2 + width + Math.ceil(second.count / first.count);
  let above = new Float64Array(room).fill(Infinity);
  let sums = new Float64Array(room).fill(Infinity);
  for (let row = 0; row < first.count; row += 1) {
    const low = lows[row] ?? 0;
    const shift = row === 0 ? 0 : low - (lows[row - 1] ?? 0);
    for (let place = 1; place <= width; place += 1) {
      const cost = distance(first.values, row, second.values, low + place - 1);
      const both = row + low + place === 1 ? 0 : (above[place + shift - 1] ?? 0);
      const ofFirst = (above[place + shift] ?? 0) + ALONE * cost;
      const ofSecond = (sums[place - 1] ?? 0) + ALONE * cost;
      const best = Math.min(both + ALONG_BOTH * cost, ofFirst, ofSecond);
      sums[place] = best;
      steps[row * width + place - 1] = stepOf(best, ofFirst, ofSecond);
    }
    [above, sums] = [sums, above];
  }
  return steps;
}

function stepOf(best: number, ofFirst: number, ofSecond: number): number {
  if (best === ofFirst) return OF_FIRST;
  return best === ofSecond ? OF_SECOND : BOTH;
}

function distance(a: Float32Array, row: number, b: Float32Array, column: number): number {
  let sum = 0;
  for (let at = row * VALUES, other = column * VALUES, end = at + VALUES; at < end; at += 1, other += 1) {
    const difference = (a[at] ?? 0) - (b[other] ?? 0);
    sum += difference * difference;
  }
  return Math.sqrt(sum);
}

/** How different two frames are. */
export function distanceBetween(
  one: Pick<Features, 'values'>,
  row: number,
  other: Pick<Features, 'values'>,
  column: number,
): number {
  return distance(one.values, row, other.values, column);
}

/** Frames of both sounds that belong together, from the last to the first. */
type Path = readonly (readonly [row: number, column: number])[];

function pathThrough(
  first: Features,
  second: Features,
  { lows, width, steps }: Band & { readonly steps: Uint8Array },
): Path {
  let [row, column] = [first.count - 1, second.count - 1];
  const path: (readonly [number, number])[] = [[row, column]];
  while (row + column > 0) {
    const step = steps[row * width + column - (lows[row] ?? 0)];
    const isOfSecond = row === 0 || (step === OF_SECOND && column > 0);
    if (column > 0 && (isOfSecond || step === BOTH)) column -= 1;
    if (!isOfSecond) row -= 1;
    path.push([row, column]);
  }
  return path;
}

/** Of several frames of the other sound for one of this, the middle one counts. */
function momentsOf(first: Features, path: Path): Alignment['at'] {
  const [lows, highs] = [new Float64Array(first.count), new Float64Array(first.count).fill(-1)];
  for (const [row, column] of path) {
    lows[row] = column;
    highs[row] = Math.max(highs[row] ?? 0, column);
  }
  const middles = lows.map((low, row) => (low + (highs[row] ?? low)) / 2);
  return (seconds) => {
    const place = Math.max(0, Math.min(first.count - 1, (seconds - WINDOW / 2) / first.step));
    const [low, high] = [Math.floor(place), Math.ceil(place)];
    const [from = 0, to = 0] = [middles[low], middles[high]];
    return (from + (to - from) * (place - low)) * first.step + WINDOW / 2;
  };
}

/** Where one sound goes on at less than this share of its pace, a part of it may be missing. */
const SHARE = 0.4;

/** Seconds of a path, along one of the sounds or both, over which a pace is measured. */
const STRETCH = 0.6;
/** Seconds of sound that count for a pace. */
const LEAST_SOUND = 0.06;
/** Seconds of the second sound for one of the first. */
const SLOWEST = 2.5;

/** Pauses do not count: each voice has its own. */
function differences(first: Features, second: Features, path: Path): Pick<Alignment, 'missing' | 'extra'> {
  const { step } = first;
  const moves = path.map(([row, column], at) => {
    const [before, other] = path[at - 1] ?? [row, column];
    return [
      row === before ? 0 : step * (first.sounding[row] ?? 0),
      column === other ? 0 : step * (second.sounding[column] ?? 0),
    ] as const;
  });
  const pace = paceOf(moves, Math.round(STRETCH / step));
  let [missing, extra, lacking, adding] = [0, 0, 0, 0];
  for (const [ofFirst, ofSecond] of moves) {
    lacking = Math.max(0, lacking + SHARE * ofFirst - ofSecond / pace);
    adding = Math.max(0, adding + (SHARE * ofSecond) / pace - ofFirst);
    missing = Math.max(missing, lacking);
    extra = Math.max(extra, adding);
  }
  return { missing: missing / SHARE, extra: extra / SHARE };
}

/** @returns the median, which a part that is missing does not change */
function paceOf(moves: readonly (readonly [number, number])[], stretch: number): number {
  const paces: number[] = [];
  let [ofFirst, ofSecond] = [0, 0];
  for (const [at, [one, other]] of moves.entries()) {
    const [gone = 0, also = 0] = moves[at - stretch] ?? [];
    ofFirst += one - gone;
    ofSecond += other - also;
    if (at >= stretch && ofFirst >= LEAST_SOUND) paces.push(ofSecond / ofFirst);
  }
  return Math.min(SLOWEST, Math.max(1 / SLOWEST, medianOf(paces)));
}

/** @returns 1 for no values */
export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 1;
}
