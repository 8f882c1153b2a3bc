import { setMaxListeners } from 'node:events';
import { passing } from '../async.ts';
import type { Speech } from '../audio/pcm.ts';
import { TtsError } from '../error.ts';
import type { Segment } from '../text/segment.ts';
import { Budget, Prefetch } from './prefetch.ts';

/** A piece of the text and its sound; `undefined` where the sound goes elsewhere. */
export interface Part {
  readonly segment: Segment;
  readonly speech: Speech | undefined;
}

export interface LookAheadOptions {
  /** Makes the sound of a segment. That with the lowest index is heard first. */
  readonly synthesize: (segment: Segment, signal: AbortSignal) => Promise<Speech | undefined>;
  /** Parts that may be under way or wait for their turn. */
  readonly window: number;
  /** Bytes that waiting parts may hold. */
  readonly budgetBytes: number;
  readonly signal: AbortSignal;
  /** What a listener misses where a part fails, in words; the place in the text when nothing else is said. */
  readonly missing?: (segment: Segment) => string;
  /** None: the first part that fails ends all. */
  readonly sparing?: Sparing | undefined;
}

/** Lets the run go on without a part whose sound never began. */
export interface Sparing {
  allows(error: unknown): error is TtsError;
  /** Told in the part's turn. */
  spare(error: TtsError, segment: Segment): void;
}

interface Started {
  readonly segment: Segment;
  readonly sound: Prefetch;
}

/**
 * The parts in the order of the text. While one is heard, the next ones are fetched. A reader that pauses thereby ends
 * the fetching, a reader that leaves ends what is under way, and a part that failed keeps further ones from being begun.
 * @throws TtsError in the failed part's turn, with what is missing for it
 */
export class LookAhead {
  readonly #options: LookAheadOptions;
  readonly #segments: AsyncIterator<Segment>;
  readonly #budget: Budget;
  readonly #left = new AbortController();
  readonly #signal: AbortSignal;
  readonly #started: Promise<Started | undefined>[] = [];
  #count = 0;
  #ended = false;
  #failed = false;

  /** @param segments the text, to be read until its signal aborts */
  constructor(segments: (signal: AbortSignal) => AsyncIterable<Segment>, options: LookAheadOptions) {
    this.#signal = AbortSignal.any([options.signal, this.#left.signal]);
    // Every request listens to it: many at once are no leak.
    setMaxListeners(0, this.#signal);
    this.#segments = segments(this.#signal)[Symbol.asyncIterator]();
    this.#options = options;
    this.#budget = new Budget(options.budgetBytes);
  }

  /** Whether the text is known to have one segment only. */
  get isSingle(): boolean {
    return this.#ended && this.#count === 1;
  }

  async *parts(): AsyncGenerator<Part> {
    try {
      for (;;) {
        while (this.#started.length < this.#options.window && !this.#ended) this.#started.push(this.#begin());
        const started = await this.#started.shift();
        if (!started) return;
        started.sound.takeTurn();
        const part = await this.#part(started);
        if (part) yield part;
      }
    } finally {
      this.leave();
    }
  }

  /** Ends everything that is under way, also what `return()` cannot reach since its generator is waiting. */
  leave(): void {
    this.#left.abort(new Error('the reader left'));
  }

  #begin(): Promise<Started | undefined> {
    const started = this.#next();
    // A failure is told when the part has its turn, not before.
    started.catch(() => {});
    return started;
  }

  /** Begins the next segment, once it is there. */
  async #next(): Promise<Started | undefined> {
    const next = await this.#segments.next();
    if (next.done || this.#failed) {
      this.#ended = true;
      return undefined;
    }
    this.#count += 1;
    const asked = this.#options.synthesize(next.value, this.#signal);
    const failed = (error?: unknown) => {
      this.#failed ||= !this.#options.sparing?.allows(error);
    };
    return { segment: next.value, sound: new Prefetch(asked, this.#budget, failed) };
  }

  /** @returns `undefined` where all goes on without it */
  async #part({ segment, sound }: Started): Promise<Part | undefined> {
    const { sparing } = this.#options;
    const explain = (error: unknown) =>
      this.isSingle || this.#options.signal.aborted ? error : this.#withLoss(error, segment);
    try {
      const speech = await sound.speech;
      return { segment, speech: speech && { ...speech, pcm: passing(speech.pcm, { explain }) } };
    } catch (error) {
      if (!sparing?.allows(error)) throw explain(error);
      sparing.spare(error, segment);
      return undefined;
    }
  }

  #withLoss(error: unknown, segment: Segment): unknown {
    if (!(error instanceof TtsError)) return error;
    const { missing = restFrom } = this.#options;
    return error.inWords(`${error.message}; ${missing(segment)}`);
  }
}

/** From where on the text is missing. */
function restFrom({ file, line, text }: Segment): string {
  const whole = file === undefined ? 'the text' : `the text of ${file === '-' ? 'stdin' : file}`;
  const start = `"${excerpt(text)}"`;
  return `${whole} is missing from ${line === undefined ? `${start} on` : `line ${line} on, ${start}`}`;
}

function excerpt(text: string): string {
  const words = text.replace(/\s+/g, ' ');
  return words.length <= 40 ? words : `${words.slice(0, 40).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
