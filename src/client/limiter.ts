import type { TtsError } from '../error.ts';
import { LONGEST_REQUESTED_WAIT } from './retry.ts';

/** Accepted requests after which the limit rises by one, at first; each refusal doubles the number. */
const FIRST_ACCEPTED = 16;
const MOST_ACCEPTED = 1024;

/** Milliseconds between two looks for stuck answers while a request waits. */
const LOOK_INTERVAL = 500;

interface Waiting {
  readonly order: number;
  readonly admit: (slot: Slot) => void;
  readonly refuse: (error: unknown) => void;
}

/**
 * Limits how many requests are open at once. When a busy service refuses one, the limit falls to the number it accepted.
 * While it accepts all, the limit rises again, more slowly after each refusal, and never above the user's.
 */
export class ConcurrencyLimiter {
  readonly #most: number;
  #limit: number;
  #accepted = 0;
  #acceptedToRise = FIRST_ACCEPTED;
  #heldUntil = 0;
  /** The first request in the text that failed as all others would. */
  #closed: { readonly order: number; readonly error: unknown } | undefined;
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
   * @throws the signal's reason; the error of {@link close}
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

  /** The service accepted a request. */
  accepted(): void {
    this.#accepted += 1;
    if (this.#accepted < this.#acceptedToRise || this.#limit >= this.#most) return;
    this.#accepted = 0;
    this.#limit += 1;
    this.#admit();
  }

  /** An open request failed before its sound began. */
  failed(order: number, error: TtsError): void {
    if (error.retry?.busy) this.refused(error.retry.after);
    // Another text or speaker may be welcome where this one was not; a key that is refused is so for all.
    if (!error.retry && !error.isUnwanted) this.close(order, error);
  }

  /**
   * The service refused an open request because it is busy.
   * @param seconds for which it wants no request at all
   */
  refused(seconds = 0): void {
    this.#limit = Math.max(1, Math.min(this.#limit, this.#open.size - 1));
    this.#accepted = 0;
    this.#acceptedToRise = Math.min(MOST_ACCEPTED, this.#acceptedToRise * 2);
    // A request that would have to wait longer fails instead.
    if (seconds <= LONGEST_REQUESTED_WAIT)
      this.#heldUntil = Math.max(this.#heldUntil, performance.now() + seconds * 1000);
  }

  /** A request failed as all others would, as with a wrong key: those behind it in the text are not sent any more. */
  close(order: number, error: unknown): void {
    if (!this.#closed || order < this.#closed.order) this.#closed = { order, error };
    const behind = this.#waiting.filter((waiting) => waiting.order > order);
    this.#waiting = this.#waiting.filter((waiting) => waiting.order <= order);
    for (const { refuse } of behind) refuse(error);
  }

  #admit(): void {
    // Loading `performance` takes 2 ms of a start, and most runs are never held.
    const hold = this.#heldUntil && this.#heldUntil - performance.now();
    if (hold <= 0) this.#fill();
    clearTimeout(this.#timer);
    if (this.#waiting.length === 0) return;
    this.#timer = setTimeout(() => this.#admit(), hold > 0 ? hold + 1 : LOOK_INTERVAL);
  }

  #fill(): void {
    while (this.#waiting.length > 0) {
      const next = this.#waiting.reduce((first, other) => (other.order < first.order ? other : first));
      if (this.#open.size >= this.#limit) {
        this.#preemptFor(next);
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
   * The open answers may all be stuck, since their sound comes after that of the waiting request. Then the last of them
   * loses its slot.
   */
  #preemptFor({ order }: Waiting): void {
    const open = [...this.#open];
    if (!open.every((slot) => slot.order > order && slot.isStuck)) return;
    open.reduce((last, slot) => (slot.order > last.order ? slot : last)).preempt();
  }
}

/** An answer is stuck when its reader has not asked for more for so many milliseconds. */
const STUCK_AFTER = 1000;

/** The request was aborted in favour of another one, and has to be made again. */
export class Preempted extends Error {
  override readonly name = 'Preempted';
}

/** The right to have one request open. */
export class Slot {
  /** The request's place in the text. */
  readonly order: number;
  readonly #free: () => void;
  readonly #ending = new AbortController();
  #restingSince: number | undefined;

  constructor(order: number, free: () => void) {
    this.order = order;
    this.#free = free;
  }

  /** Ends the request: aborts when the slot is left or preempted. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get isPreempted(): boolean {
    return this.signal.reason instanceof Preempted;
  }

  get isStuck(): boolean {
    return this.#restingSince !== undefined && Date.now() - this.#restingSince > STUCK_AFTER;
  }

  /** The reader has a piece of the answer, and has not asked for the next. */
  rest(): void {
    this.#restingSince = Date.now();
  }

  /** The reader asked for more. */
  goOn(): void {
    this.#restingSince = undefined;
  }

  preempt(): void {
    this.#end(new Preempted('the slot was given to another request'));
  }

  /** May be called more than once. */
  leave(): void {
    this.#end(new Error('the answer is not needed any more'));
  }

  #end(reason: Error): void {
    this.#ending.abort(reason);
    this.#free();
  }
}
