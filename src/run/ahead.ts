import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Dropped, type Drops } from '../kit/drops.ts';
import { TtsError } from '../kit/error.ts';
import { AsyncQueue, ByteBudget } from '../kit/queue.ts';
import { Arrivals, inTime, singleItem } from '../kit/wait.ts';
import type { PcmFormat, Speech } from '../sound/pcm.ts';
import { labelOf } from '../text/piece.ts';
import type { Segment, Silence } from '../text/segment.ts';
import { excerpt, hasWord } from '../text/unicode.ts';
import type { Fallback, Patience } from '../voices/fallback.ts';

/** Bytes that the part in its turn may buffer even if the budget is spent. */
const HEAD_BYTES = 1 << 20;

/** Bytes of memory that a piece takes in addition to its sound. */
const PIECE_OVERHEAD = 160;

interface PrefetchOptions {
  readonly signal: AbortSignal;
  /**
   * Called at once. The error itself is thrown in the part's turn.
   * @param isWithin true if some of the sound had come
   */
  readonly onFailure: (error: unknown, isWithin: boolean) => void;
}

/** The sound of one part, prefetched while the budget lasts, and always read to its end or until it is aborted. */
export class Prefetch {
  readonly speech: Promise<Speech | undefined>;
  /** Resolves at the first sound, or at the end of a part without sound. */
  readonly begun: Promise<void>;
  readonly #budget: ByteBudget;
  readonly #options: PrefetchOptions;
  readonly #pieces = new AsyncQueue<Uint8Array>(({ length }) => this.#release(length + PIECE_OVERHEAD));
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

  /** Frees the buffer of a part that will not be heard. Its signal must be aborted already. */
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
        this.#hold(piece.length + PIECE_OVERHEAD);
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
    return this.#isHead ? this.#held >= HEAD_BYTES : this.#budget.isSpent;
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

  #release(bytes: number): void {
    this.#held -= bytes;
    this.#budget.giveBack(bytes);
    if (this.#isHead) this.#wakePump();
  }
}

/** The default buffer of prefetched sound: 25 minutes. */
export const BUDGET_BYTES = 64 * 2 ** 20;

export interface StartedPart {
  readonly segment: Segment;
  /** Aborts when the part is no longer wanted. */
  readonly dropped: AbortSignal | undefined;
  sound: Prefetch;
  /** Cancels the request and discards its sound. */
  stop(): void;
}

export interface SegmentRequestOptions {
  readonly synthesize: (segment: Segment, signal: AbortSignal) => Promise<Speech | undefined>;
  readonly signal: AbortSignal;
  readonly fallback?: Pick<Fallback, 'speaks' | 'takesOver' | 'begun'> | undefined;
  readonly patience?: Pick<Patience, 'milliseconds' | 'late' | 'noteRetry'> | undefined;
  /** Each drop cancels everything that was requested before. */
  readonly drops?: Drops | undefined;
}

/**
 * Reports the failure of a part that no other voice takes over.
 * @param isWithin true if some of its sound had come
 */
type OnFailure = (error: unknown, segment: Segment, isWithin: boolean) => void;

/** Requests the sound of segments. If a voice fails, another one may take over the segment and all after it. */
export class SegmentRequests {
  readonly #options: SegmentRequestOptions;
  readonly #budget: ByteBudget;
  readonly #onFailure: OnFailure;
  /** The parts that wait for their turn. */
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
   * Waits for the part that is heard next.
   * @throws the error of the part, unless another voice takes it over
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
        part.dropped?.throwIfAborted();
        this.head = part;
        const { patience, signal } = this.#options;
        return speech && patience ? { ...speech, pcm: inTime(speech.pcm, patience, signal) } : speech;
      }
    } finally {
      this.#waiting.delete(part);
    }
  }

  /**
   * Falls back after a failure in the middle of the part in its turn, some of which was heard.
   * @returns true if another voice continues with the next part
   */
  fallsBackAfter(head: StartedPart, error: unknown): boolean {
    if (!this.#fallBack(error, head.segment, true)) return false;
    head.stop();
    return true;
  }

  /** Cancels all parts. Those who wait for one get `Dropped`. */
  drop(): void {
    const parts = [...this.#waiting, ...(this.head ? [this.head] : [])];
    this.#waiting.clear();
    this.head = undefined;
    for (const part of parts) part.stop();
  }

  /** True if a request may be given up, because its voice failed or took too long. */
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
    // If the part is being heard, its failure counts only after the sound before it.
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

  /** If another voice may take the part over, waits for its first sound as well. */
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
  /** Aborts when the part is no longer wanted. */
  readonly dropped: AbortSignal | undefined;
  /** Seconds of silence since the last part; `undefined` if there was none. */
  readonly silence: number | undefined;
}

/** Segments to prefetch for each open request, so that the others stay busy while one is slow. */
export const SEGMENTS_PER_SLOT = 2;

export interface LookAheadOptions extends SegmentRequestOptions {
  readonly segments: (signal: AbortSignal) => AsyncIterable<Segment | Silence>;
  /** The most segments that are requested and not yet heard. */
  readonly window: number;
  readonly budgetBytes: number;
  /** Says what text is missing if a part fails; null keeps the error unchanged. */
  readonly missing?: ((segment: Segment) => string) | null | undefined;
  /** True if a segment with words that failed with this error may be skipped. */
  readonly maySkip?: ((error: unknown, segment: Segment) => error is TtsError) | undefined;
  /** Called in the turn of the part that is skipped. */
  readonly onSkipped: (error: TtsError, segment: Segment) => void;
}

interface Start {
  readonly coming: Promise<StartedPart | Silence | undefined>;
  isOver: boolean;
}

/** Milliseconds within which a text that has arrived yields its next segment. */
const AT_ONCE_MS = 50;

/** Prefetches the next parts while one is heard, until one fails. */
export class LookAhead {
  /** Resolves when the text has its first segment. */
  readonly begun: Promise<void>;
  readonly #options: LookAheadOptions;
  readonly #segments: AsyncIterator<Segment | Silence>;
  readonly #asking: SegmentRequests;
  #started: Start[] = [];
  /** A failure in the middle of a part, until another voice has continued after it. */
  #broken: unknown;
  #onBegun = () => {};
  #count = 0;
  #ended = false;
  #failed = false;
  /** The error of the first skipped segment with words, thrown if no part is heard at all. */
  #firstSkipped: TtsError | undefined;
  #hasPart = false;
  #silence: number | undefined;
  #hasSilence = false;

  constructor(options: LookAheadOptions) {
    const { signal, segments, budgetBytes, drops } = options;
    drops?.listen(() => this.#drop());
    // Every request adds a listener to the signal, which must not cause a warning.
    setMaxListeners(0, signal);
    this.#options = options;
    this.#segments = segments(signal)[Symbol.asyncIterator]();
    this.#asking = new SegmentRequests(options, new ByteBudget(budgetBytes), (error, segment, isWithin) => {
      this.#failed ||= isWithin || !this.#maySkip(error, segment);
    });
    this.begun = new Promise((resolve) => {
      this.#onBegun = resolve;
    });
  }

  get #isSingle(): boolean {
    return this.#ended && this.#count === 1;
  }

  /** True if the whole track is one part, so that both have the same size. */
  get isAlone(): boolean {
    return this.#isSingle && !this.#hasSilence;
  }

  /** Seconds of silence after the last part; `undefined` if there is none. */
  get silence(): number | undefined {
    return this.#silence;
  }

  /** @throws TtsError in the turn of a part that failed */
  async next(): Promise<PartInTurn | undefined> {
    for (;;) {
      const started = await this.#nextStarted();
      if (!started && this.#firstSkipped && !this.#hasPart) throw this.#firstSkipped;
      if (!started && this.#broken) throw this.#broken;
      if (!started) return undefined;
      const { segment, dropped } = started;
      try {
        const speech = await this.#asking.turnOf(started);
        this.#broken = undefined;
        this.#hasPart = true;
        const silence = this.#silence;
        this.#silence = undefined;
        return { segment, speech, silence, dropped };
      } catch (error) {
        if (!(error instanceof Dropped)) this.#skip(error, segment);
      }
    }
  }

  /** @throws the error, naming the missing text, unless the part may be skipped */
  #skip(error: unknown, segment: Segment): void {
    if (!this.#maySkip(error, segment)) throw this.#withLoss(error, segment);
    if (hasWord(segment.text)) this.#firstSkipped ??= error;
    this.#options.onSkipped(error, segment);
  }

  /** A segment without a word, such as "...", may always be skipped: nothing of the text is missing then. */
  #maySkip(error: unknown, segment: Segment): error is TtsError {
    const isWordless = error instanceof TtsError && error.concernsThisTextOnly && !hasWord(segment.text);
    return isWordless || this.#options.maySkip?.(error, segment) === true;
  }

  /** Returns the format of the first such part that is requested. Waits for its answer, but not for more text. */
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
      this.#silence = (this.#silence ?? 0) + started.seconds;
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

  /** Keeps the starts that still wait for a segment: they get the next ones. */
  #drop(): void {
    this.#asking.drop();
    this.#started = this.#started.filter(({ isOver }) => !isOver);
    [this.#silence, this.#firstSkipped, this.#broken] = [undefined, undefined, undefined];
    [this.#ended, this.#failed] = [false, false];
  }

  async #startNext(): Promise<StartedPart | Silence | undefined> {
    const next = await this.#segments.next();
    if (next.done || this.#failed) {
      this.#ended = true;
      return undefined;
    }
    const { value } = next;
    if (value.kind === 'silence') {
      this.#hasSilence = true;
      return value;
    }
    this.#count += 1;
    this.#onBegun();
    return this.#asking.start(value);
  }

  /**
   * Handles a failure in the middle of the part in its turn, some of which was heard.
   * @throws the error, naming the missing text, unless another voice continues with the next part
   */
  continueAfter(error: unknown): void {
    const { head } = this.#asking;
    if (!head) throw error;
    const lost = this.#withLoss(error, head.segment);
    if (this.#isSingle || !this.#asking.fallsBackAfter(head, error)) throw lost;
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
