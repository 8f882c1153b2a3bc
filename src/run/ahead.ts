import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Dropped, type Drops } from '../kit/drops.ts';
import { TtsError } from '../kit/error.ts';
import { AsyncQueue, ByteBudget } from '../kit/queue.ts';
import { Arrivals, inTime, singleItem } from '../kit/wait.ts';
import type { PcmFormat, Speech } from '../sound/pcm.ts';
import { labelOf } from '../text/piece.ts';
import type { Rest, Segment } from '../text/segment.ts';
import { excerpt } from '../text/unicode.ts';
import type { Fallback, Patience } from '../voices/fallback.ts';

/** The part that is heard may hold this many bytes even if the budget is spent. */
const KEPT_BYTES = 1 << 20;

const PIECE_BYTES = 160;

interface PrefetchOptions {
  readonly signal: AbortSignal;
  /**
   * It is called at once; the error is thrown in the part's turn.
   * @param isWithin true where some of the sound has come
   */
  readonly onFailure: (error: unknown, isWithin: boolean) => void;
}

/** The sound of one part, fetched ahead of its turn while the budget lasts, and always read to its end or the abort. */
export class Prefetch {
  readonly speech: Promise<Speech | undefined>;
  /** It resolves with the first sound, or with the end of a part without any. */
  readonly begun: Promise<void>;
  readonly #budget: ByteBudget;
  readonly #options: PrefetchOptions;
  readonly #pieces = new AsyncQueue<Uint8Array>(({ length }) => this.#letGo(length + PIECE_BYTES));
  #held = 0;
  #isHead = false;
  #isDropped = false;
  #wakePump = () => {};
  #onBegun = () => {};
  #onFailed: (error: unknown) => void = () => {};

  constructor(asked: Promise<Speech | undefined>, budget: ByteBudget, options: PrefetchOptions) {
    this.#budget = budget;
    this.#options = options;
    this.begun = new Promise((resolve, reject) => {
      this.#onBegun = resolve;
      this.#onFailed = reject;
    });
    this.begun.catch(() => {});
    this.speech = asked.then((speech) => {
      if (!speech) return void this.#onBegun();
      void this.#pump(speech.pcm);
      return { ...speech, pcm: this.#pieces };
    });
    this.speech.catch((error) => this.#fail(error, false));
  }

  takeTurn(): void {
    this.#isHead = true;
    this.#wakePump();
  }

  /** Gives back the room of a part that is not heard. Its signal is aborted. */
  drop(): void {
    this.#isDropped = true;
    this.#pieces.clear();
  }

  async #pump(pcm: AsyncIterable<Uint8Array>): Promise<void> {
    const { signal } = this.#options;
    const wake = () => this.#wakePump();
    signal.addEventListener('abort', wake);
    try {
      for await (const piece of pcm) {
        this.#hold(piece.length + PIECE_BYTES);
        this.#pieces.push(piece);
        if (piece.length > 0) this.#onBegun();
        while (this.#isFull && !signal.aborted) await this.#roomMade();
        signal.throwIfAborted();
      }
      this.#pieces.end();
      this.#onBegun();
    } catch (error) {
      this.#pieces.end(error);
      this.#fail(error, true);
      if (this.#isDropped) this.#pieces.clear();
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  #fail(error: unknown, isWithin: boolean): void {
    this.#options.onFailure(error, isWithin);
    this.#onFailed(error);
  }

  get #isFull(): boolean {
    return this.#isHead ? this.#held >= KEPT_BYTES : this.#budget.isSpent;
  }

  #hold(bytes: number): void {
    this.#held += bytes;
    this.#budget.spend(bytes);
  }

  async #roomMade(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wakePump = resolve;
      if (!this.#isHead) void this.#budget.change().then(resolve);
    });
  }

  #letGo(bytes: number): void {
    this.#held -= bytes;
    this.#budget.giveBack(bytes);
    if (this.#isHead) this.#wakePump();
  }
}

/** 25 minutes of sound. */
export const BUDGET_BYTES = 64 * 2 ** 20;

export interface StartedPart {
  readonly segment: Segment;
  /** It aborts when the part is not wanted any more. */
  readonly dropped: AbortSignal | undefined;
  sound: Prefetch;
  /** Ends the request, and drops what came of it. */
  stop(): void;
}

export interface SegmentRequestOptions {
  readonly synthesize: (segment: Segment, signal: AbortSignal) => Promise<Speech | undefined>;
  readonly signal: AbortSignal;
  readonly fallback?: Pick<Fallback, 'speaks' | 'takesOver' | 'begun'> | undefined;
  readonly patience?: Pick<Patience, 'milliseconds' | 'late' | 'noteRetry'> | undefined;
  /** At each of them, all that was asked for is not wanted any more. */
  readonly drops?: Drops | undefined;
}

/**
 * The failure of a part that no other voice speaks.
 * @param isWithin true where some of its sound has come
 */
type OnFailure = (error: unknown, segment: Segment, isWithin: boolean) => void;

/** Asks for the sound of segments. Where their voice fails, another one may speak it and all after it. */
export class SegmentRequests {
  readonly #options: SegmentRequestOptions;
  readonly #budget: ByteBudget;
  readonly #onFailure: OnFailure;
  /** The parts whose turn has not come. */
  readonly #waiting = new Set<StartedPart>();
  /** The part in its turn, until a drop. */
  head: StartedPart | undefined;

  constructor(options: SegmentRequestOptions, budget: ByteBudget, onFailure: OnFailure) {
    this.#options = options;
    this.#budget = budget;
    this.#onFailure = onFailure;
  }

  start(segment: Segment): StartedPart {
    const part = this.#ask(segment);
    this.#waiting.add(part);
    return part;
  }

  /**
   * Waits for the part, which is the next one that is heard.
   * @throws the error of the part, if no other voice speaks it
   */
  async turnOf(part: StartedPart): Promise<Speech | undefined> {
    try {
      for (;;) {
        const { sound } = part;
        const speech = await this.#begun(part).catch((error) => {
          if (part.sound === sound) throw error;
          return undefined;
        });
        if (part.sound !== sound) continue;
        this.head = part;
        const { patience, signal } = this.#options;
        return speech && patience ? { ...speech, pcm: inTime(speech.pcm, patience, signal) } : speech;
      }
    } finally {
      this.#waiting.delete(part);
    }
  }

  /**
   * After a failure inside the part in its turn, of which some was heard.
   * @returns false if no other voice speaks on with the next part
   */
  goesOnBehind(head: StartedPart, error: unknown): boolean {
    if (!this.#fallBack(error, head.segment, true)) return false;
    head.stop();
    return true;
  }

  /** Who waits for a part gets `Dropped`. */
  drop(): void {
    const parts = [...this.#waiting, ...(this.head ? [this.head] : [])];
    this.#waiting.clear();
    this.head = undefined;
    for (const part of parts) part.stop();
  }

  /** Only then a part may be asked for again. */
  get #maySwitch(): boolean {
    const { fallback, patience } = this.#options;
    return fallback !== undefined || patience !== undefined;
  }

  #ask(segment: Segment): StartedPart {
    const { synthesize, signal: all, drops } = this.#options;
    const over = new AbortController();
    const signal = this.#maySwitch || drops ? AbortSignal.any([all, over.signal]) : all;
    const sound = new Prefetch(synthesize(segment, signal), this.#budget, {
      signal,
      onFailure: (error, isWithin) => this.#failed({ segment, sound }, error, isWithin),
    });
    const stop = () => {
      over.abort(new Dropped('this sound is not needed'));
      sound.drop();
    };
    return { segment, dropped: drops?.signal, sound, stop };
  }

  #failed({ segment, sound }: Pick<StartedPart, 'segment' | 'sound'>, error: unknown, isWithin: boolean) {
    const isHead = this.head?.sound === sound;
    const isAwaited = isHead || [...this.#waiting].some((part) => part.sound === sound);
    // What has come of the part in its turn is heard before its failure.
    if (!isAwaited || (isHead && this.#options.fallback)) return;
    if (!this.#fallBack(error, segment, false)) this.#onFailure(error, segment, isWithin);
  }

  #fallBack(error: unknown, failed: Segment, isBroken: boolean): boolean {
    const { fallback } = this.#options;
    const before = [...this.#waiting].filter(({ segment }) => !fallback?.speaks(segment));
    if (!fallback?.takesOver(error, failed, isBroken)) return false;
    for (const part of before) {
      if (!fallback.speaks(part.segment)) continue;
      const { stop } = part;
      Object.assign(part, this.#ask(part.segment));
      stop();
    }
    return true;
  }

  /** Resolves with the first sound, where another voice may still speak the part. */
  async #begun({ segment, sound }: StartedPart): Promise<Speech | undefined> {
    const { patience, signal } = this.#options;
    sound.takeTurn();
    if (!this.#maySwitch) return sound.speech;
    const begun = sound.begun.then(() => sound.speech);
    if (!patience) return begun;
    using arrivals = new Arrivals(singleItem(begun), signal);
    const arrival = await arrivals.next(patience.milliseconds);
    if (arrival) return arrival.value;
    const error = patience.late();
    if (!this.#fallBack(error, segment, false)) throw error;
    return undefined;
  }
}

/** `speech` is `undefined` if the service sends the sound elsewhere. */
export interface Part {
  readonly segment: Segment;
  readonly speech: Speech | undefined;
}

export interface PartInTurn extends Part {
  /** It aborts when the part is not wanted any more. */
  readonly dropped: AbortSignal | undefined;
  /** Seconds of the rests since the last part; `undefined` without one. */
  readonly rest: number | undefined;
}

export interface LookAheadOptions extends SegmentRequestOptions {
  readonly segments: (signal: AbortSignal) => AsyncIterable<Segment | Rest>;
  /** The largest number of segments that are asked for and not yet heard. */
  readonly window: number;
  readonly budgetBytes: number;
  /** What the reader misses if a part fails; null leaves the error as it is. */
  readonly missing?: ((segment: Segment) => string) | null | undefined;
  /** True where a segment that failed like this may be left out. */
  readonly maySkip?: ((error: unknown, segment: Segment) => error is TtsError) | undefined;
  /** It is called in the turn of the part that is left out. */
  readonly onSkipped: (error: TtsError, segment: Segment) => void;
}

interface Start {
  readonly coming: Promise<StartedPart | Rest | undefined>;
  isOver: boolean;
}

/** Milliseconds in which a text that is there gives its next segment. */
const AT_ONCE_MS = 50;

/** While one part is heard, the next ones are fetched, until one fails. */
export class LookAhead {
  /** The text has a first segment. */
  readonly begun: Promise<void>;
  readonly #options: LookAheadOptions;
  readonly #segments: AsyncIterator<Segment | Rest>;
  readonly #asking: SegmentRequests;
  #started: Start[] = [];
  /** The failure inside a part, until another voice goes on after it. */
  #broken: unknown;
  #onBegun = () => {};
  #count = 0;
  #ended = false;
  #failed = false;
  /** The first spared error, until a part has begun. */
  #spared: TtsError | undefined;
  #hasPart = false;
  #rest: number | undefined;
  #hasRests = false;

  constructor(options: LookAheadOptions) {
    const { signal, segments, budgetBytes, drops } = options;
    drops?.listen(() => this.#drop());
    // Every request listens to it.
    setMaxListeners(0, signal);
    this.#options = options;
    this.#segments = segments(signal)[Symbol.asyncIterator]();
    this.#asking = new SegmentRequests(options, new ByteBudget(budgetBytes), (error, segment, isWithin) => {
      this.#failed ||= isWithin || !options.maySkip?.(error, segment);
    });
    this.begun = new Promise((resolve) => {
      this.#onBegun = resolve;
    });
  }

  get #isSingle(): boolean {
    return this.#ended && this.#count === 1;
  }

  /** The size of the only part is that of the whole. */
  get isAlone(): boolean {
    return this.#isSingle && !this.#hasRests;
  }

  /** Seconds of the rests after the last part; `undefined` without one. */
  get rest(): number | undefined {
    return this.#rest;
  }

  /** @throws TtsError in the failed part's turn */
  async next(): Promise<PartInTurn | undefined> {
    for (;;) {
      const started = await this.#nextStarted();
      if (!started && this.#spared && !this.#hasPart) throw this.#spared;
      if (!started && this.#broken) throw this.#broken;
      if (!started) return undefined;
      const { segment, dropped } = started;
      try {
        const speech = await this.#asking.turnOf(started);
        this.#broken = undefined;
        this.#hasPart = true;
        const rest = this.#rest;
        this.#rest = undefined;
        return { segment, speech, rest, dropped };
      } catch (error) {
        if (!(error instanceof Dropped)) this.#onSkipped(error, segment);
      }
    }
  }

  /** @throws the error, with what is missing, unless the part may be left out */
  #onSkipped(error: unknown, segment: Segment): void {
    const { maySkip, onSkipped } = this.#options;
    if (!maySkip?.(error, segment)) throw this.#withLoss(error, segment);
    this.#spared ??= error;
    onSkipped(error, segment);
  }

  /** The format of the first such part among those that are asked for. It waits for the answer, but for no text. */
  async formatOf(isMeant: (segment: Segment) => boolean): Promise<PcmFormat | undefined> {
    for (const { coming } of this.#started) {
      const part = await Promise.race([coming, sleep(AT_ONCE_MS)]).catch(() => undefined);
      if (!part) return undefined;
      const speech = 'segment' in part && isMeant(part.segment) ? part.sound.speech : undefined;
      if (speech) return (await speech.catch(() => undefined))?.format;
    }
    return undefined;
  }

  async #nextStarted(): Promise<StartedPart | undefined> {
    for (;;) {
      while (this.#started.length < this.#options.window && !this.#ended) this.#started.push(this.#start());
      const started = await this.#started.shift()?.coming;
      if (!started || 'segment' in started) return started;
      this.#rest = (this.#rest ?? 0) + started.seconds;
    }
  }

  #start(): Start {
    const start: Start = { coming: this.#startNext(), isOver: false };
    // The error is thrown in the part's turn.
    const over = () => {
      start.isOver = true;
    };
    start.coming.then(over, over);
    return start;
  }

  /** What waits for its segment gets one of those that come. */
  #drop(): void {
    this.#asking.drop();
    this.#started = this.#started.filter(({ isOver }) => !isOver);
    [this.#rest, this.#spared, this.#broken] = [undefined, undefined, undefined];
    [this.#ended, this.#failed] = [false, false];
  }

  async #startNext(): Promise<StartedPart | Rest | undefined> {
    const next = await this.#segments.next();
    if (next.done || this.#failed) {
      this.#ended = true;
      return undefined;
    }
    const { value } = next;
    if (value.kind === 'rest') {
      this.#hasRests = true;
      return value;
    }
    this.#count += 1;
    this.#onBegun();
    return this.#asking.start(value);
  }

  /**
   * After a failure inside the part in its turn, of which some was heard.
   * @throws the error, with what is missing, if no other voice speaks on with the next part
   */
  goOnBehind(error: unknown): void {
    const { head } = this.#asking;
    if (!head) throw error;
    const lost = this.#withLoss(error, head.segment);
    if (this.#isSingle || !this.#asking.goesOnBehind(head, error)) throw lost;
    this.#broken = lost;
  }

  #withLoss(error: unknown, segment: Segment): unknown {
    const { signal, missing = restFrom } = this.#options;
    if (!missing || this.#isSingle || signal.aborted || !(error instanceof TtsError)) return error;
    const stop = { done: segment.index, line: segment.place.line };
    return error.reworded(`${error.message}; ${missing(segment)}`, { stop });
  }
}

function restFrom({ place: { source, line }, text }: Segment): string {
  const whole = source === '' ? 'the text' : `the text of ${labelOf(source)}`;
  const start = `"${excerpt(text)}"`;
  return `${whole} is missing from ${line === undefined ? `${start} on` : `line ${line} on, ${start}`}`;
}
