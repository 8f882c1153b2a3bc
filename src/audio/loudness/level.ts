import { Arrivals } from '../../async.ts';
import { Flush } from '../../drops.ts';
import { frameBytes, type PcmFormat, type Track } from '../pcm.ts';
import { sampleReader, sampleWriter } from '../samples.ts';
import { Limiter } from './limiter.ts';
import { LoudnessMeter } from './meter.ts';
import { Spool } from './spool.ts';

/** The places where voices begin to speak in a track. The list is filled while the track is read. */
export interface Turns {
  /** The places count bytes of the track, and come in their order. */
  readonly list: readonly Turn[];
}

export interface Turn {
  readonly start: number;
  /** Equal ones are one voice. */
  readonly voice: unknown;
}

export interface Level {
  /** LUFS. */
  readonly target: number;
  readonly turns: Turns;
  /** True for sound that is heard while it is made: the beginning of a voice stands for the rest. */
  readonly isLive: boolean;
}

/**
 * Brings each voice to one loudness, with one gain for all that it says. What cannot be heard live is kept in a temporary file
 * until all of it was measured.
 */
export function levelled(track: Track, level: Level): Track {
  return { ...track, pcm: level.isLive ? asItComes(track, level) : whole(track, level) };
}

async function* whole({ format, pcm }: Track, { target, turns }: Level): AsyncGenerator<Uint8Array> {
  const meters = new Map<unknown, LoudnessMeter>();
  using spool = new Spool();
  const read = floatsOf(format);
  let at = 0;
  for await (const piece of pcm) {
    for (const { bytes, voice } of cut(piece, at, turns)) meterOf(voice, meters, format).push(read(bytes));
    spool.write(piece);
    at += piece.length;
  }
  const gains = new Map([...meters].map(([voice, meter]) => [voice, gainFor(meter, target)]));
  yield* applied(spool.read(frameBytes(format)), { format, turns, gainOf: (voice) => gains.get(voice) ?? 1 });
}

/** Seconds of a voice that are measured before they are heard. */
const MEASURED_SECONDS = 3;
/** Milliseconds without sound, after which what there is of a voice has to do: its writer may wait for an answer. */
const MOST_AWAITED_MS = 500;

async function* asItComes(track: Track, level: Level): AsyncGenerator<Uint8Array> {
  const held = new Held(track.format, level);
  using pieces = new Arrivals(track.pcm, new AbortController().signal);
  let next: IteratorResult<Uint8Array> | undefined;
  do {
    next = await pieces.next(next && MOST_AWAITED_MS);
    if (next?.value instanceof Flush) {
      held.drop();
      yield next.value;
      continue;
    }
    if (next && !next.done && held.keeps(next.value)) continue;
    yield* held.given();
    if (!next || next.done) yield* held.end();
  } while (!next?.done);
}

/** Sound whose voice is measured before it is heard. */
class Held {
  readonly #format: PcmFormat;
  readonly #level: Level;
  readonly #gains = new Map<unknown, number>();
  readonly #play: Playing;
  readonly #most: number;
  readonly #pieces: Uint8Array[] = [];
  /** The pieces begin here in the track, in bytes. */
  #start = 0;
  #bytes = 0;

  constructor(format: PcmFormat, level: Level) {
    this.#format = format;
    this.#level = level;
    this.#most = MEASURED_SECONDS * format.sampleRate * frameBytes(format);
    this.#play = new Playing({
      format,
      turns: level.turns,
      gainOf: (voice) => this.#gains.get(voice) ?? 1,
    });
  }

  /** @returns false if it is time to give all of it */
  keeps(piece: Uint8Array): boolean {
    const voices = cut(piece, this.#start + this.#bytes, this.#level.turns);
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    const isNew = voices.some(({ voice }) => !this.#gains.has(voice));
    return (isNew || this.#pieces.length > 1) && this.#bytes < this.#most;
  }

  *given(): Generator<Uint8Array> {
    this.#measure();
    for (let piece = this.#take(); piece; piece = this.#take()) yield* this.#play.push(piece);
  }

  end(): Generator<Uint8Array> {
    return this.#play.end();
  }

  /** It is not heard. */
  drop(): void {
    this.#play.skip(this.#bytes);
    while (this.#take());
  }

  #take(): Uint8Array | undefined {
    const piece = this.#pieces.shift();
    this.#start += piece?.length ?? 0;
    this.#bytes -= piece?.length ?? 0;
    return piece;
  }

  #measure(): void {
    const meters = new Map<unknown, LoudnessMeter>();
    const { turns, target } = this.#level;
    for (const { bytes, voice } of cut(Buffer.concat(this.#pieces), this.#start, turns))
      if (!this.#gains.has(voice)) meterOf(voice, meters, this.#format).push(floatsOf(this.#format)(bytes));
    for (const [voice, meter] of meters)
      if (meter.integrated !== undefined) this.#gains.set(voice, gainFor(meter, target));
  }
}

interface Gains {
  readonly format: PcmFormat;
  readonly turns: Turns;
  gainOf(voice: unknown): number;
}

async function* applied(pcm: AsyncIterable<Uint8Array>, gains: Gains): AsyncGenerator<Uint8Array> {
  const playing = new Playing(gains);
  for await (const piece of pcm) yield* playing.push(piece);
  yield* playing.end();
}

class Playing {
  readonly #gains: Gains;
  #limiter: Limiter;
  #at = 0;

  constructor(gains: Gains) {
    this.#gains = gains;
    this.#limiter = limiterFor(gains.format);
  }

  *push(piece: Uint8Array): Generator<Uint8Array> {
    const { format, turns, gainOf } = this.#gains;
    const read = floatsOf(format);
    for (const { bytes, voice } of cut(piece, this.#at, turns)) {
      const gain = gainOf(voice);
      yield* this.#given(this.#limiter.push(read(bytes).map((sample) => sample * gain)));
    }
    this.#at += piece.length;
  }

  /** Sound that is not heard has its place in the track. What the limiter holds back is not heard, either. */
  skip(bytes: number): void {
    this.#at += bytes;
    this.#limiter = limiterFor(this.#gains.format);
  }

  *end(): Generator<Uint8Array> {
    yield* this.#given(this.#limiter.end());
  }

  *#given(samples: Float32Array): Generator<Uint8Array> {
    if (samples.length > 0) yield bytesOf(samples, this.#gains.format);
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

function meterOf(voice: unknown, meters: Map<unknown, LoudnessMeter>, format: PcmFormat): LoudnessMeter {
  const meter = meters.get(voice) ?? new LoudnessMeter(format.sampleRate, format.channels);
  meters.set(voice, meter);
  return meter;
}

/** Silence stays as it is. */
function gainFor({ integrated }: LoudnessMeter, target: number): number {
  return integrated === undefined ? 1 : 10 ** ((target - integrated) / 20);
}

function floatsOf(format: PcmFormat): (bytes: Uint8Array) => Float32Array {
  const read = sampleReader(format);
  const size = format.bitsPerSample / 8;
  return (bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const floats = new Float32Array(bytes.length / size);
    for (let at = 0; at < floats.length; at += 1) floats[at] = read(view, at * size);
    return floats;
  };
}

function bytesOf(samples: Float32Array, format: PcmFormat): Uint8Array {
  const write = sampleWriter(format);
  const size = format.bitsPerSample / 8;
  const view = new DataView(new ArrayBuffer(samples.length * size));
  samples.forEach((sample, at) => void write(view, at * size, sample));
  return new Uint8Array(view.buffer);
}
