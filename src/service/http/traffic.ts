import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Exchange, type Log, openExchange } from '../exchange/exchange.ts';

export class Traffic {
  readonly #connections = new Set<Socket>();
  readonly #exchanges = new Map<ServerResponse, Exchange>();
  readonly #closing = new AbortController();
  readonly #log: Log | undefined;

  /** @param mostIdle see `Limits.idle` */
  constructor(server: Server, mostIdle: number, log: Log | undefined) {
    this.#log = log;
    server.on('connection', (socket) => {
      this.#connections.add(socket);
      if (this.#connections.size > mostIdle) this.#closeIdle(socket.remoteAddress, mostIdle);
      socket.once('close', () => this.#connections.delete(socket));
    });
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get speaking(): number {
    return [...this.#exchanges.values()].filter(({ details }) => details.characters !== undefined).length;
  }

  begin(request: IncomingMessage, response: ServerResponse): Exchange {
    const { socket } = request;
    const exchange = openExchange(request, response, (_, record) => {
      this.#exchanges.delete(response);
      if (this.closing.aborted && !this.#isBusy(socket)) socket.destroySoon();
      this.#log?.(record);
    });
    this.#exchanges.set(response, exchange);
    return exchange;
  }

  /** @returns false for a broken answer, into which another one would fall */
  async answered(socket: Duplex): Promise<boolean> {
    const whole = this.#on(socket).filter(({ request }) => request.complete);
    await Promise.all(whole.map(({ response }) => new Promise((done) => response.once('close', done))));
    return !this.#on(socket).some(({ response }) => response.headersSent);
  }

  tornOn(socket: Duplex): Exchange | undefined {
    return this.#on(socket).find(({ request }) => !request.complete);
  }

  close(): void {
    this.#closing.abort();
    for (const socket of this.#connections) {
      if (!this.#isBusy(socket)) socket.destroy();
    }
  }

  abort(): void {
    for (const exchange of this.#exchanges.values()) exchange.cancel();
    for (const socket of this.#connections) socket.destroy();
  }

  /** The oldest ones. */
  #closeIdle(address: string | undefined, most: number): void {
    const busy = new Set([...this.#exchanges.values()].map(({ request }) => request.socket));
    const idle = [...this.#connections].filter(
      (socket) => socket.remoteAddress === address && !busy.has(socket),
    );
    for (const socket of idle.slice(0, Math.max(0, idle.length - most))) socket.destroy();
  }

  #isBusy(socket: Duplex): boolean {
    return this.#on(socket).length > 0;
  }

  #on(socket: Duplex): readonly Exchange[] {
    return [...this.#exchanges.values()].filter(({ request }) => request.socket === socket);
  }
}
