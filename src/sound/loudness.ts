import { NamelessFile } from '../kit/descriptor.ts';
import { Flush } from '../kit/drops.ts';
import { Arrivals } from '../kit/wait.ts';
import { frameBytes, type PcmFormat, type Track } from './pcm.ts';
import { bytesOf, floatsOf } from './samples.ts';

/** The places where voices begin to speak in a track. The list is filled while the track is read. */
export interface Turns {
  /** The places count bytes of the track, and come in their order. */
  readonly list: readonly Turn[];
}

export interface Turn {
  readonly start: number;
  /** Only compared, by identity. */
  readonly voice: unknown;
}

export interface Level {
  /** LUFS. */
  readonly target: number;
  readonly turns: Turns;
  /** True for sound that is heard while it is made: a voice is measured by its beginning. */
  readonly isLive: boolean;
}

/**
 * Brings each voice to one loudness, with one gain for all that it says. What cannot be heard live is kept in a temporary file
 * until all of it was measured.
 */
export function levelled(track: Track, level: Level): Track {
  return { ...track, pcm: level.isLive ? asItComes(track, level) : whole(track, level) };
}

async function* whole({ format, pcm }: Track, level: Level): AsyncGenerator<Uint8Array> {
  const gains = new Gains(format, level);
  using spool = new NamelessFile('sound');
  let at = 0;
  for await (const piece of pcm) {
    gains.measure(piece, at);
    spool.write(piece);
    at += piece.length;
  }
  gains.settle();
  const leveller = new Leveller(format, level.turns, gains);
  for await (const piece of spool.read(frameBytes(format))) yield* leveller.push(piece);
  yield* leveller.end();
}

/** Seconds of a voice that are measured before they are heard. */
const MEASURED_SECONDS = 3;
/** Milliseconds without sound after which a voice is measured by what there is: its writer may wait for an answer. */
const MOST_AWAITED_MS = 500;

async function* asItComes({ format, pcm }: Track, level: Level): AsyncGenerator<Uint8Array> {
  const most = MEASURED_SECONDS * format.sampleRate * frameBytes(format);
  const gains = new Gains(format, level);
  const leveller = new Leveller(format, level.turns, gains);
  using pieces = new Arrivals(pcm, new AbortController().signal);
  /** Sound whose voice is measured before it is heard; it begins at this byte of the track. */
  let held: Uint8Array[] = [];
  let [start, bytes] = [0, 0];
  const keeps = (piece: Uint8Array) => {
    const isNew = cut(piece, start + bytes, level.turns).some(({ voice }) => !gains.has(voice));
    held.push(piece);
    bytes += piece.length;
    return (isNew || held.length > 1) && bytes < most;
  };
  const release = () => {
    const released = held;
    [held, start, bytes] = [[], start + bytes, 0];
    return released;
  };
  let next: IteratorResult<Uint8Array> | undefined;
  do {
    next = await pieces.next(next && MOST_AWAITED_MS);
    if (next?.value instanceof Flush) {
      leveller.skip(bytes);
      release();
      yield next.value;
      continue;
    }
    if (next && !next.done && keeps(next.value)) continue;
    gains.measure(Buffer.concat(held), start);
    gains.settle();
    for (const piece of release()) yield* leveller.push(piece);
    if (!next || next.done) yield* leveller.end();
  } while (!next?.done);
}

/** One gain for each voice of a track. */
class Gains {
  readonly #format: PcmFormat;
  readonly #level: Level;
  readonly #meters = new Map<unknown, LoudnessMeter>();
  readonly #gains = new Map<unknown, number>();

  constructor(format: PcmFormat, level: Level) {
    this.#format = format;
    this.#level = level;
  }

  has(voice: unknown): boolean {
    return this.#gains.has(voice);
  }

  of(voice: unknown): number {
    return this.#gains.get(voice) ?? 1;
  }

  /** @param start of the piece in the track, in bytes */
  measure(piece: Uint8Array, start: number): void {
    const { sampleRate, channels } = this.#format;
    for (const { bytes, voice } of cut(piece, start, this.#level.turns)) {
      if (this.has(voice)) continue;
      const meter = this.#meters.get(voice) ?? new LoudnessMeter(sampleRate, channels);
      this.#meters.set(voice, meter);
      meter.push(floatsOf(bytes, this.#format));
    }
  }

  /** Voices that were measured have their gains from now on. Silence stays as it is. */
  settle(): void {
    for (const [voice, { integrated }] of this.#meters)
      if (integrated !== undefined) this.#gains.set(voice, 10 ** ((this.#level.target - integrated) / 20));
    this.#meters.clear();
  }
}

/** Applies the gain of each voice, and keeps peaks below the ceiling. */
class Leveller {
  readonly #format: PcmFormat;
  readonly #turns: Turns;
  readonly #gains: Gains;
  #limiter: Limiter;
  #at = 0;

  constructor(format: PcmFormat, turns: Turns, gains: Gains) {
    this.#format = format;
    this.#turns = turns;
    this.#gains = gains;
    this.#limiter = limiterFor(format);
  }

  *push(piece: Uint8Array): Generator<Uint8Array> {
    for (const { bytes, voice } of cut(piece, this.#at, this.#turns)) {
      const gain = this.#gains.of(voice);
      yield* this.#given(this.#limiter.push(floatsOf(bytes, this.#format).map((sample) => sample * gain)));
    }
    this.#at += piece.length;
  }

  /** Passes over sound that was dropped, with what the limiter holds back. */
  skip(bytes: number): void {
    this.#at += bytes;
    this.#limiter = limiterFor(this.#format);
  }

  *end(): Generator<Uint8Array> {
    yield* this.#given(this.#limiter.end());
  }

  *#given(samples: Float32Array): Generator<Uint8Array> {
    if (samples.length > 0) yield bytesOf(samples, this.#format);
  }
}

function limiterFor({ sampleRate, channels }: PcmFormat): Limiter {
  return new Limiter(sampleRate, channels);
}

interface Stretch {
  readonly bytes: Uint8Array;
  readonly voice: unknown;
}

/** Cuts a piece where the voice changes. Silence belongs to the voice before it. */
function cut(piece: Uint8Array, start: number, { list }: Turns): Stretch[] {
  const stretches: Stretch[] = [];
  let from = start;
  while (from < start + piece.length) {
    const at = lastBefore(list, from);
    const end = Math.min(list[at + 1]?.start ?? Number.POSITIVE_INFINITY, start + piece.length);
    stretches.push({ bytes: piece.subarray(from - start, end - start), voice: list[at]?.voice });
    from = end;
  }
  return stretches;
}

/** @returns the index of the last turn that begins at or before a place */
function lastBefore(list: readonly Turn[], place: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle]?.start ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return low - 1;
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

function lufs(power: number): number {
  return OFFSET + 10 * Math.log10(power);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

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
class Limiter {
  readonly #channels: number;
  readonly #reach: number;
  #held: Float32Array;
  /** The number of held frames that were given out already. They count for the gains of the next ones only. */
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
