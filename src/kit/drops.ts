/** What a step rejects with whose sound or text is not wanted any more, though the run goes on. */
export class Dropped extends Error {
  override readonly name = 'Dropped';
}

/**
 * An empty piece of sound in front of what is made after a drop. Whatever holds sound on its way to a player, the player
 * discards all that comes before it.
 */
export class Flush extends Uint8Array {}

/** Makes everybody in a run let go of what is queued. What comes afterwards is new. */
export class Drops {
  #take = new AbortController();
  #flush = new Flush();
  readonly #listeners: (() => void)[] = [];

  /** It aborts at the next drop. Then another one takes its place. */
  get signal(): AbortSignal {
    return this.#take.signal;
  }

  /** The one of the last drop. */
  get flush(): Flush {
    return this.#flush;
  }

  /** @param listener is called before the signal aborts */
  listen(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** @param listener is called before all others, which then agree on how much was heard */
  listenFirst(listener: () => void): void {
    this.#listeners.unshift(listener);
  }

  /** Call it in a task of the event loop, not in a microtask: in between, a part may be on its way from one step to the next. */
  now(): void {
    const over = this.#take;
    this.#take = new AbortController();
    this.#flush = new Flush();
    for (const listener of this.#listeners) listener();
    over.abort(new Dropped('it is not wanted any more'));
  }
}
