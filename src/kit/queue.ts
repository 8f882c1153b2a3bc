import { unlessAborted } from './wait.ts';

/** First in, first out, in constant time for each item. `shift` of an array takes time by the length of the array. */
export class Fifo<T> {
  #pushed: T[] = [];
  /** The next items in reverse order. */
  #due: T[] = [];

  get isEmpty(): boolean {
    return this.#pushed.length + this.#due.length === 0;
  }

  push(item: T): void {
    this.#pushed.push(item);
  }

  /** @returns `undefined` from an empty queue */
  take(): T | undefined {
    if (this.#due.length === 0) [this.#due, this.#pushed] = [this.#pushed.reverse(), this.#due];
    return this.#due.pop();
  }
}

/** A queue between one writer and one reader. The reader gets an error after the items that were pushed before it. */
export class AsyncQueue<T extends object> implements AsyncIterable<T> {
  readonly #onTaken: (item: T) => void;
  readonly #items = new Fifo<T>();
  #end: { readonly error: unknown } | undefined;
  #wake = () => {};

  /** @param onTaken called for each item that leaves the queue, so that the writer can continue */
  constructor(onTaken: (item: T) => void = () => {}) {
    this.#onTaken = onTaken;
  }

  get isEmpty(): boolean {
    return this.#items.isEmpty;
  }

  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  push(item: T): void {
    this.#items.push(item);
    this.#wake();
  }

  /** Ends the queue. Only the first call counts. */
  end(error?: unknown): void {
    this.#end ??= { error };
    this.#wake();
  }

  clear(): void {
    while (this.#take());
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, undefined> {
    while (!this.#end || !this.isEmpty) {
      for (let item = this.#take(); item; item = this.#take()) yield item;
      if (!this.#end) await this.#change();
    }
    if (this.#end.error !== undefined) throw this.#end.error;
  }

  #take(): T | undefined {
    const item = this.#items.take();
    if (item) this.#onTaken(item);
    return item;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** A limit for the bytes that are buffered in several queues together. */
export class ByteBudget {
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

  /** Resolves the next time that bytes are given back. */
  change(): Promise<void> {
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }
}

/**
 * A queue with back-pressure. While the budget lasts, the writer runs ahead of a slow reader. After that it waits, but a
 * reader that has taken everything always gets the next piece.
 */
export class BoundedQueue<T extends { readonly byteLength: number }> {
  readonly #budget: ByteBudget;
  readonly #signal: AbortSignal;
  readonly #pieces = new AsyncQueue<T>(({ byteLength }) => this.#budget.giveBack(byteLength));
  #hasLeft = false;

  constructor(budget: ByteBudget, signal: AbortSignal) {
    this.#budget = budget;
    this.#signal = signal;
  }

  get isEnded(): boolean {
    return this.#pieces.isEnded;
  }

  /** @throws Error after the reader has left, which ends the writer's work */
  async push(piece: T): Promise<void> {
    while (!this.#pieces.isEmpty && this.#budget.isSpent)
      await unlessAborted(this.#budget.change(), this.#signal);
    if (this.#hasLeft) throw new Error('the reader left');
    this.#budget.spend(piece.byteLength);
    this.#pieces.push(piece);
  }

  end(error?: unknown): void {
    this.#pieces.end(error);
  }

  /** Yields the pieces that came before an error, and then throws it. */
  async *read(): AsyncGenerator<T> {
    try {
      yield* this.#pieces;
    } finally {
      this.#hasLeft = true;
      this.#pieces.clear();
    }
  }
}
