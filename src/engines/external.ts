import type { Host } from '../kit/host.ts';
import { delayTierUp } from '../kit/tier-up.ts';
import { printable } from '../kit/words.ts';
import { Converter, compileResampler, loadResampler, type Resampler } from '../sound/convert.ts';
import { cutText } from '../text/cut.ts';
import { sentences } from '../text/sentences.ts';
import { countCodePoints } from '../text/unicode.ts';
import { Incoming, leastSecondsOf, type Misfit, VoicePace } from './check.ts';
import {
  type CutManner,
  type Engine,
  EngineError,
  type EngineSound,
  type NumberedSource,
  queueFull,
  type SourceConfig,
  type SourceVoice,
  type Speaker,
  speakersOf,
  type Utterance,
  type VoiceSource,
} from './engine.ts';
import { SoundBudget, SoundQueue } from './lanes.ts';

interface Order {
  /** Only the first text of an utterance is refused. */
  readonly isFirst: boolean;
  /** True if a full queue does not refuse it. */
  readonly isPatient?: boolean | undefined;
}

interface Waiter extends Pick<Order, 'isFirst'> {
  readonly take: () => void;
}

/** Utterances take turns, one text each. */
class Seats {
  readonly #maxWaiting: number;
  readonly #waiting: Waiter[] = [];
  #free: number;

  constructor(count: number, maxWaiting: number) {
    this.#free = count;
    this.#maxWaiting = maxWaiting;
  }

  /** It counts those that wait for their first text. */
  get waiting(): number {
    return this.#waiting.filter(({ isFirst }) => isFirst).length;
  }

  /**
   * @returns the function that gives the seat back
   * @throws EngineError `busy`, at once
   */
  take({ isFirst, isPatient = false }: Order, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve(this.#place());
    }
    if (isFirst && !isPatient && this.waiting >= this.#maxWaiting) throw queueFull();
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { isFirst, take: () => resolve(this.#place()) };
      this.#waiting.push(waiter);
      signal.addEventListener(
        'abort',
        () => {
          const at = this.#waiting.indexOf(waiter);
          if (at >= 0) this.#waiting.splice(at, 1);
          reject(signal.reason);
        },
        { once: true },
      );
    });
  }

  #place(): () => void {
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const next = this.#waiting.shift();
      if (next) next.take();
      else this.#free += 1;
    };
  }
}

/** A text that is not longer is not divided. */
const FEWEST_CHARACTERS = 40;

/** Halves that are longer than the whole by more than this show that a part of it was missing. */
const LONGER = 1.05;

/** Seconds. Two sounds have more silence at their ends than one. */
const MORE_SILENCE = 0.5;

/** Bytes of sound that wait until all of it is known. */
const MOST_HELD = 4 * 2 ** 20;

/** It stands for sound that is held back: the engine is at work. */
const NOTHING_YET = new Int16Array(0);

/** A text that may be spoken in parts. */
interface Parted {
  readonly text: string;
  readonly voice: SourceVoice;
  readonly onCut?: Utterance['onCut'];
  readonly isWhole?: Utterance['isWhole'];
  /** 2 is twice as fast. */
  readonly speed: number;
}

/** A text and its sound. */
interface Spoken {
  readonly text: string;
  /** At a usual speed. */
  readonly seconds: number;
  /** Seconds of the longest silence inside. */
  readonly silence: number;
  readonly samples: readonly Int16Array[];
}

type Measured = Omit<Spoken, 'samples'>;

/** What was heard of a text, with the silence at its end trimmed. */
interface Heard extends Spoken {
  /** `undefined` where the sound may only be too short. */
  readonly misfit: Exclude<Misfit, 'short'> | undefined;
  /** False if a part of the sound was passed on. */
  readonly isHeld: boolean;
}

type Once<Task> = (task: Task, rate: { sampleRate: number }) => AsyncIterable<Int16Array>;

/**
 * Speaks texts of an engine that may drop parts of them in silence, fall silent, or say what is not there. Such a text is asked
 * for again in parts.
 */
class WholeSounds<Task extends Parted> {
  readonly #name: string;
  readonly #once: Once<Task>;
  readonly #paces = new Map<SourceVoice, VoicePace>();

  /**
   * @param name that of the engine
   * @param once asks the engine, and sets the rate of the samples before the first of them
   */
  constructor(name: string, once: Once<Task>) {
    this.#name = name;
    this.#once = once;
  }

  async *speak(task: Task): AsyncGenerator<Int16Array> {
    const pace = this.#paceOf(task.voice);
    const isEarly = !pace.isKnown;
    const heard = yield* this.#listen(task);
    const { text, seconds, misfit } = heard;
    if (misfit && !heard.isHeld) throw this.#unfit(heard, misfit, pace);
    if (!misfit && seconds >= pace.secondsOfWhole(text)) {
      yield* heard.samples;
      const onMisfit = (late: Misfit) => this.#tell(task, heard, late, 'late');
      pace.learn(text, seconds, isEarly ? onMisfit : undefined);
      return;
    }
    const whole = misfit ? await this.#again(task, heard) : await this.#longer(task, heard);
    if (whole !== heard) this.#tell(task, heard, misfit ?? 'short', 'in parts');
    yield* whole.samples;
  }

  /**
   * Passes sound on as soon as it is long enough, unless all of it is awaited.
   * @returns what was not passed on
   */
  async *#listen(task: Task): AsyncGenerator<Int16Array, Heard> {
    const { text, voice, speed, isWhole = false } = task;
    const pace = this.#paceOf(voice);
    const enough = pace.secondsOfWhole(text) / Math.max(1, speed);
    const most = pace.mostSecondsOf(text) / Math.min(1, speed);
    const rate = { sampleRate: 0 };
    const isReady = ({ held, seconds }: Incoming) => (isWhole ? held > MOST_HELD : seconds >= enough);
    const sound = new Incoming(text, speed);
    let isHeld = true;
    let misfit: Heard['misfit'];
    for await (const samples of this.#once(task, rate)) {
      const wasDead = sound.isDead;
      sound.push(samples, rate.sampleRate);
      misfit = misfitOf(sound, most, isHeld);
      if (misfit) break;
      if (sound.isDead && !wasDead) this.#tell(task, sound, 'silent', 'heard');
      const ready: readonly Int16Array[] = isHeld && !isReady(sound) ? [] : sound.take();
      isHeld &&= ready.length === 0;
      yield* isHeld ? [NOTHING_YET] : ready;
    }
    if (sound.isMute) misfit ??= 'silent';
    const { seconds, silence } = sound;
    return { text, samples: sound.end(), misfit, isHeld, silence, seconds: seconds * Math.max(1, speed) };
  }

  async #heard(task: Task): Promise<Heard> {
    const samples: Int16Array[] = [];
    const listening = this.#listen({ ...task, isWhole: true });
    for (;;) {
      const next = await listening.next();
      if (next.done) return { ...next.value, samples: [...samples, ...next.value.samples] };
      samples.push(next.value);
    }
  }

  /** Asks for a text in parts, or once more if it cannot be divided. */
  async #again(task: Task, whole: Heard): Promise<Spoken> {
    const texts = inTwo(whole.text);
    const parts: Spoken[] = [];
    for (const text of texts) parts.push(await this.#part({ ...task, text }, texts.length > 1));
    return joined(whole.text, parts);
  }

  async #part(task: Task, isDividable: boolean): Promise<Spoken> {
    const pace = this.#paceOf(task.voice);
    const part = await this.#heard(task);
    if (part.misfit && !isDividable) throw this.#unfit(part, part.misfit, pace);
    if (part.misfit) return this.#again(task, part);
    if (part.seconds < pace.secondsOfWhole(part.text)) return this.#longer(task, part);
    pace.learn(part.text, part.seconds);
    return part;
  }

  /** Sound that seems to be too short is compared with that of the halves of its text. */
  async #longer(task: Task, whole: Spoken): Promise<Spoken> {
    const failure = () => this.#unfit(whole, 'short', this.#paceOf(task.voice));
    const divided = await this.#divided(task, whole, failure);
    if (divided.seconds < leastSecondsOf(whole.text)) throw failure();
    return divided;
  }

  /**
   * @param failure makes the error for a text that is cut and too short to be divided
   * @returns the sound of the halves, unless it shows that the whole lacks nothing
   */
  async #divided(
    task: Task,
    whole: Spoken,
    failure: () => EngineError,
    isSurelyCut = false,
  ): Promise<Spoken> {
    const pace = this.#paceOf(task.voice);
    if (countCodePoints(whole.text) <= FEWEST_CHARACTERS) return whole;
    const texts = halves(whole.text);
    if (texts.length < 2) return whole;
    const parts: Spoken[] = [];
    for (const text of texts) parts.push(await this.#half({ ...task, text }, whole, failure));
    const divided = joined(whole.text, parts);
    const { seconds } = divided;
    const isCut = isSurelyCut || seconds > LONGER * whole.seconds + MORE_SILENCE;
    if (!isCut && whole.seconds >= leastSecondsOf(whole.text)) {
      pace.learnFast(whole.text, whole.seconds);
      return whole;
    }
    if (isCut) pace.learnLimit(whole.seconds);
    return divided;
  }

  async #half(task: Task, whole: Spoken, failure: () => EngineError): Promise<Spoken> {
    const pace = this.#paceOf(task.voice);
    const half = await this.#heard(task);
    if (half.misfit) return this.#again(task, half);
    // What is as long as the whole was cut at the same place.
    const isCut = isAsLong(half, whole);
    if (!isCut && half.seconds >= pace.secondsOfWhole(half.text)) {
      pace.learn(half.text, half.seconds);
      return half;
    }
    if (isCut && countCodePoints(half.text) <= FEWEST_CHARACTERS) throw failure();
    return this.#divided(task, half, failure, isCut);
  }

  #paceOf(voice: SourceVoice): VoicePace {
    const pace = this.#paces.get(voice) ?? new VoicePace();
    this.#paces.set(voice, pace);
    return pace;
  }

  #tell(task: Task, sound: Measured, misfit: Misfit, how: CutManner): void {
    task.onCut?.(this.#unfit(sound, misfit, this.#paceOf(task.voice)).message, how);
  }

  /** The engine was asked more than once, or does the same each time: it is not asked once more. */
  #unfit({ text, seconds, silence }: Measured, misfit: Misfit, pace: VoicePace): EngineError {
    const sent = `${this.#name} sent ${seconds.toFixed(1)} s of sound for "${excerpt(text)}"`;
    const characters = `${countCodePoints(text)} characters`;
    const what = {
      short: `too short for ${characters}: the engine seems to drop text; set maxChars: ${rounded(pace.charactersIn(seconds))}`,
      long: `too long for ${characters} at the pace of the voice: the engine seems to say what is not there; a smaller maxChars may help`,
      silent: `with ${silence.toFixed(1)} s of silence inside: the engine seems to fall silent; a smaller maxChars may help`,
    };
    return new EngineError('failed', `${sent}, ${what[misfit]}`, { isFinal: true });
  }
}

/** Silence that comes after sound that was passed on is only told. */
function misfitOf(sound: Incoming, most: number, isHeld: boolean): Heard['misfit'] {
  if (sound.seconds > most) return 'long';
  return sound.isDead && isHeld ? 'silent' : undefined;
}

function joined(text: string, parts: readonly Spoken[]): Spoken {
  return {
    text,
    seconds: parts.reduce((sum, { seconds }) => sum + seconds, 0),
    silence: Math.max(...parts.map(({ silence }) => silence)),
    samples: parts.flatMap(({ samples }) => samples),
  };
}

function isAsLong(half: Spoken, whole: Spoken): boolean {
  return Math.abs(half.seconds - whole.seconds) <= whole.seconds * SAME_LENGTH;
}

const SAME_LENGTH = 0.02;

function rounded(spoken: number): number {
  const step = spoken < 100 ? 10 : 50;
  return Math.max(FEWEST_CHARACTERS, step * Math.round(spoken / step));
}

/** @returns the text in two, at the border of sentences next to its middle; a short sentence is not divided */
function inTwo(text: string): string[] {
  const ends: number[] = [];
  for (const sentence of sentences(text)) ends.push((ends.at(-1) ?? 0) + sentence.length);
  const distance = (end: number) => Math.abs(end - text.length / 2);
  const [middle] = ends.slice(0, -1).sort((a, b) => distance(a) - distance(b));
  if (middle !== undefined) return [text.slice(0, middle).trim(), text.slice(middle).trim()];
  const parts = countCodePoints(text) > FEWEST_CHARACTERS ? halves(text) : [];
  return parts.length > 1 ? parts : [text];
}

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

export interface OpenOptions {
  readonly host: Pick<Host, 'env' | 'platform' | 'runtime' | 'execPath' | 'endGroup'>;
  readonly signal: AbortSignal;
  /** The longest time without a byte. */
  readonly timeoutMs: number;
  /** Folders with a `node_modules` in which the runtime of models may lie. */
  readonly runtimes: readonly string[];
}

/** @throws EngineError with what is missing */
export async function openSource(config: SourceConfig, options: OpenOptions): Promise<VoiceSource> {
  const { host, signal, timeoutMs, runtimes } = options;
  if (config.kind === 'server') {
    const { openServer } = await import('./server.ts');
    await delayTierUp(host.runtime);
    return openServer(config, { timeoutMs, signal });
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
