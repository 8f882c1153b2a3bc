/** No byte came for too long: no connection, no answer, or no more of it. */
export class SilenceError extends Error {
  override readonly name: string = 'SilenceError';
}

/** Bytes came, but the head of the answer did not end. */
export class EndlessHeadError extends SilenceError {
  override readonly name = 'EndlessHeadError';
}

/** The head of an answer, with all 1xx answers before it, may take this many times the limit. */
export const HEAD_LIMITS = 10;

/** Looks within one limit: a silence is noticed at most one look late. */
const LOOKS = 8;

/** Calls back after a silence. It runs from its construction on. */
export class SilenceTimer {
  readonly #limitMs: number;
  readonly #onSilence: (error: SilenceError) => void;
  readonly #headBytes: () => number;
  #timer: NodeJS.Timeout | undefined;
  #wasRestarted = false;
  #bytes = 0;
  #looksLeft = LOOKS;
  /** Looks since the last restart. */
  #looks = 0;

  /** @param headBytes counts the bytes of a head, which undici reports only when it is whole: a slow head is no silence */
  constructor(limitMs: number, onSilence: (error: SilenceError) => void, headBytes: () => number) {
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
    this.#headBytes = headBytes;
    this.restart();
  }

  restart(): void {
    this.#wasRestarted = true;
    this.#bytes = this.#headBytes();
    this.#looksLeft = LOOKS;
    this.#looks = 0;
    if (this.#timer) this.#timer.refresh();
    else this.#timer = setTimeout(() => this.#look(), this.#limitMs / LOOKS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * After a pause of this process (a stopped job, a slow disk) the timer fires before the bytes that wait in the socket
   * are read: they get one turn of the event loop.
   */
  #look(): void {
    this.#wasRestarted = false;
    setImmediate(() =>
      setImmediate(() => {
        if (this.#timer === undefined || this.#wasRestarted) return;
        const before = this.#bytes;
        this.#bytes = this.#headBytes();
        this.#looksLeft = this.#bytes > before ? LOOKS : this.#looksLeft - 1;
        this.#looks += 1;
        if (this.#looksLeft === 0) this.#onSilence(new SilenceError('silence'));
        else if (this.#looks === LOOKS * HEAD_LIMITS) this.#onSilence(new EndlessHeadError('endless head'));
        else this.#timer.refresh();
      }),
    );
  }
}
