import { passing } from '../audio/passing.ts';

/** An answer that nobody has read on for so many milliseconds is stuck. */
const STUCK_AFTER = 1000;

/** The answer was given up, through no fault of the service: it is to be asked for again when there is room. */
export class GaveWay extends Error {
  override readonly name = 'GaveWay';
}

/** One of the requests that may be open at once, from its admission to the end of its answer. */
export class Slot {
  /** The request's place in the whole. */
  readonly order: number;
  readonly #left: () => void;
  #restingSince: number | undefined;
  #drop: (() => void) | undefined;

  /** @param left hears that the slot is free again; may be called more than once */
  constructor(order: number, left: () => void) {
    this.order = order;
    this.#left = left;
  }

  get isStuck(): boolean {
    return this.#restingSince !== undefined && Date.now() - this.#restingSince > STUCK_AFTER;
  }

  /** Gives up an answer that is stuck. Whoever reads on gets a {@link GaveWay}. */
  giveWay(): void {
    this.#drop?.();
  }

  leave(): void {
    this.#left();
  }

  /** The pieces of the answer; its end is the end of the slot. */
  hold<T>(pieces: AsyncIterable<T>): AsyncIterableIterator<T, undefined> {
    const each = () => {
      this.#restingSince = Date.now();
    };
    const held = passing(pieces, { each, release: () => this.leave() });
    let dropped = false;
    this.#drop = () => {
      dropped = true;
      // What goes wrong with an answer that is given up is of no interest.
      held.return?.().catch(() => {});
    };
    return {
      next: () => {
        if (dropped) return Promise.reject(new GaveWay('the answer was given up'));
        this.#restingSince = undefined;
        return held.next();
      },
      return: async () => {
        await held.return?.();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}
