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
