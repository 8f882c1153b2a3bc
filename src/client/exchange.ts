import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { releasing } from '../audio/passing.ts';
import { countReceived } from './collect.ts';
import { goOn, rest, type Source } from './feed.ts';
import { singleValues } from './headers.ts';
import type { Answer } from './http-answer.ts';
import type { Line, Sender } from './line.ts';
import { Received } from './received.ts';
import { NO_CONTENT } from './refusal.ts';
import { SilenceWatch } from './silence.ts';
import { isLoss, StaleError } from './stale.ts';
import { lookBehindEnd } from './unseen-reset.ts';

/** One request as undici's dispatcher sees it, with a queue of its own: `undici.request` goes quadratic on Node 20. */
export class Exchange implements Dispatcher.DispatchHandler, Sender {
  readonly answer: Promise<Answer>;
  #resolve!: (answer: Answer) => void;
  #reject!: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #connection: Source | undefined;
  /** Of the head of the answer, while it comes. */
  #countBytes = () => 0;
  /** The connection was used before, and no head came over it since. */
  #mayBeStale = false;
  /** The body ends where its connection does (RFC 9112, section 6.3). */
  #endsByClosing = false;
  readonly #received = new Received();
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #wake = () => {};
  readonly #silence: SilenceWatch;
  readonly #line: Line;
  readonly #signal: AbortSignal;
  readonly #abort = () => this.#fail(this.#signal.reason);

  constructor(timeoutMs: number, line: Line, signal: AbortSignal) {
    this.#line = line;
    this.#signal = signal;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    signal.addEventListener('abort', this.#abort, { once: true });
    this.#silence = new SilenceWatch(
      timeoutMs,
      (error) => this.#fail(error),
      () => this.#countBytes(),
    );
    if (signal.aborted) this.#abort();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#line.sender = this;
    if (this.#failure) controller.abort(this.#failure.error as Error);
  }

  sentOver(connection: Source): void {
    this.#connection = connection;
    const before = connection.bytesRead;
    this.#mayBeStale = before > 0;
    this.#countBytes = () => connection.bytesRead - before;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#countBytes = () => 0;
    this.#mayBeStale = false;
    const isBounded = 'content-length' in headers || 'transfer-encoding' in headers || status === NO_CONTENT;
    this.#endsByClosing = !isBounded;
    this.#silence.hear();
    this.#resolve({ status, headers: singleValues(headers), body: this.#readOnce() });
  }

  onResponseData(_: Dispatcher.DispatchController, piece: Buffer): void {
    this.#received.add(piece);
    countReceived(piece.length);
    this.#silence.hear();
    if (this.#received.isFull && this.#connection) {
      rest(this.#connection);
      // Of a socket that rests nothing is heard because nobody listens: that is no silence of the service.
      this.#silence.stop();
    }
    this.#wake();
  }

  /** undici takes a reset for the end of a body that ends with its connection; it is none. */
  onResponseEnd(): void {
    const { error } = this.#line;
    if (error || !this.#endsByClosing || !this.#connection) this.#end(error);
    else lookBehindEnd(this.#connection, (reset) => this.#end(reset));
  }

  #end(error: Error | undefined): void {
    if (error) this.#fail(error);
    this.#ended = true;
    if (this.#connection) goOn(this.#connection);
    this.#settle();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const isStale = this.#mayBeStale && this.#countBytes() === 0 && isLoss(error);
    this.#fail(isStale ? new StaleError('stale', { cause: error }) : error);
  }

  /** A reader may leave before it has begun. */
  #readOnce(): AsyncIterable<Uint8Array> {
    return releasing(this.#body(), async () => {
      if (!this.#ended) this.#fail(new Error('the reader left'));
    });
  }

  /** Everything that arrived is handed out before a failure is told: it is sound that needs no second request. */
  async *#body(): AsyncGenerator<Uint8Array> {
    for (;;) {
      while (!this.#received.isEmpty) for (const piece of this.#take()) yield piece;
      if (this.#failure) throw this.#failure.error;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #take(): Buffer[] {
    const pieces = this.#received.take();
    if (this.#connection?.rests && !this.#ended && !this.#failure) {
      this.#silence.start();
      goOn(this.#connection);
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
    this.#silence.stop();
    this.#signal.removeEventListener('abort', this.#abort);
    this.#wake();
  }
}
