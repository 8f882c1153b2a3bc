import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { releasing } from '../async.ts';
import { countReceived } from './collect.ts';
import { goOn, rest, type Source } from './feed.ts';
import type { Line, Sender } from './line.ts';
import { NO_CONTENT } from './refusal.ts';
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

/** Above this many bytes waiting for their reader, the connection is read no further. */
const MOST_BYTES = 1 << 21;
/** Pieces that are smaller are put together where several wait: a service may send its answer byte by byte. */
const SMALL_BYTES = 1024;
/** Of what is put together. */
const BLOCK_BYTES = 1 << 16;

/** What came of a body and waits for its reader. */
export class Received {
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** What small pieces are copied to, behind the last of the pieces. */
  #block = Buffer.alloc(0);
  #filled = 0;

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  get isFull(): boolean {
    return this.#bytes >= MOST_BYTES;
  }

  add(piece: Buffer): void {
    if (piece.length >= SMALL_BYTES || this.isEmpty) {
      this.#endBlock();
      this.#pieces.push(piece);
    } else this.#copy(piece);
    this.#bytes += piece.length;
  }

  /** Hands out everything, in order. */
  take(): Buffer[] {
    this.#endBlock();
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    return pieces;
  }

  #copy(piece: Buffer): void {
    if (this.#block.length - this.#filled < piece.length) {
      this.#endBlock();
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      countReceived(BLOCK_BYTES);
    }
    this.#block.set(piece, this.#filled);
    this.#filled += piece.length;
  }

  /** What is filled of it becomes a piece, and the room behind that the next block. */
  #endBlock(): void {
    if (this.#filled === 0) return;
    this.#pieces.push(this.#block.subarray(0, this.#filled));
    this.#block = this.#block.subarray(this.#filled);
    this.#filled = 0;
  }
}

/** Those whose lines are one list (RFC 9110, section 5.3). */
const LISTS = new Set(['content-encoding']);

/** Of a repeated header the first value, but where all of them are one list. */
function singleValues(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (!Array.isArray(value)) return [name, value];
      return [name, LISTS.has(name) ? value.join(', ') : value[0]];
    }),
  );
}

/** What came back: the body may be iterated once, and leaving it early ends the request. */
export interface Answer {
  readonly status: number;
  /** By lower-case name; of a repeated header the first, unless it is a list. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
}

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
