import type { Speech } from '../audio/pcm.ts';

/** Bytes that the part which is being heard may hold, even when nothing is left of the budget. */
const HEAD_BYTES = 1 << 20;

/** Bytes that a piece takes beside its samples, which may be two. */
const PIECE_BYTES = 160;

type State = 'reading' | 'ended' | 'left' | { readonly error: unknown };

/**
 * The sound of one part, fetched ahead of its turn. It is kept while it waits, as far as the budget goes; when that is
 * used up, reading stops, and with it the service is slowed down. To end the reading itself is up to its signal.
 */
export class Prefetch {
  /** `undefined` where the sound goes elsewhere. Its `pcm` is to be read when the part has its turn. */
  readonly speech: Promise<Speech | undefined>;
  readonly #budget: Budget;
  readonly #failed: (error?: unknown) => void;
  #pieces: Uint8Array[] = [];
  #held = 0;
  #state: State = 'reading';
  #isHead = false;
  #wakeReader = () => {};
  #wakePump = () => {};

  /** @param failed hears at once, with the error where the sound did not even begin; all is told in the part's turn */
  constructor(asked: Promise<Speech | undefined>, budget: Budget, failed: (error?: unknown) => void) {
    this.#budget = budget;
    this.#failed = failed;
    this.speech = asked.then((speech) => {
      if (!speech) return undefined;
      void this.#pump(speech.pcm);
      return { ...speech, pcm: this.#handOut() };
    });
    this.speech.catch(failed);
  }

  /** From now on this part is the one that is heard: it does not wait for others to make room. */
  takeTurn(): void {
    this.#isHead = true;
    this.#wakePump();
  }

  async #pump(pcm: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const piece of pcm) {
        this.#pieces.push(piece);
        this.#hold(piece.length + PIECE_BYTES);
        this.#wakeReader();
        while (this.#state === 'reading' && this.#isFull) await this.#roomMade();
        if (this.#state !== 'reading') return;
      }
      this.#state = 'ended';
    } catch (error) {
      this.#state = { error };
      this.#failed();
    }
    this.#wakeReader();
  }

  get #isFull(): boolean {
    return this.#isHead ? this.#held >= HEAD_BYTES : this.#budget.isSpent;
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

  async *#handOut(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        // The last first: taking from the front would move all the others each time.
        const pieces = this.#pieces.reverse();
        this.#pieces = [];
        for (let piece = pieces.pop(); piece; piece = pieces.pop()) {
          this.#letGo(piece.length + PIECE_BYTES);
          yield piece;
        }
        if (this.#pieces.length > 0) continue;
        if (this.#state === 'ended') return;
        if (typeof this.#state === 'object') throw this.#state.error;
        await new Promise<void>((resolve) => {
          this.#wakeReader = resolve;
        });
      }
    } finally {
      if (this.#state === 'reading') this.#state = 'left';
      this.#pieces = [];
      this.#letGo(this.#held);
      this.#wakePump();
    }
  }

  #letGo(bytes: number): void {
    this.#held -= bytes;
    this.#budget.give(bytes);
    if (this.#isHead) this.#wakePump();
  }
}

/** What the parts of one run may hold while they wait for their turn: some 25 minutes of sound. */
export const BUDGET_BYTES = 64 * 2 ** 20;

/** Bytes that all waiting parts together may hold. */
export class Budget {
  #left: number;
  #waiting = new Set<() => void>();

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  /** Whoever takes must look at {@link isSpent} before the next time: one piece may go over the budget. */
  take(bytes: number): void {
    this.#left -= bytes;
  }

  give(bytes: number): void {
    this.#left += bytes;
    if (this.isSpent) return;
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const wake of waiting) wake();
  }

  /** Calls back once, when something may be taken again. */
  onRoom(wake: () => void): void {
    this.#waiting.add(wake);
  }
}
