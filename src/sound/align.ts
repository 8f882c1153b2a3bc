/** Aligns two sounds that say the same words: which moment of one matches which moment of the other. */
import FFT from 'fft.js';

/** Seconds between two frames: for exact moments, and for a comparison only. */
export const FINE_STEP = 0.01;
export const COARSE_STEP = 0.02;
/** Seconds of sound that one frame covers. */
const WINDOW = 0.025;

const BANDS = 26;
const CEPSTRA = 13;
/** Values per frame: its cepstra and their changes. */
const VALUES = 2 * CEPSTRA;
/** Hz. Telephone sound has nothing above 4000, and speech has little below 80. */
const LOWEST = 80;
const HIGHEST = 7600;

/** The first cepstrum is the loudness, which differs most between voices. Measured with the built-in voices. */
const LOUDNESS_WEIGHT = 0.3;
const CHANGE_WEIGHT = 0.3;

/** Frames on each side over which a change is measured. */
const REACH = 2;

/** Nepers of power below the loudest band. Quieter is cut off here, so recorded noise and digital silence align alike. */
const FLOOR = 12;

/** How a sound changes over time: mel-frequency cepstral coefficients and their changes. */
export interface Features {
  /** Seconds between two frames. */
  readonly step: number;
  /** The number of frames. */
  readonly count: number;
  /** {@link VALUES} per frame; each value has the mean 0 over the sound. */
  readonly values: Float32Array;
  /** 1 for a frame with sound, 0 for a pause. */
  readonly sounding: Uint8Array;
}

/** @returns the highest Hz that the features of sounds with these rates have in common */
export function comparableUpTo(...sampleRates: readonly number[]): number {
  return Math.min(HIGHEST, ...sampleRates.map((rate) => 0.475 * rate));
}

/** @returns the features of the sound played backwards */
export function reversed({ values, sounding, ...features }: Features): Features {
  const backwards = new Float32Array(values.length);
  for (let from = 0, to = values.length - VALUES; to >= 0; from += VALUES, to -= VALUES)
    backwards.set(values.subarray(from, from + VALUES), to);
  return { ...features, values: backwards, sounding: sounding.toReversed() };
}

/** Computes the features of one sound as it comes, without keeping its samples. */
export class FeatureMeter {
  readonly #step: number;
  readonly #size: number;
  /** Samples between two frames. */
  readonly #advance: number;
  readonly #window: Float64Array;
  readonly #fourier: FFT;
  /** A windowed frame, padded with zeros to a power of two. */
  readonly #windowed: Float64Array;
  /** The real and the imaginary part of each spectral line, alternating. */
  readonly #spectrum: number[];
  readonly #filters: readonly Filter[];
  /** Samples collected for the next frame. */
  readonly #ahead: Float64Array;
  #filled = 0;
  /** Samples to skip before the next frame. */
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
    this.#fourier = new FFT(2 ** Math.ceil(Math.log2(this.#size)));
    this.#windowed = new Float64Array(this.#fourier.size);
    this.#spectrum = this.#fourier.createComplexArray();
    this.#filters = melFilters(sampleRate, this.#fourier.size, top);
    this.#ahead = new Float64Array(this.#size);
  }

  /** @param samples of one channel, from -1 to 1 */
  push(samples: Float32Array | Float64Array): void {
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
    for (let at = 0; at < this.#size; at += 1)
      this.#windowed[at] = (this.#ahead[at] ?? 0) * (this.#window[at] ?? 0);
    this.#fourier.realTransform(this.#spectrum, this.#windowed);
    for (const { first, weights } of this.#filters) {
      let sum = 0;
      for (let at = 0; at < weights.length; at += 1) sum += (weights[at] ?? 0) * this.#powerOf(first + at);
      this.#logs.push(Math.log(sum + 1e-10));
    }
  }

  #powerOf(line: number): number {
    return (this.#spectrum[2 * line] ?? 0) ** 2 + (this.#spectrum[2 * line + 1] ?? 0) ** 2;
  }

  end(): Features {
    const count = this.#logs.length / BANDS;
    const values = normalised(withChanges(cepstraOf(this.#logs), count), count);
    return { step: this.#step, count, values, sounding: soundingIn(this.#powers) };
  }
}

/** A pause has less than this share of the power of loud speech: 26 dB below it. */
const PAUSE = 0.0025;

function soundingIn(powers: readonly number[]): Uint8Array {
  const loud = powers.toSorted((a, b) => a - b)[Math.floor(0.95 * powers.length)] ?? 0;
  return Uint8Array.from(powers, (power) => (power > PAUSE * loud ? 1 : 0));
}

interface Filter {
  /** The first spectral line that the filter passes. */
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

/** Changes the values in place, so that they say how a moment differs from the others of its voice. */
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

/** The path may leave the straight line by this share of the longer sound, and always by {@link LEAST_BAND}. */
const BAND = 0.35;
/** Seconds. */
const LEAST_BAND = 1;
/**
 * Pairs of frames: two sounds of 20 s in coarse steps. Above it, the band follows the path found with half as many frames.
 */
const MOST_PAIRS = 2 ** 20;
/** Frames on each side of that coarser path. */
const BESIDE = 64;

/**
 * The cost of a step along one sound only; along both, {@link ALONG_BOTH}. With 1, the path lingers where voices differ.
 */
export const ALONG_ONE = 1.3;
export const ALONG_BOTH = 2;

const BOTH = 0;
const OF_FIRST = 1;
const OF_SECOND = 2;

export interface Alignment {
  /** @returns the second in the second sound that matches this one of the first */
  at(seconds: number): number;
  /** @returns the second in the first sound that matches this one of the second */
  back(seconds: number): number;
  /** The median distance between matched frames. A missing or added part hardly changes it. */
  readonly medianDistance: number;
  /** Seconds of the first sound that the second one seems to lack. */
  readonly missing: number;
  /** Seconds of the second sound that the first one seems to lack. */
  readonly extra: number;
}

/** @returns `undefined` if one of the sounds has fewer than two frames */
export function align(first: Features, second: Features): Alignment | undefined {
  if (first.count < 2 || second.count < 2) return undefined;
  const path = pathBetween(first, second);
  return {
    at: momentsOf(first, path),
    back: momentsOf(
      second,
      path.map(([row, column]) => [column, row]),
    ),
    medianDistance: medianOf(path.map(([row, column]) => distance(first.values, row, second.values, column))),
    ...differences(first, second, path),
  };
}

type Frames = Pick<Features, 'step' | 'count' | 'values'>;

/** Dynamic time warping within a band (Sakoe and Chiba, 1978), from coarse to fine (Salvador and Chan, 2007). */
function pathBetween(first: Frames, second: Frames): Path {
  const isShort = first.count * second.count <= MOST_PAIRS;
  const band = isShort
    ? bandAlong(first, second)
    : bandAround(pathBetween(halved(first), halved(second)), first.count, second.count);
  return pathThrough(first, second, band);
}

/** Merges each two frames into their mean. */
function halved({ step, count, values }: Frames): Frames {
  const half = Math.ceil(count / 2);
  const means = new Float32Array(half * VALUES);
  for (let at = 0; at < means.length; at += 1) {
    const from = 2 * at - (at % VALUES);
    const one = values[from] ?? 0;
    means[at] = (one + (values[from + VALUES] ?? one)) / 2;
  }
  return { step: 2 * step, count: half, values: means };
}

/** The places that a path may pass. From row to row, neither border moves back. */
interface Band {
  /** The first column of each row. */
  readonly lows: Int32Array;
  /** The column after the last one of each row. */
  readonly ends: Int32Array;
}

/** Returns the band around the straight line. */
function bandAlong({ step, count: rows }: Frames, { count: columns }: Frames): Band {
  const side = Math.max(Math.round(LEAST_BAND / step), Math.round(BAND * Math.max(rows, columns)));
  const width = Math.min(columns, 1 + 2 * side);
  const slope = (columns - 1) / (rows - 1);
  const lows = Int32Array.from({ length: rows }, (_, row) =>
    Math.max(0, Math.min(columns - width, Math.round(row * slope) - (width >> 1))),
  );
  return { lows, ends: lows.map((low) => low + width) };
}

/** Returns the band around a path that has half as many rows and columns. */
function bandAround(path: Path, rows: number, columns: number): Band {
  const { lows, highs } = columnsOf(path, Math.ceil(rows / 2));
  const near = (row: number) => Math.max(0, Math.min(lows.length - 1, row >> 1));
  return {
    lows: Int32Array.from({ length: rows }, (_, row) =>
      Math.max(0, 2 * (lows[near(row - BESIDE)] ?? 0) - BESIDE),
    ),
    ends: Int32Array.from({ length: rows }, (_, row) =>
      Math.min(columns, 2 * (highs[near(row + BESIDE)] ?? 0) + 2 + BESIDE),
    ),
  };
}

/** Returns the cheapest last step to each place of the band, row by row. */
function stepsThrough(first: Frames, second: Frames, { lows, ends }: Band): readonly Uint8Array[] {
  const steps: Uint8Array[] = [];
  // The costs of two rows, shifted by one place for the column before the first. Outside the band they are infinite.
  let above = new Float64Array(second.count + 1).fill(Infinity);
  let sums = new Float64Array(second.count + 1).fill(Infinity);
  for (let row = 0; row < first.count; row += 1) {
    const [low = 0, end = 0] = [lows[row], ends[row]];
    const ofRow = new Uint8Array(end - low);
    sums[low] = Infinity;
    for (let column = low; column < end; column += 1) {
      const cost = distance(first.values, row, second.values, column);
      const both = row + column === 0 ? 0 : (above[column] ?? 0);
      const ofFirst = (above[column + 1] ?? 0) + ALONG_ONE * cost;
      const ofSecond = (sums[column] ?? 0) + ALONG_ONE * cost;
      const best = Math.min(both + ALONG_BOTH * cost, ofFirst, ofSecond);
      sums[column + 1] = best;
      ofRow[column - low] = stepOf(best, ofFirst, ofSecond);
    }
    steps.push(ofRow);
    [above, sums] = [sums, above];
  }
  return steps;
}

function stepOf(best: number, ofFirst: number, ofSecond: number): number {
  if (best === ofFirst) return OF_FIRST;
  return best === ofSecond ? OF_SECOND : BOTH;
}

/** Returns the Euclidean distance between the frame `row` of `a` and the frame `column` of `b`. */
export function distance(a: Float32Array, row: number, b: Float32Array, column: number): number {
  let sum = 0;
  for (let at = row * VALUES, other = column * VALUES, end = at + VALUES; at < end; at += 1, other += 1) {
    const difference = (a[at] ?? 0) - (b[other] ?? 0);
    sum += difference * difference;
  }
  return Math.sqrt(sum);
}

/** Pairs of matched frames, from the last to the first. */
type Path = readonly (readonly [row: number, column: number])[];

function pathThrough(first: Frames, second: Frames, band: Band): Path {
  const steps = stepsThrough(first, second, band);
  let [row, column] = [first.count - 1, second.count - 1];
  const path: (readonly [number, number])[] = [[row, column]];
  while (row + column > 0) {
    const step = steps[row]?.[column - (band.lows[row] ?? 0)];
    const isOfSecond = row === 0 || (step === OF_SECOND && column > 0);
    if (column > 0 && (isOfSecond || step === BOTH)) column -= 1;
    if (!isOfSecond) row -= 1;
    path.push([row, column]);
  }
  return path;
}

/** Returns the first and the last column of a path in each row. */
function columnsOf(path: Path, rows: number): { readonly lows: Float64Array; readonly highs: Float64Array } {
  const [lows, highs] = [new Float64Array(rows), new Float64Array(rows)];
  // The path runs from its end.
  for (const [row, column] of path) {
    lows[row] = column;
    highs[row] = Math.max(highs[row] ?? 0, column);
  }
  return { lows, highs };
}

/** Where several frames of the other sound match one of this, the middle one counts. */
function momentsOf(first: Features, path: Path): Alignment['at'] {
  const { lows, highs } = columnsOf(path, first.count);
  const middles = lows.map((low, row) => (low + (highs[row] ?? low)) / 2);
  return (seconds) => {
    const place = Math.max(0, Math.min(first.count - 1, (seconds - WINDOW / 2) / first.step));
    const [low, high] = [Math.floor(place), Math.ceil(place)];
    const [from = 0, to = 0] = [middles[low], middles[high]];
    return (from + (to - from) * (place - low)) * first.step + WINDOW / 2;
  };
}

/** Where one sound advances at less than this share of its pace, a part of it may be missing. */
const MISSING_PACE = 0.4;

/** Seconds of a path, along either sound or both, over which a pace is measured. */
const STRETCH = 0.6;
/** Seconds of sound that a stretch needs to count for the pace. */
const LEAST_SOUND = 0.06;
/** The slowest pace: seconds of the second sound per second of the first. */
const SLOWEST = 2.5;

/** Pauses do not count, since each voice has its own. */
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
    lacking = Math.max(0, lacking + MISSING_PACE * ofFirst - ofSecond / pace);
    adding = Math.max(0, adding + (MISSING_PACE * ofSecond) / pace - ofFirst);
    missing = Math.max(missing, lacking);
    extra = Math.max(extra, adding);
  }
  return { missing: missing / MISSING_PACE, extra: extra / MISSING_PACE };
}

/** @returns the median pace, which a missing part does not change */
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

/** @returns the median, or 1 if there are no values */
export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 1;
}
