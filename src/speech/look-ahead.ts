import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PcmFormat, Speech } from '../audio/pcm.ts';
import { Dropped } from '../drops.ts';
import { TtsError } from '../error.ts';
import { labelOf } from '../text/piece.ts';
import type { Rest, Segment } from '../text/segment.ts';
import { excerpt } from '../text/unicode.ts';
import { Asking, type AskingOptions, type StartedPart } from './asking/asking.ts';
import { Budget } from './asking/prefetch.ts';

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

export interface LookAheadOptions extends AskingOptions {
  readonly segments: (signal: AbortSignal) => AsyncIterable<Segment | Rest>;
  /** The largest number of segments that are asked for and not yet heard. */
  readonly window: number;
  readonly budgetBytes: number;
  /** What the reader misses if a part fails. */
  readonly missing?: (segment: Segment) => string;
  readonly skipping?: Skipping | undefined;
}

export interface Skipping {
  allows(error: unknown, segment: Segment): error is TtsError;
  /** It is called in the part's turn. */
  onSkipped(error: TtsError, segment: Segment): void;
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
  readonly #asking: Asking;
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
    this.#asking = new Asking(options, new Budget(budgetBytes), (error, segment, isWithin) => {
      this.#failed ||= isWithin || !options.skipping?.allows(error, segment);
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
    const { skipping } = this.#options;
    if (!skipping?.allows(error, segment)) throw this.#withLoss(error, segment);
    this.#spared ??= error;
    skipping.onSkipped(error, segment);
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
    if (this.#isSingle || signal.aborted || !(error instanceof TtsError)) return error;
    const stop = { done: segment.index, line: segment.place.line };
    return error.reworded(`${error.message}; ${missing(segment)}`, { stop });
  }
}

function restFrom({ place: { source, line }, text }: Segment): string {
  const whole = source === '' ? 'the text' : `the text of ${labelOf(source)}`;
  const start = `"${excerpt(text)}"`;
  return `${whole} is missing from ${line === undefined ? `${start} on` : `line ${line} on, ${start}`}`;
}
