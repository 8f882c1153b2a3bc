import { AsyncQueue, unlessAborted } from '../async.ts';

/** The bytes of sound that wait for their readers, of all utterances together. */
export class SoundBudget {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get isSpent(): boolean {
    return this.#bytes >= this.#most;
  }

  spend(bytes: number): void {
    this.#bytes += bytes;
  }

  giveBack(bytes: number): void {
    this.#bytes -= bytes;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves when bytes are given back. */
  change(): Promise<void> {
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }
}

/**
 * The sound between an engine and its reader. While the budget lasts, the engine goes on without a slow reader. After that it
 * waits, but a reader that has taken everything always gets the next piece.
 */
export class SoundQueue {
  readonly #budget: SoundBudget;
  readonly #signal: AbortSignal;
  readonly #pieces = new AsyncQueue<Int16Array>(({ byteLength }) => this.#budget.giveBack(byteLength));
  #hasLeft = false;

  constructor(budget: SoundBudget, signal: AbortSignal) {
    this.#budget = budget;
    this.#signal = signal;
  }

  get isEnded(): boolean {
    return this.#pieces.isEnded;
  }

  /** @throws Error after the reader has left, which ends the engine's work */
  async push(samples: Int16Array): Promise<void> {
    while (!this.#pieces.isEmpty && this.#budget.isSpent)
      await unlessAborted(this.#budget.change(), this.#signal);
    if (this.#hasLeft) throw new Error('the reader left');
    this.#budget.spend(samples.byteLength);
    this.#pieces.push(samples);
  }

  end(error?: unknown): void {
    this.#pieces.end(error);
  }

  /** Samples before an error come first. */
  async *read(): AsyncGenerator<Int16Array> {
    try {
      yield* this.#pieces;
    } finally {
      this.#hasLeft = true;
      this.#pieces.clear();
    }
  }
}
