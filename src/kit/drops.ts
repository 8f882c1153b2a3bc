/** The rejection of a step whose sound or text is no longer wanted, though the run continues. */
export class Dropped extends Error {
  override readonly name = 'Dropped';
}

/**
 * An empty piece of sound that marks a drop. The player discards all sound before this marker, wherever it is still buffered
 * on its way.
 */
export class Flush extends Uint8Array {}

/** Cancels everything that is queued in a run, at every step. What comes after a drop is new. */
export class Drops {
  #take = new AbortController();
  #flush = new Flush();
  readonly #listeners: (() => void)[] = [];

  /** Aborts at the next drop, and is then replaced by a new one. */
  get signal(): AbortSignal {
    return this.#take.signal;
  }

  /** The marker after which a player continues since the last drop. */
  get flush(): Flush {
    return this.#flush;
  }

  /** @param listener called before the signal aborts */
  listen(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** @param listener called before all others, so that they agree on how much was heard */
  listenFirst(listener: () => void): void {
    this.#listeners.unshift(listener);
  }

  /** Drops. Call it in a task of the event loop: during microtasks, a part may be between two steps and would be missed. */
  now(): void {
    const over = this.#take;
    this.#take = new AbortController();
    this.#flush = new Flush();
    for (const listener of this.#listeners) listener();
    over.abort(new Dropped('it is not wanted any more'));
  }
}
