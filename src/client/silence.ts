/** No byte came for too long: neither a connection, nor an answer, nor more of it. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError';
}

/**
 * How often within the limit the bytes of the connection are counted. A silence behind bytes that nobody else heard is
 * noticed up to one look late.
 */
const LOOKS = 8;

/** Waits for the next sign of life of a service, from when it is made. */
export class SilenceWatch {
  readonly #limitMs: number;
  readonly #tooLong: (error: SilenceError) => void;
  readonly #countBytes: () => number;
  #timer: NodeJS.Timeout | undefined;
  #heard = false;
  #bytes = 0;
  /** Looks that may still find nothing. */
  #left = LOOKS;

  /**
   * @param tooLong is called when there was none for `limitMs`
   * @param countBytes of what came over the connection: the head of an answer is heard of only when it is whole, and one
   * that comes slowly is no silence
   */
  constructor(limitMs: number, tooLong: (error: SilenceError) => void, countBytes: () => number) {
    this.#limitMs = limitMs;
    this.#tooLong = tooLong;
    this.#countBytes = countBytes;
    this.start();
  }

  start(): void {
    this.#left = LOOKS;
    this.#timer = setTimeout(() => this.#look(), this.#limitMs / LOOKS);
  }

  /** There was one. */
  hear(): void {
    this.#heard = true;
    this.#bytes = this.#countBytes();
    this.#left = LOOKS;
    this.#timer?.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * After a pause of this process itself (a stopped job, a disk that stalls) the timer comes before the bytes that
   * wait in the socket: they get one turn to show up.
   */
  #look(): void {
    this.#heard = false;
    setImmediate(() =>
      setImmediate(() => {
        if (this.#timer === undefined || this.#heard) return;
        const before = this.#bytes;
        this.#bytes = this.#countBytes();
        this.#left = this.#bytes > before ? LOOKS : this.#left - 1;
        if (this.#left > 0) this.#timer.refresh();
        else this.#tooLong(new SilenceError('silence'));
      }),
    );
  }
}
