export class IdleError extends Error {
  override readonly name: string = 'IdleError';
}

export class EndlessHeadError extends IdleError {
  override readonly name = 'EndlessHeadError';
}

/** A head, 1xx answers included, may take this many limits of idle time. */
export const HEAD_LIMITS = 10;

/** The timer looks this often within one limit. */
const LOOKS = 8;

export class IdleTimer {
  readonly #limitMs: number;
  readonly #onIdle: (error: IdleError) => void;
  readonly #headBytes: () => number;
  #timer: NodeJS.Timeout | undefined;
  #wasRestarted = false;
  #bytes = 0;
  #looksLeft = LOOKS;
  #looks = 0;

  /** @param headBytes the bytes of the head so far: undici reports only whole heads, and a slow head is not idle */
  constructor(limitMs: number, onIdle: (error: IdleError) => void, headBytes = () => 0) {
    this.#limitMs = limitMs;
    this.#onIdle = onIdle;
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

  /** After a pause of the process, waiting bytes get one turn of the event loop first. */
  #look(): void {
    this.#wasRestarted = false;
    setImmediate(() =>
      setImmediate(() => {
        if (this.#timer === undefined || this.#wasRestarted) return;
        const before = this.#bytes;
        this.#bytes = this.#headBytes();
        this.#looksLeft = this.#bytes > before ? LOOKS : this.#looksLeft - 1;
        this.#looks += 1;
        if (this.#looksLeft === 0) this.#onIdle(new IdleError('idle'));
        else if (this.#looks === LOOKS * HEAD_LIMITS) this.#onIdle(new EndlessHeadError('endless head'));
        else this.#timer.refresh();
      }),
    );
  }
}

/** Only the time that the source takes counts, not that of a resting reader. The timer is stopped at the end. */
export async function* watched<T>(
  pieces: AsyncIterable<T> | Iterable<T>,
  timer: Pick<IdleTimer, 'restart' | 'stop'>,
): AsyncGenerator<T> {
  try {
    for await (const piece of pieces) {
      timer.stop();
      yield piece;
      timer.restart();
    }
  } finally {
    timer.stop();
  }
}
