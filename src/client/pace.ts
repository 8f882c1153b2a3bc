/** Accepted requests after which one more at once is tried, at first; each refusal doubles it. */
const FIRST_PATIENCE = 16;
const LONGEST_PATIENCE = 1024;

interface Waiting {
  readonly order: number;
  readonly admit: () => void;
}

/**
 * How many requests may be open at once. The service sets the pace: when it refuses one because it is busy, the number
 * falls to what it did accept; as long as it accepts all, the number rises again, the more slowly the more often it
 * has refused, and never above what the user allows.
 */
export class Pace {
  readonly #most: number;
  #limit: number;
  #open = 0;
  #accepted = 0;
  #patience = FIRST_PATIENCE;
  #heldUntil = 0;
  #waiting: Waiting[] = [];

  constructor(most: number) {
    this.#most = most;
    this.#limit = most;
  }

  /**
   * Resolves when a request may be sent; {@link leave} must follow.
   * @param order place of the request's sound in the whole: what is heard first goes first
   * @throws the signal's reason
   */
  async enter(order: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const abort = () => {
        this.#waiting = this.#waiting.filter(({ admit }) => admit !== enter);
        reject(signal.reason);
      };
      const enter = () => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.push({ order, admit: enter });
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
    this.#limit = Math.max(1, Math.min(this.#limit, this.#open - 1));
    this.#accepted = 0;
    this.#patience = Math.min(LONGEST_PATIENCE, this.#patience * 2);
    this.#heldUntil = Math.max(this.#heldUntil, performance.now() + seconds * 1000);
  }

  /** An open request is over, whatever came of it. */
  leave(): void {
    this.#open -= 1;
    this.#admit();
  }

  #admit(): void {
    const hold = this.#heldUntil - performance.now();
    if (hold > 0) {
      if (this.#waiting.length > 0) setTimeout(() => this.#admit(), hold + 1);
      return;
    }
    while (this.#open < this.#limit && this.#waiting.length > 0) {
      const next = this.#waiting.reduce((first, other) => (other.order < first.order ? other : first));
      this.#waiting = this.#waiting.filter((other) => other !== next);
      this.#open += 1;
      next.admit();
    }
  }
}
