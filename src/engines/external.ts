import type { Host } from '../kit/host.ts';
import { ConcurrencyLimiter } from '../kit/limit.ts';
import { BoundedQueue, ByteBudget } from '../kit/queue.ts';
import { printable } from '../kit/words.ts';
import { loadResampler, type Resampler, resampled } from '../sound/convert.ts';
import { cutText } from '../text/cut.ts';
import { countCodePoints } from '../text/unicode.ts';
import { CheckedSpeech, type Task as CheckedTask } from './check.ts';
import {
  type Engine,
  EngineError,
  type EngineSound,
  type EngineUtterance,
  type ExternalSource,
  type SourceConfig,
  type SourceVoice,
} from './engine.ts';

/** Sound that is longer never ends, or is not the sound of the text. */
const MOST_SECONDS_PER_CHARACTER = 1;

/** Seconds that any text may take in addition. */
const MOST_SECONDS_MORE = 10;

/** The lowest sample rate that an engine may send, in Hz. */
const LOWEST_RATE = 4_000;

/** The highest sample rate that an engine may send, in Hz. */
const HIGHEST_RATE = 192_000;

/** Bytes of sound that may be buffered for all readers of one engine together. */
const MOST_WAITING_BYTES = 16 * 2 ** 20;

export interface OpenOptions {
  readonly host: Pick<Host, 'env' | 'platform' | 'runtime' | 'execPath' | 'endGroup'>;
  readonly signal: AbortSignal;
  /** Milliseconds that an engine may send nothing. */
  readonly timeoutMs: number;
  /** Folders whose `node_modules` may hold the runtime of models. */
  readonly runtimes: readonly string[];
}

/** @throws EngineError that names what is missing */
export async function openSource(config: SourceConfig, options: OpenOptions): Promise<ExternalSource> {
  const { host, signal, timeoutMs, runtimes } = options;
  if (config.kind === 'server') {
    const { openServer } = await import('./server.ts');
    return openServer(config, { timeoutMs, signal, runtime: host.runtime });
  }
  if (config.kind === 'program') {
    const { openProgram } = await import('./program.ts');
    return openProgram(config, {
      timeoutMs,
      env: host.env,
      platform: host.platform,
      endGroup: (pid) => host.endGroup(pid),
    });
  }
  const { openModel } = await import('./model.ts');
  return openModel(config, { env: host.env, execPath: host.execPath, runtimes });
}

/** Makes an engine of a user's source: cuts texts, speaks them in turn, checks the sound, and converts its sample rate. */
export class ExternalEngine implements Engine {
  readonly #source: ExternalSource;
  readonly #voices: ReadonlyMap<number, SourceVoice>;
  /** Utterances take turns after each piece of text. */
  readonly #limiter: ConcurrencyLimiter;
  #turns = 0;
  readonly #budget = new ByteBudget(MOST_WAITING_BYTES);
  readonly #checked: CheckedSpeech<Task>;
  readonly #closing = new AbortController();

  /** @param voices the voices that have a number; the source may have more */
  constructor(source: ExternalSource, voices: ReadonlyMap<number, SourceVoice>) {
    this.#source = source;
    this.#voices = voices;
    this.#checked = new CheckedSpeech<Task>(source.name, (task, sound) => this.#speakOnce(task, sound));
    this.#limiter = new ConcurrencyLimiter(source.concurrency);
  }

  async speak(
    { text, no, sampleRate, onCut, isWhole }: EngineUtterance,
    signal: AbortSignal,
  ): Promise<EngineSound> {
    const voice = this.#voices.get(no);
    if (!voice) throw new RangeError(`there is no speaker ${no}`);
    const spoken = voice.numbers === undefined ? text : await inWords(text, voice.numbers);
    const left = new AbortController();
    const until = AbortSignal.any([signal, this.#closing.signal, left.signal]);
    const rate = new Rate(sampleRate);
    const task = { voice, rate, signal: until, onCut, isWhole };
    const parts = cutText(spoken, this.#source)[Symbol.iterator]();
    const begun = await this.#start({ ...task, text: parts.next().value ?? spoken });
    const samples = this.#soundOf(begun, { ...task, parts }, left);
    try {
      return { sampleRate: await rate.settled, samples };
    } catch (error) {
      left.abort(error);
      throw error;
    }
  }

  async *#soundOf(
    begun: BoundedQueue<Int16Array>,
    { parts, ...task }: Omit<Task, 'text'> & { readonly parts: Iterator<string> },
    left: AbortController,
  ): AsyncGenerator<Int16Array> {
    try {
      yield* begun.read();
      for (let next = parts.next(); !next.done; next = parts.next())
        yield* (await this.#start({ ...task, text: next.value })).read();
    } finally {
      left.abort(new Error('the reader left'));
    }
  }

  /** Waits for the turn of the text. While the budget lasts, a slow reader does not delay the next text. */
  async #start(task: Task): Promise<BoundedQueue<Int16Array>> {
    this.#turns += 1;
    const slot = await this.#limiter.enter(this.#turns, task.signal);
    const sound = new BoundedQueue<Int16Array>(this.#budget, task.signal);
    void this.#fill(sound, task).finally(() => slot.leave());
    return sound;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the engine is closed'));
    await this.#source[Symbol.asyncDispose]();
  }

  async #fill(queue: BoundedQueue<Int16Array>, task: Task): Promise<void> {
    try {
      for await (const samples of this.#checked.speak(task)) await queue.push(samples);
      queue.end();
    } catch (error) {
      task.rate.fail(error);
      queue.end(error);
    }
  }

  /** @param rate receives the rate of the samples */
  async *#speakOnce(task: Task, rate: { sampleRate: number }): AsyncGenerator<Int16Array> {
    const sound = await this.#source.speak(task.text, task.voice, task.signal);
    const resampler = await this.#resamplerFor(sound.sampleRate, task.rate);
    rate.sampleRate = task.rate.from(sound.sampleRate);
    const samples = this.#bounded(sound, task);
    yield* resampler ? resampled(samples, resampler, task.signal) : samples;
  }

  /** @throws EngineError for sound that is too long, or none */
  async *#bounded({ samples, sampleRate }: EngineSound, { text }: Task): AsyncGenerator<Int16Array> {
    const limit = countCodePoints(text) * MOST_SECONDS_PER_CHARACTER + MOST_SECONDS_MORE;
    let frames = 0;
    for await (const piece of samples) {
      frames += piece.length;
      if (frames > limit * sampleRate)
        throw this.#failed(`sent more than ${limit} s of sound for "${printable(text.slice(0, 60))}"`);
      yield piece;
    }
    if (frames === 0) throw this.#failed(`sent no sound for "${printable(text.slice(0, 60))}"`);
  }

  async #resamplerFor(from: number, rate: Rate): Promise<Resampler | undefined> {
    if (from < LOWEST_RATE || from > HIGHEST_RATE)
      throw this.#failed(`sent sound of ${from} Hz; it may have ${LOWEST_RATE} to ${HIGHEST_RATE} Hz`);
    const to = rate.from(from);
    return from === to ? undefined : (await loadResampler())(from, to);
  }

  #failed(what: string): EngineError {
    return new EngineError('failed', `${this.#source.name} ${what}`);
  }
}

/** Writes numbers out for the voice only: subtitles, events and the cache keep the original text. */
async function inWords(text: string, language: string): Promise<string> {
  return (await import('../text/in-words.ts')).numbersInWords(text, language);
}

/** The sample rate of an utterance: the requested one, otherwise that of the engine's first answer. */
class Rate {
  readonly settled: Promise<number>;
  #rate: number | undefined;
  #settle: (rate: number) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(asked: number | undefined) {
    this.#rate = asked;
    this.settled = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#reject = reject;
    });
    if (asked !== undefined) this.#settle(asked);
  }

  from(own: number): number {
    this.#rate ??= own;
    this.#settle(this.#rate);
    return this.#rate;
  }

  fail(error: unknown): void {
    this.#reject(error);
  }
}

interface Task extends CheckedTask {
  readonly rate: Rate;
  readonly signal: AbortSignal;
}
