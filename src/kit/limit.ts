import type { TtsError } from './error.ts';
import { LONGEST_REQUESTED_WAIT } from './retry.ts';
import { ageOf } from './words.ts';

/** Accepted requests until the limit rises by one. Each refusal doubles the number. */
const FIRST_ACCEPTED = 16;
const MOST_ACCEPTED = 1024;

/** Milliseconds. */
const LOOK_INTERVAL = 500;

interface Waiting {
  readonly order: number;
  readonly admit: (slot: Slot) => void;
  readonly refuse: (error: unknown) => void;
}

/** A refusal by a busy service lowers the limit to the number it accepted. The limit rises again, slower after each refusal. */
export class ConcurrencyLimiter {
  readonly #most: number;
  readonly #longestHold: number;
  #limit: number;
  #accepted = 0;
  #acceptedToRise = FIRST_ACCEPTED;
  #heldUntil = 0;
  /** The earliest request that failed. All later ones fail with its error. */
  #closed: { readonly order: number; readonly error: unknown } | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #open = new Set<Slot>();
  #waiting: Waiting[] = [];

  /** @param longestHold the seconds for which no request begins at most */
  constructor(most: number, longestHold = LONGEST_REQUESTED_WAIT) {
    this.#most = most;
    this.#longestHold = longestHold;
    this.#limit = most;
  }

  /**
   * @param order the place of the sound; the earliest goes first
   * @throws the error of {@link close}
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

  accepted(): void {
    this.#accepted += 1;
    if (this.#accepted < this.#acceptedToRise || this.#limit >= this.#most) return;
    this.#accepted = 0;
    this.#limit += 1;
    this.#admit();
  }

  /** It is called for a request that failed before its sound began. */
  failed(order: number, error: TtsError): void {
    if (error.retry?.busy) this.refused(error.retry.after);
    // One text may be refused alone; a key is refused for all.
    if (!error.retry && !error.concernsThisTextOnly) this.close(order, error);
  }

  /**
   * It is called after a refusal by a busy service.
   * @param seconds the time in which the service wants no request
   */
  refused(seconds = 0): void {
    this.#limit = Math.max(1, Math.min(this.#limit, this.#open.size - 1));
    this.#accepted = 0;
    this.#acceptedToRise = Math.min(MOST_ACCEPTED, this.#acceptedToRise * 2);
    this.hold(seconds);
  }

  /** Lets no request begin in this time, unless that is too long: then each request is refused by the service. */
  hold(seconds: number): void {
    if (seconds <= this.#longestHold)
      this.#heldUntil = Math.max(this.#heldUntil, performance.now() + seconds * 1000);
  }

  /** Ends all later requests: they would fail with the same error. */
  close(order: number, error: unknown): void {
    if (!this.#closed || order < this.#closed.order) this.#closed = { order, error };
    const behind = this.#waiting.filter((waiting) => waiting.order > order);
    this.#waiting = this.#waiting.filter((waiting) => waiting.order <= order);
    for (const { refuse } of behind) refuse(error);
  }

  #admit(): void {
    // `performance` takes 2 ms to load.
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

  /** If all open answers wait for this sound, one of them leaves its slot. */
  #preemptFor({ order }: Waiting): void {
    const open = [...this.#open];
    if (!open.every((slot) => slot.order > order && slot.isStuck)) return;
    open.reduce((last, slot) => (slot.order > last.order ? slot : last)).preempt();
  }
}

/** Milliseconds. */
const STUCK_AFTER = 1000;

/** A request left its slot for an earlier one, and is sent again later. */
export class Preempted extends Error {
  override readonly name = 'Preempted';
}

export class Slot {
  readonly order: number;
  readonly #free: () => void;
  readonly #ending = new AbortController();
  #restingSince: number | undefined;

  constructor(order: number, free: () => void) {
    this.order = order;
    this.#free = free;
  }

  /** The signal aborts when the slot is freed and when it is preempted. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get isPreempted(): boolean {
    return this.signal.reason instanceof Preempted;
  }

  get isStuck(): boolean {
    return this.#restingSince !== undefined && ageOf(this.#restingSince) > STUCK_AFTER;
  }

  rest(): void {
    this.#restingSince = Date.now();
  }

  goOn(): void {
    this.#restingSince = undefined;
  }

  preempt(): void {
    this.#end(new Preempted('the slot was given to another request'));
  }

  leave(): void {
    this.#end(new Error('the answer is not needed any more'));
  }

  #end(reason: Error): void {
    this.#ending.abort(reason);
    this.#free();
  }
}
