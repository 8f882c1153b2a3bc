import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { IdleTimer } from '../wait.ts';

export interface Answer {
  readonly status: number;
  /** The headers by lower-case name. Of several values, the first counts, unless they make a list. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body can be read once. Leaving it aborts the request. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The connection was lost before the answer began. */
export class LostConnectionError extends Error {
  override readonly name = 'LostConnectionError';
}

/** undici publishes the socket of a request here, between `onRequestStart` and writing. */
const SEND_HEADERS = 'undici:client:sendHeaders';

const LOST = 'UND_ERR_SOCKET';

const LOSSES = new Set(['ECONNRESET', 'EPIPE', LOST]);

const usedSockets = new WeakSet<Socket>();

/** undici takes ECONNRESET for the end of a body without a length. */
function renameReset(error: NodeJS.ErrnoException): void {
  if (error.code === 'ECONNRESET') error.code = LOST;
}

export class ResponseStream implements Dispatcher.DispatchHandler {
  readonly answer: Promise<Answer>;
  #resolve!: (answer: Answer) => void;
  #reject!: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #socket: Socket | undefined;
  #headBytes = () => 0;
  #isReused = false;
  readonly #queue = new BodyQueue();
  #isPaused = false;
  #hasEnded = false;
  #failure: { readonly error: unknown } | undefined;
  #wakeReader = () => {};
  readonly #idleTimer: IdleTimer;
  readonly #signal: AbortSignal;

  constructor(timeoutMs: number, signal: AbortSignal) {
    this.#signal = signal;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#idleTimer = new IdleTimer(
      timeoutMs,
      (error) => this.#fail(error),
      () => this.#headBytes(),
    );
    signal.addEventListener('abort', this.#abort, { once: true });
    if (signal.aborted) this.#abort();
  }

  get hasConnection(): boolean {
    return this.#controller !== undefined;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure) controller.abort(this.#failure.error as Error);
    else subscribe(SEND_HEADERS, this.#useSocket);
  }

  readonly #useSocket = (message: unknown) => {
    unsubscribe(SEND_HEADERS, this.#useSocket);
    const { socket } = message as { readonly socket: Socket };
    const before = socket.bytesRead;
    this.#headBytes = () => socket.bytesRead - before;
    this.#socket = socket.prependListener('end', this.#resume);
    this.#isReused = usedSockets.has(socket);
    if (this.#isReused) return;
    usedSockets.add(socket);
    socket.prependListener('error', renameReset);
  };

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#isReused = false;
    this.#headBytes = () => 0;
    this.#idleTimer.restart();
    this.#resolve({ status, headers: singleValues(headers), body: this.#body() });
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    // undici delivers an empty piece when it resumes.
    if (piece.length === 0) return;
    this.#queue.add(piece);
    if (this.#queue.isFull) {
      this.#isPaused = true;
      controller.pause();
      this.#idleTimer.stop();
    } else this.#idleTimer.restart();
    this.#wakeReader();
  }

  onResponseEnd(): void {
    this.#hasEnded = true;
    this.#settle();
  }

  onResponseError(_: Dispatcher.DispatchController, error: NodeJS.ErrnoException): void {
    const isLost = this.#isReused && this.#headBytes() === 0 && LOSSES.has(error.code ?? '');
    this.#fail(isLost ? new LostConnectionError('lost', { cause: error }) : error);
  }

  readonly #abort = () => {
    this.#queue.take();
    this.#fail(this.#signal.reason);
  };

  /** An error comes after all bytes that arrived. */
  async *#body(): AsyncGenerator<Uint8Array> {
    for (;;) {
      while (!this.#queue.isEmpty) for (const piece of this.#take()) yield piece;
      if (this.#failure) throw this.#failure.error;
      if (this.#hasEnded) return;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  #take(): Buffer[] {
    const pieces = this.#queue.take();
    this.#resume();
    return pieces;
  }

  /** undici asserts that a paused socket does not end. */
  readonly #resume = () => {
    if (!this.#isPaused || this.#hasEnded || this.#failure) return;
    this.#isPaused = false;
    this.#idleTimer.restart();
    this.#controller?.resume();
  };

  #fail(error: unknown): void {
    if (this.#failure || this.#hasEnded) return;
    this.#failure = { error };
    this.#controller?.abort(error instanceof Error ? error : new Error('aborted', { cause: error }));
    this.#reject(error);
    this.#settle();
  }

  #settle(): void {
    this.#idleTimer.stop();
    this.#signal.removeEventListener('abort', this.#abort);
    this.#socket?.off('end', this.#resume);
    this.#wakeReader();
  }
}

/** The headers whose values make a list (RFC 9110, section 5.3). */
const LISTS = new Set(['content-encoding']);

function singleValues(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (!Array.isArray(value)) return [name, value];
      return [name, LISTS.has(name) ? value.join(', ') : value[0]];
    }),
  );
}

/** Bytes of waiting sound, at which the connection pauses. */
const MOST_BYTES = 1 << 19;
/** Bytes. Smaller pieces are joined: a service may send single bytes. */
const SMALL_BYTES = 1024;
const BLOCK_BYTES = 1 << 16;

/** Holds the bytes that wait for the reader. */
export class BodyQueue {
  #pieces: Buffer[] = [];
  #bytes = 0;
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
    }
    this.#block.set(piece, this.#filled);
    this.#filled += piece.length;
  }

  #endBlock(): void {
    if (this.#filled === 0) return;
    this.#pieces.push(this.#block.subarray(0, this.#filled));
    this.#block = this.#block.subarray(this.#filled);
    this.#filled = 0;
  }
}
