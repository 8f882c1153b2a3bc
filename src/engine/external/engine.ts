import { Converter } from '../../audio/convert.ts';
import { compileResampler, loadResampler, type Resampler } from '../../audio/resampler.ts';
import { cutText } from '../../text/cut-text.ts';
import { countCodePoints } from '../../text/unicode.ts';
import { type Engine, EngineError, type EngineSound, type Speaker, type Utterance } from '../contract.ts';
import { SoundBudget, SoundQueue } from '../sound-queue.ts';
import { type NumberedSource, speakersOf, type VoiceSource } from '../source.ts';
import { Seats } from './seats.ts';
import { excerpt, type Parted, WholeSounds } from './whole-sounds.ts';

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
  readonly #whole: WholeSounds<Task>;
  readonly #closing = new AbortController();

  constructor({ source, voices }: NumberedSource, options: ExternalOptions) {
    this.#source = source;
    this.#voices = voices;
    this.#options = options;
    this.#whole = new WholeSounds(source.name, (task, sound) => this.#speakOnce(task, sound));
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

  async speak(
    { text, speaker, sampleRate, style, onCut, isPatient, isWhole }: Utterance,
    signal: AbortSignal,
  ): Promise<EngineSound> {
    const voice = this.#voices.get(speaker.no);
    if (!voice) throw new RangeError(`there is no speaker ${speaker.no}`);
    const left = new AbortController();
    const until = AbortSignal.any([signal, this.#closing.signal, left.signal]);
    // The queue refuses before the event loop turns.
    const leave = await this.#seats.take({ isFirst: true, isPatient }, until);
    const rate = new Rate(sampleRate, (own) => this.#rates.set(speaker.no, own));
    const task = { voice, rate, speed: style.rate, signal: until, onCut, isWhole };
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
        const leave = await this.#seats.take({ isFirst: false }, task.signal);
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
      for await (const samples of this.#whole.speak(task)) await queue.push(samples);
      queue.end();
    } catch (error) {
      task.rate.fail(error);
      queue.end(error);
    }
  }

  /**
   * @param rate is set to that of the samples
   * @throws EngineError for sound that is too long, or none
   */
  async *#speakOnce(task: Task, rate: { sampleRate: number }): AsyncGenerator<Int16Array> {
    const { text, voice, signal } = task;
    const sound = await this.#source.speak(text, voice, signal, task.speed);
    const convert = new Converter(await this.#resamplerFor(sound.sampleRate, task.rate), signal);
    rate.sampleRate = task.rate.from(sound.sampleRate);
    const limit = mostSeconds(text) / Math.min(1, task.speed);
    let frames = 0;
    try {
      for await (const samples of sound.samples) {
        frames += samples.length;
        if (frames > limit * sound.sampleRate)
          throw this.#failed(`sent more than ${limit} s of sound for "${excerpt(text)}"`);
        yield* convert.push(samples);
      }
      if (frames === 0) throw this.#failed(`sent no sound for "${excerpt(text)}"`);
      yield convert.end();
    } finally {
      convert.free();
    }
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

interface Task extends Parted {
  readonly rate: Rate;
  readonly signal: AbortSignal;
}

function mostSeconds(text: string): number {
  return countCodePoints(text) * MOST_SECONDS_PER_CHARACTER + MOST_SECONDS_MORE;
}
