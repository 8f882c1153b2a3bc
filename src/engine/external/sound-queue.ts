import { unlessAborted } from '../../async.ts';

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
  readonly #pieces: Int16Array[] = [];
  #isEnded = false;
  #hasLeft = false;
  #error: unknown;
  #wake = () => {};

  constructor(budget: SoundBudget, signal: AbortSignal) {
    this.#budget = budget;
    this.#signal = signal;
  }

  /** @throws Error after the reader has left, which ends the engine's work */
  async push(samples: Int16Array): Promise<void> {
    while (this.#pieces.length > 0 && this.#budget.isSpent)
      await unlessAborted(this.#budget.change(), this.#signal);
    if (this.#hasLeft) throw new Error('the reader left');
    this.#pieces.push(samples);
    this.#budget.spend(samples.byteLength);
    this.#wake();
  }

  end(error?: unknown): void {
    this.#isEnded = true;
    this.#error = error;
    this.#wake();
  }

  /** Samples before an error come first. */
  async *read(): AsyncGenerator<Int16Array> {
    try {
      for (;;) {
        const piece = this.#take();
        if (piece) yield piece;
        else if (this.#isEnded) break;
        else await this.#change();
      }
    } finally {
      this.#hasLeft = true;
      while (this.#take());
    }
    if (this.#error !== undefined) throw this.#error;
  }

  #take(): Int16Array | undefined {
    const piece = this.#pieces.shift();
    if (piece) this.#budget.giveBack(piece.byteLength);
    return piece;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
