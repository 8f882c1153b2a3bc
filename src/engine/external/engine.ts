import { Converter } from '../../audio/convert.ts';
import { compileResampler, loadResampler, type Resampler } from '../../audio/resampler.ts';
import { printable } from '../../printable.ts';
import { cutText } from '../../text/cut-text.ts';
import { countCodePoints } from '../../text/unicode.ts';
import { type Engine, EngineError, type EngineSound, type Speaker, type Utterance } from '../contract.ts';
import { SoundBudget, SoundQueue } from '../sound-queue.ts';
import { type NumberedSource, type SourceVoice, speakersOf, type VoiceSource } from '../source.ts';
import { Seats } from './seats.ts';

/** A shorter sound lacks a part of the text. */
const LEAST_SECONDS_PER_CHARACTER = 0.02;

/** Only letters and digits count. A shorter text may have any sound. */
const FEWEST_CHARACTERS = 40;

/** A longer sound never ends, or is not that of the text. */
const MOST_SECONDS_PER_CHARACTER = 1;

/** Every text may have them in addition. */
const MOST_SECONDS_MORE = 10;

/** Hz. */
const LOWEST_RATE = 4_000;

/** Hz. */
const HIGHEST_RATE = 192_000;

/** The bound holds for all readers of one engine together. */
const MOST_WAITING_BYTES = 16 * 2 ** 20;

interface ExternalOptions {
  readonly maxQueue: number;
  readonly loadResampler: LoadResampler;
}

type LoadResampler = () => Promise<(from: number, to: number) => Resampler>;

export function openExternal(sources: readonly NumberedSource[], maxQueue: number): Engine[] {
  let loaded: ReturnType<LoadResampler> | undefined;
  const load = () => {
    loaded ??= compileResampler().then(loadResampler);
    return loaded;
  };
  return sources.map((source) => new ExternalEngine(source, { maxQueue, loadResampler: load }));
}

class ExternalEngine implements Engine {
  readonly #source: VoiceSource;
  readonly #voices: NumberedSource['voices'];
  readonly #options: ExternalOptions;
  readonly #seats: Seats;
  readonly #budget = new SoundBudget(MOST_WAITING_BYTES);
  /** The rates of the answers, by the numbers of the speakers. */
  readonly #rates = new Map<number, number>();
  readonly #closing = new AbortController();

  constructor({ source, voices }: NumberedSource, options: ExternalOptions) {
    this.#source = source;
    this.#voices = voices;
    this.#options = options;
    this.#seats = new Seats(source.concurrency, options.maxQueue);
  }

  get speakers(): readonly Speaker[] {
    return speakersOf({ source: this.#source, voices: this.#voices }).map((speaker) => ({
      ...speaker,
      sampleRate: this.#rates.get(speaker.no) ?? speaker.sampleRate,
    }));
  }

  get queued(): number {
    return this.#seats.waiting;
  }

  async speak({ text, speaker, sampleRate, style }: Utterance, signal: AbortSignal): Promise<EngineSound> {
    const voice = this.#voices.get(speaker.no);
    if (!voice) throw new RangeError(`there is no speaker ${speaker.no}`);
    const left = new AbortController();
    const until = AbortSignal.any([signal, this.#closing.signal, left.signal]);
    // The queue refuses before the event loop turns.
    const leave = await this.#seats.take(true, until);
    const rate = new Rate(sampleRate, (own) => this.#rates.set(speaker.no, own));
    const task = { voice, rate, speed: style.rate, signal: until };
    const parts = cutText(text, this.#source)[Symbol.iterator]();
    const begun = this.#start({ ...task, text: parts.next().value ?? text }, leave);
    const samples = this.#soundOf(begun, { ...task, parts }, left);
    try {
      return { sampleRate: await rate.settled, samples };
    } catch (error) {
      left.abort(error);
      throw error;
    }
  }

  async *#soundOf(
    begun: SoundQueue,
    { parts, ...task }: Omit<Task, 'text'> & { readonly parts: Iterator<string> },
    left: AbortController,
  ): AsyncGenerator<Int16Array> {
    try {
      yield* begun.read();
      for (let next = parts.next(); !next.done; next = parts.next()) {
        const leave = await this.#seats.take(false, task.signal);
        yield* this.#start({ ...task, text: next.value }, leave).read();
      }
    } finally {
      left.abort(new Error('the reader left'));
    }
  }

  #start(task: Task, leave: () => void): SoundQueue {
    const sound = new SoundQueue(this.#budget, task.signal);
    void this.#fill(sound, task).finally(leave);
    return sound;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the engine is closed'));
    await this.#source[Symbol.asyncDispose]();
  }

  /** While the budget lasts, a slow reader does not keep the seat. */
  async #fill(queue: SoundQueue, task: Task): Promise<void> {
    try {
      for await (const samples of this.#speakWhole(task)) await queue.push(samples);
      queue.end();
    } catch (error) {
      task.rate.fail(error);
      queue.end(error);
    }
  }

  /**
   * Sound that is too short is asked for again in halves.
   * @param cutAt seconds of the whole, for a half
   */
  async *#speakWhole(task: Task, cutAt?: number): AsyncGenerator<Int16Array> {
    const { text, voice, signal } = task;
    const sound = await this.#source.speak(text, voice, signal, task.speed);
    const convert = new Converter(await this.#resamplerFor(sound.sampleRate, task.rate), signal);
    const limit = mostSeconds(text) / Math.min(1, task.speed);
    const needed = (leastSeconds(text) / task.speed) * sound.sampleRate;
    const held: Int16Array[] = [];
    let frames = 0;
    try {
      for await (const samples of sound.samples) {
        frames += samples.length;
        if (frames > limit * sound.sampleRate)
          throw this.#failed(`sent more than ${limit} s of sound for "${excerpt(text)}"`);
        for await (const converted of convert.push(samples)) held.push(converted);
        if (cutAt === undefined && frames >= needed) yield* held.splice(0);
      }
      if (frames > 0 && frames >= needed && !isAsLong(frames / sound.sampleRate, cutAt)) {
        yield* held;
        yield convert.end();
        return;
      }
    } finally {
      convert.free();
    }
    if (frames === 0) throw this.#failed(`sent no sound for "${excerpt(text)}"`);
    const seconds = frames / sound.sampleRate;
    if (cutAt !== undefined)
      throw this.#failed(`sent ${seconds.toFixed(1)} s of sound for "${excerpt(text)}"`);
    for (const half of halves(text)) yield* this.#speakWhole({ ...task, text: half }, seconds);
  }

  async #resamplerFor(from: number, rate: Rate): Promise<Resampler | undefined> {
    if (from < LOWEST_RATE || from > HIGHEST_RATE)
      throw this.#failed(`sent sound of ${from} Hz; it may have ${LOWEST_RATE} to ${HIGHEST_RATE} Hz`);
    const to = rate.from(from);
    return from === to ? undefined : (await this.#options.loadResampler())(from, to);
  }

  #failed(what: string): EngineError {
    return new EngineError('failed', `${this.#source.name} ${what}`);
  }
}

/** The rate of an utterance: the one that is asked for, or else that of the engine's first answer. */
class Rate {
  readonly settled: Promise<number>;
  #rate: number | undefined;
  readonly #onOwn: (own: number) => void;
  #settle: (rate: number) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  /** @param onOwn is called with the rate of each answer */
  constructor(asked: number | undefined, onOwn: (own: number) => void) {
    this.#rate = asked;
    this.#onOwn = onOwn;
    this.settled = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#reject = reject;
    });
    if (asked !== undefined) this.#settle(asked);
  }

  from(own: number): number {
    this.#onOwn(own);
    this.#rate ??= own;
    this.#settle(this.#rate);
    return this.#rate;
  }

  fail(error: unknown): void {
    this.#reject(error);
  }
}

interface Task {
  readonly text: string;
  readonly voice: SourceVoice;
  readonly rate: Rate;
  /** 2 is twice as fast, where the source knows a speed. */
  readonly speed: number;
  readonly signal: AbortSignal;
}

function leastSeconds(text: string): number {
  const characters = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  return characters < FEWEST_CHARACTERS ? 0 : characters * LEAST_SECONDS_PER_CHARACTER;
}

function mostSeconds(text: string): number {
  return countCodePoints(text) * MOST_SECONDS_PER_CHARACTER + MOST_SECONDS_MORE;
}

function isAsLong(seconds: number, whole: number | undefined): boolean {
  return whole !== undefined && Math.abs(seconds - whole) <= whole * SAME_LENGTH;
}

const SAME_LENGTH = 0.02;

function halves(text: string): string[] {
  const length = countCodePoints(text);
  let parts: string[] = [];
  for (const share of LARGER_HALVES) {
    parts = [...cutText(text, { maxChars: Math.ceil(length * share) })];
    if (parts.length === 2) break;
  }
  return parts;
}

const LARGER_HALVES = [0.5, 0.55, 0.6];

function excerpt(text: string): string {
  return printable(text.slice(0, 60));
}
