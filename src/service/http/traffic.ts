import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Exchange, type Log, openExchange } from './exchange.ts';

/** A connection with more requests without an answer is closed. */
const MOST_UNANSWERED = 10;

/** Knows all connections, and the requests on each that have no whole answer yet. */
export class Traffic {
  /** Connections and requests are in the order in which they came. */
  readonly #connections = new Map<Duplex, Set<Exchange>>();
  readonly #closing = new AbortController();
  readonly #log: Log | undefined;

  /** @param mostIdle see `Limits.idle` */
  constructor(server: Server, mostIdle: number, log: Log | undefined) {
    this.#log = log;
    server.on('connection', (socket) => {
      this.#connections.set(socket, new Set());
      if (this.#connections.size > mostIdle) this.#closeIdle(socket.remoteAddress, mostIdle);
      socket.once('close', () => {
        const left = this.#on(socket);
        this.#connections.delete(socket);
        // Node closes the answer that has its turn, and forgets those that wait for theirs.
        for (const { response } of left) if (!response.socket) response.emit('close');
      });
    });
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get speaking(): number {
    const exchanges = [...this.#connections.values()].flatMap((open) => [...open]);
    return exchanges.filter(({ details }) => details.characters !== undefined).length;
  }

  /** @returns `undefined` for a connection that is gone, or that goes because too many of its requests wait */
  begin(request: IncomingMessage, response: ServerResponse): Exchange | undefined {
    const { socket } = request;
    const open = this.#connections.get(socket);
    if (open === undefined || socket.destroyed || open.size >= MOST_UNANSWERED) {
      socket.destroy();
      return undefined;
    }
    const exchange = openExchange(request, response, (record) => {
      open.delete(exchange);
      if (this.closing.aborted && open.size === 0) socket.destroySoon();
      this.#log?.(record);
    });
    open.add(exchange);
    return exchange;
  }

  /**
   * Answers leave in the order of their requests: one of a connection is made at a time.
   * @throws the reason of the exchange's signal
   */
  async turnOf(exchange: Exchange): Promise<void> {
    const open = this.#on(exchange.request.socket);
    const before = open[open.indexOf(exchange) - 1];
    if (before) await closeOf(before);
    exchange.signal.throwIfAborted();
  }

  /** @returns false for a broken answer, into which another one would fall */
  async answered(socket: Duplex): Promise<boolean> {
    await Promise.all(
      this.#on(socket)
        .filter(({ request }) => request.complete)
        .map(closeOf),
    );
    return !this.#on(socket).some(({ response }) => response.headersSent);
  }

  tornOn(socket: Duplex): Exchange | undefined {
    return this.#on(socket).find(({ request }) => !request.complete);
  }

  isBusy(socket: Duplex): boolean {
    return this.#on(socket).length > 0;
  }

  close(): void {
    this.#closing.abort();
    for (const [socket, open] of this.#connections) if (open.size === 0) socket.destroy();
  }

  abort(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  /** Closes the oldest idle connections. Half a request does not keep a connection open. */
  #closeIdle(address: string | undefined, most: number): void {
    const idle = [...this.#connections].filter(
      ([socket, open]) =>
        (socket as Socket).remoteAddress === address && ![...open].some(({ request }) => request.complete),
    );
    for (const [socket] of idle.slice(0, Math.max(0, idle.length - most))) socket.destroy();
  }

  #on(socket: Duplex): readonly Exchange[] {
    return [...(this.#connections.get(socket) ?? [])];
  }
}

function closeOf({ response }: Exchange): Promise<unknown> {
  return new Promise((resolve) => response.once('close', resolve));
}
