import { passing } from '../async.ts';
import { LONGEST_REQUESTED_WAIT } from './retry.ts';

/** Accepted requests after which one more at once is tried, at first; each refusal doubles it. */
const FIRST_PATIENCE = 16;
const LONGEST_PATIENCE = 1024;

/** How often those who wait look around, in milliseconds. */
const LOOK_AROUND = 500;

interface Waiting {
  readonly order: number;
  readonly admit: (slot: Slot) => void;
  readonly refuse: (error: unknown) => void;
}

/** A failure that others would share. */
interface Closed {
  readonly order: number;
  readonly error: unknown;
}

/**
 * How many requests may be open at once. The service sets the pace: when it refuses one because it is busy, the number
 * falls to what it did accept; as long as it accepts all, the number rises again, the more slowly the more often it
 * has refused, and never above what the user allows.
 */
export class Pace {
  readonly #most: number;
  #limit: number;
  #accepted = 0;
  #patience = FIRST_PATIENCE;
  #heldUntil = 0;
  #closed: Closed | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #open = new Set<Slot>();
  #waiting: Waiting[] = [];

  constructor(most: number) {
    this.#most = most;
    this.#limit = most;
  }

  /**
   * Resolves when a request may be sent; its slot must be left.
   * @param order place of the request's sound in the whole: what is heard first goes first
   * @throws the signal's reason; the error that others would share
   */
  async enter(order: number, signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    if (this.#closed && order > this.#closed.order) throw this.#closed.error;
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        this.#admit();
        reject(signal.reason);
      };
      const admit = (slot: Slot) => {
        signal.removeEventListener('abort', abort);
        resolve(slot);
      };
      const refuse = (error: unknown) => {
        signal.removeEventListener('abort', abort);
        reject(error);
      };
      const waiting = { order, admit, refuse };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.push(waiting);
      this.#admit();
    });
  }

  /** The service took a request on. */
  accepted(): void {
    this.#accepted += 1;
    if (this.#accepted < this.#patience || this.#limit >= this.#most) return;
    this.#accepted = 0;
    this.#limit += 1;
    this.#admit();
  }

  /**
   * The service refused an open request because it is busy.
   * @param seconds for which it wants no request at all
   */
  refused(seconds = 0): void {
    this.#limit = Math.max(1, Math.min(this.#limit, this.#open.size - 1));
    this.#accepted = 0;
    this.#patience = Math.min(LONGEST_PATIENCE, this.#patience * 2);
    // For longer than that nobody waits: the request fails instead.
    if (seconds <= LONGEST_REQUESTED_WAIT)
      this.#heldUntil = Math.max(this.#heldUntil, performance.now() + seconds * 1000);
  }

  /** A request failed as all others would: those behind it are not sent any more. */
  close(order: number, error: unknown): void {
    if (!this.#closed || order < this.#closed.order) this.#closed = { order, error };
    const behind = this.#waiting.filter((waiting) => waiting.order > order);
    this.#waiting = this.#waiting.filter((waiting) => waiting.order <= order);
    for (const { refuse } of behind) refuse(error);
  }

  #admit(): void {
    // Asked only where there is a hold: loading `performance` takes 2 ms of every start.
    const hold = this.#heldUntil && this.#heldUntil - performance.now();
    if (hold <= 0) this.#fill();
    clearTimeout(this.#timer);
    if (this.#waiting.length === 0) return;
    this.#timer = setTimeout(() => this.#admit(), hold > 0 ? hold + 1 : LOOK_AROUND);
  }

  #fill(): void {
    while (this.#waiting.length > 0) {
      const next = this.#waiting.reduce((first, other) => (other.order < first.order ? other : first));
      if (this.#open.size >= this.#limit) {
        this.#clearTheWay(next);
        return;
      }
      this.#waiting = this.#waiting.filter((other) => other !== next);
      const slot = new Slot(next.order, () => {
        if (this.#open.delete(slot)) this.#admit();
      });
      this.#open.add(slot);
      next.admit(slot);
    }
  }

  /**
   * Answers that come later in the whole may be stuck: nobody reads on before the one in front of them was heard. Where
   * that one has no slot, the last of them gives up its own.
   */
  #clearTheWay({ order }: Waiting): void {
    const open = [...this.#open];
    if (!open.every((slot) => slot.order > order && slot.isStuck)) return;
    open.reduce((last, slot) => (slot.order > last.order ? slot : last)).giveWay();
  }
}

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
