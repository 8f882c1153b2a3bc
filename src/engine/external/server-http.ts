import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { IdleTimer, watched } from '../../idle.ts';
import type { ServerConfig } from '../source.ts';

export interface Requester {
  /**
   * `GET` without a body, else `POST`. Follows no redirect.
   * @throws what `node:http` says, or the reason of the signal
   */
  ask(path: string, body: string | undefined, signal: AbortSignal): Promise<IncomingMessage>;
  close(): void;
}

/** It keeps its connections. The service has loaded `node:http`; `fetch` would take 30 ms more. */
export async function openRequester({
  url,
  authorization,
}: Pick<ServerConfig, 'url' | 'authorization'>): Promise<Requester> {
  const { Agent, request } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  const agent = new Agent({ keepAlive: true });
  const headers = {
    'Content-Type': 'application/json',
    ...(authorization !== undefined && { Authorization: authorization }),
  };
  return {
    async ask(path, body, signal) {
      for (;;) {
        const method = body === undefined ? 'GET' : 'POST';
        const asked = request(`${url.href}/${path}`, { method, headers, agent });
        asked.on('error', () => {}); // a later one comes with the answer
        endOnAbort(signal, asked);
        asked.end(body);
        try {
          const [answer] = await once(asked, 'response');
          return answer;
        } catch (error) {
          signal.throwIfAborted();
          // The server closed a kept connection before it saw the request.
          if (!asked.reusedSocket || (error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
        }
      }
    },
    close: () => agent.destroy(),
  };
}

/** With an error, as Node's own option `signal` has it, a connection that is just being kept throws where nothing catches. */
function endOnAbort(signal: AbortSignal, asked: ClientRequest): void {
  const end = () => void asked.destroy();
  signal.addEventListener('abort', end);
  asked.once('close', () => signal.removeEventListener('abort', end));
  if (signal.aborted) end();
}

/** It takes this number of bytes to tell bare samples from WAV, JSON, HTML and compressed sound. */
const PEEKED_BYTES = 4;

/** Ends a request whose server sends nothing for a time. */
export class IdleWatch {
  readonly signal: AbortSignal;
  isIdle = false;
  readonly #timer: IdleTimer;

  constructor(timeoutMs: number, signal: AbortSignal) {
    const over = new AbortController();
    this.signal = AbortSignal.any([signal, over.signal]);
    this.#timer = new IdleTimer(timeoutMs, (error) => {
      this.isIdle = true;
      over.abort(error);
    });
    this.signal.addEventListener('abort', () => this.stop(), { once: true });
    if (signal.aborted) this.stop();
  }

  /** A body without a length seems complete after its request was ended. */
  async *watched(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    yield* watched(bytes, this.#timer);
    this.signal.throwIfAborted();
  }

  stop(): void {
    this.#timer.stop();
  }
}

export async function firstBytes(pieces: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    read.push(piece);
    length += piece.length;
    if (length >= most) break;
  }
  return Buffer.concat(read).subarray(0, most);
}

export async function peek(
  pieces: AsyncIterable<Uint8Array>,
): Promise<{ head: Buffer; all: AsyncIterable<Uint8Array> }> {
  const source = pieces[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < PEEKED_BYTES) {
    const next = await source.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  async function* all() {
    yield head;
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
  }
  return { head, all: all() };
}
