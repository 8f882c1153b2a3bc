import { NamelessFile } from '../kit/descriptor.ts';
import { Flush } from '../kit/drops.ts';
import { Arrivals } from '../kit/wait.ts';
import { frameBytes, type PcmFormat, type Track } from './pcm.ts';
import { bytesOf, floatsOf } from './samples.ts';

/** A place in a track where a voice begins to speak. */
export interface Turn {
  /** The byte of the track. */
  readonly start: number;
  /** Compared by identity only. */
  readonly voice: unknown;
}

export interface Level {
  /** LUFS. */
  readonly target: number;
  /** In order of their start. More are added while the track is read. */
  readonly turns: readonly Turn[];
  /** True for sound that is played while it is made: a voice is then measured by its first seconds only. */
  readonly isLive: boolean;
}

/**
 * Brings each voice to one loudness, with a single gain per voice. Unless it is live, all sound is kept in a temporary file
 * until it has been measured.
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

/** Seconds of a voice that are measured before it is played. */
const MEASURED_SECONDS = 3;
/** Milliseconds without sound after which a voice is measured by what has come: the writer may be waiting for an answer. */
const MOST_AWAITED_MS = 500;

async function* asItComes({ format, pcm }: Track, level: Level): AsyncGenerator<Uint8Array> {
  const most = MEASURED_SECONDS * format.sampleRate * frameBytes(format);
  const gains = new Gains(format, level);
  const leveller = new Leveller(format, level.turns, gains);
  using pieces = new Arrivals(pcm, new AbortController().signal);
  /** Sound held until its voice has been measured, from byte `start` of the track. */
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

/** The gain of each voice in a track. */
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

  /** @param start the byte of the track where the piece begins */
  measure(piece: Uint8Array, start: number): void {
    const { sampleRate, channels } = this.#format;
    for (const { bytes, voice } of cut(piece, start, this.#level.turns)) {
      if (this.has(voice)) continue;
      const meter = this.#meters.get(voice) ?? new LoudnessMeter(sampleRate, channels);
      this.#meters.set(voice, meter);
      meter.push(floatsOf(bytes, this.#format));
    }
  }

  /** Fixes the gains of the voices measured so far. A voice of silence gets none. */
  settle(): void {
    for (const [voice, { integrated }] of this.#meters)
      if (integrated !== undefined) this.#gains.set(voice, 10 ** ((this.#level.target - integrated) / 20));
    this.#meters.clear();
  }
}

/** Applies the gain of its voice to all sound, and keeps peaks below the ceiling. */
class Leveller {
  readonly #format: PcmFormat;
  readonly #turns: readonly Turn[];
  readonly #gains: Gains;
  #limiter: Limiter;
  #at = 0;

  constructor(format: PcmFormat, turns: readonly Turn[], gains: Gains) {
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

  /** Skips sound that was dropped, and discards what the limiter holds. */
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
function cut(piece: Uint8Array, start: number, turns: readonly Turn[]): Stretch[] {
  const stretches: Stretch[] = [];
  let from = start;
  while (from < start + piece.length) {
    const at = lastBefore(turns, from);
    const end = Math.min(turns[at + 1]?.start ?? Number.POSITIVE_INFINITY, start + piece.length);
    stretches.push({ bytes: piece.subarray(from - start, end - start), voice: turns[at]?.voice });
    from = end;
  }
  return stretches;
}

/** @returns the index of the last turn that begins at or before a byte */
function lastBefore(turns: readonly Turn[], place: number): number {
  let [low, high] = [0, turns.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((turns[middle]?.start ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Steps last 100 ms, and a block four of them. */
const STEPS_PER_SECOND = 10;
const STEPS_PER_BLOCK = 4;

/** LUFS. Blocks below this absolute gate are silence. */
const ABSOLUTE_GATE = -70;

/** LU. Blocks that are quieter than the mean by more than this are pauses. */
const RELATIVE_GATE = 10;

const OFFSET = -0.691;

/** Measures loudness by ITU-R BS.1770-4. Its memory grows by 80 bytes per second of sound. */
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

  /** LUFS of all samples so far; `undefined` for silence. A sound shorter than a block is measured as a whole. */
  get integrated(): number | undefined {
    const steps = this.#steps.length >= STEPS_PER_BLOCK ? this.#steps : this.#withRest();
    const size = Math.min(STEPS_PER_BLOCK, steps.length);
    const blocks: number[] = [];
    for (let at = 0; at + size <= steps.length && size > 0; at += 1)
      blocks.push(mean(steps.slice(at, at + size)));
    const loud = blocks.filter((power) => lufs(power) > ABSOLUTE_GATE);
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

/** A second-order filter. */
interface Biquad {
  readonly b: readonly [number, number, number];
  readonly a: readonly [number, number];
}

/** The two filters of ITU-R BS.1770: they model the head, and the ear's sensitivity by frequency. */
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

/** The highest true peak: -1 dB of full scale, less a margin for peaks between samples that the estimate misses. */
const CEILING = 10 ** (-1.2 / 20);

/** Seconds before and after a peak over which the gain changes. */
const REACH_SECONDS = 0.005;

/** Samples on each side from which the sound between two samples is estimated. */
const TAPS = 6;

/** Positions between two samples where peaks are searched. */
const BETWEEN = [0.25, 0.5, 0.75];

/** In speech, a peak between samples exceeds the highest sample by no more than this factor. */
const MOST_BETWEEN = 2;

const KERNELS = BETWEEN.map((position) =>
  Float64Array.from({ length: 2 * TAPS }, (_, at) => {
    const distance = at - TAPS + 1 - position;
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / (TAPS + 1));
    return (Math.sin(Math.PI * distance) / (Math.PI * distance)) * window;
  }),
);

/** Turns the sound down around its peaks only. It delays the sound by some milliseconds. */
class Limiter {
  readonly #channels: number;
  readonly #reach: number;
  #held: Float32Array;
  /** Held frames that were already emitted: they only affect the gains of the following ones. */
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

  /** Frames whose gain the following ones may still change. */
  get #margin(): number {
    return 2 * this.#reach + TAPS;
  }

  /** @param kept frames to hold back at the end */
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

  /** @returns the gain of each frame; `undefined` if no peak is too high */
  #gains(frames: number): Float32Array | undefined {
    const wanted = this.#wanted(frames);
    if (!wanted) return undefined;
    // The mean of the lowest gains within reach falls before a peak, and is low enough at the peak.
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

  /** @returns the highest value at a frame, or between it and the next */
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

/** Combines windows only near values below 1: elsewhere the whole window is 1, and so is its result. */
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
