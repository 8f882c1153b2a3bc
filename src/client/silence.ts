export class SilenceError extends Error {
  override readonly name: string = 'SilenceError';
}

export class EndlessHeadError extends SilenceError {
  override readonly name = 'EndlessHeadError';
}

/** The time for a head, 1xx answers included, in limits of silence. */
export const HEAD_LIMITS = 10;

/** In one limit. */
const LOOKS = 8;

export class SilenceTimer {
  readonly #limitMs: number;
  readonly #onSilence: (error: SilenceError) => void;
  readonly #headBytes: () => number;
  #timer: NodeJS.Timeout | undefined;
  #wasRestarted = false;
  #bytes = 0;
  #looksLeft = LOOKS;
  #looks = 0;

  /** @param headBytes undici reports a head at its end only: a slow head is no silence */
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
        if (this.#looksLeft === 0) this.#onSilence(new SilenceError('silence'));
        else if (this.#looks === LOOKS * HEAD_LIMITS) this.#onSilence(new EndlessHeadError('endless head'));
        else this.#timer.refresh();
      }),
    );
  }
}
