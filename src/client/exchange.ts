import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

/** What came back: the body may be iterated once, and leaving it early ends the request. */
export interface Answer {
  readonly status: number;
  /** By lower-case name; of a repeated header the first. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** No byte came for too long: neither a connection, nor an answer, nor more of it. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError';
}

/** What undici does not tell of the connections. */
export interface Line {
  /** The error that a connection reports at this very moment. */
  error: Error | undefined;
}

/** Above this many bytes waiting for their reader, the socket is read no further. */
const HIGH_WATER = 1 << 20;

/**
 * One request as undici's dispatcher sees it. Its own queue, instead of a stream, because pausing at every piece makes
 * `undici.request` quadratic on chunked bodies under Node 20.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<Answer>;
  #resolve!: (answer: Answer) => void;
  #reject!: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #queue: Buffer[] = [];
  #queued = 0;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #wake = () => {};
  #silence: NodeJS.Timeout | undefined;
  #heard = false;
  readonly #timeoutMs: number;
  readonly #line: Readonly<Line>;
  readonly #signal: AbortSignal;
  readonly #abort = () => this.#fail(this.#signal.reason);

  constructor(timeoutMs: number, line: Readonly<Line>, signal: AbortSignal) {
    this.#timeoutMs = timeoutMs;
    this.#line = line;
    this.#signal = signal;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    signal.addEventListener('abort', this.#abort, { once: true });
    this.#listen();
    if (signal.aborted) this.#abort();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure) controller.abort(this.#failure.error as Error);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#hear();
    this.#resolve({ status, headers: firstValues(headers), body: this.#body() });
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#queue.push(piece);
    this.#queued += piece.length;
    if (this.#queued >= HIGH_WATER) {
      controller.pause();
      this.#stopListening();
    } else {
      this.#hear();
    }
    this.#wake();
  }

  /** undici takes a reset for the end of a body that ends with its connection; it is none. */
  onResponseEnd(): void {
    if (this.#line.error) this.#fail(this.#line.error);
    this.#ended = true;
    this.#settle();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  /** Everything that arrived is handed out before a failure is told: it is sound that needs no second request. */
  async *#body(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        while (this.#queue.length > 0) for (const piece of this.#take()) yield piece;
        if (this.#failure) throw this.#failure.error;
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      if (!this.#ended) this.#fail(new Error('the reader left'));
    }
  }

  #take(): Buffer[] {
    const pieces = this.#queue;
    this.#queue = [];
    this.#queued = 0;
    if (this.#controller?.paused && !this.#ended && !this.#failure) {
      this.#listen();
      this.#controller.resume();
    }
    return pieces;
  }

  #fail(error: unknown): void {
    if (this.#failure || this.#ended) return;
    this.#failure = { error };
    this.#controller?.abort(error instanceof Error ? error : new Error('aborted', { cause: error }));
    this.#settle();
    this.#reject(error);
  }

  #settle(): void {
    this.#stopListening();
    this.#signal.removeEventListener('abort', this.#abort);
    this.#wake();
  }

  /** A paused socket says nothing because nobody listens: that is no silence of the service. */
  #listen(): void {
    this.#silence = setTimeout(() => this.#suspect(), this.#timeoutMs);
  }

  /**
   * After a pause of this process itself (a stopped job, a disk that stalls) the timer comes before the bytes that
   * wait in the socket: they get one turn to show up.
   */
  #suspect(): void {
    this.#heard = false;
    setImmediate(() =>
      setImmediate(() => {
        if (this.#silence === undefined) return;
        if (this.#heard) this.#silence.refresh();
        else this.#fail(new SilenceError('silence'));
      }),
    );
  }

  #hear(): void {
    this.#heard = true;
    this.#silence?.refresh();
  }

  #stopListening(): void {
    clearTimeout(this.#silence);
    this.#silence = undefined;
  }
}

function firstValues(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}
