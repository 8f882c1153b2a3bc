import { AsyncQueue } from '../../async.ts';
import type { Speech } from '../../audio/pcm.ts';

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
  readonly #budget: Budget;
  readonly #options: PrefetchOptions;
  readonly #pieces = new AsyncQueue<Uint8Array>(({ length }) => this.#letGo(length + PIECE_BYTES));
  #held = 0;
  #isHead = false;
  #isDropped = false;
  #wakePump = () => {};
  #onBegun = () => {};
  #onFailed: (error: unknown) => void = () => {};

  constructor(asked: Promise<Speech | undefined>, budget: Budget, options: PrefetchOptions) {
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
    this.#budget.take(bytes);
  }

  async #roomMade(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wakePump = resolve;
      if (!this.#isHead) this.#budget.onRoom(resolve);
    });
  }

  #letGo(bytes: number): void {
    this.#held -= bytes;
    this.#budget.give(bytes);
    if (this.#isHead) this.#wakePump();
  }
}

/** 25 minutes of sound. */
export const BUDGET_BYTES = 64 * 2 ** 20;

export class Budget {
  #remaining: number;
  #waiting = new Set<() => void>();

  constructor(bytes: number) {
    this.#remaining = bytes;
  }

  get isSpent(): boolean {
    return this.#remaining <= 0;
  }

  take(bytes: number): void {
    this.#remaining -= bytes;
  }

  give(bytes: number): void {
    this.#remaining += bytes;
    if (this.isSpent) return;
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const wake of waiting) wake();
  }

  onRoom(wake: () => void): void {
    this.#waiting.add(wake);
  }
}
