import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { Source } from './feed.ts';

export interface Sender {
  /** Is told, before a byte is written, which connection its request goes over. */
  sentOver(connection: Source): void;
}

/** On this channel undici tells of a request, after it was begun and before it is written. */
const SENT = 'undici:client:sendHeaders';

/**
 * What undici's dispatcher does not tell of the connections under it. It rests on the order in which undici 7 calls, all in
 * one turn: the handler's `onRequestStart`, a message on {@link SENT}, the writing; and a socket's `error`, then the
 * handler's `onResponseEnd` or `onResponseError`.
 */
export class Line {
  /** The error that a connection reports at this very moment. */
  error: Error | undefined;
  /** Whose request begins at this very moment. */
  sender: Sender | undefined;
  readonly #sockets = new Set<Socket>();
  /** Those whose errors are listened to. */
  readonly #heard = new WeakSet<Socket>();

  constructor() {
    subscribe(SENT, this.#sent);
  }

  /** Ends all connections, since undici cannot end one that is still being made. */
  close(): void {
    unsubscribe(SENT, this.#sent);
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The same connector, whose sockets are known here. */
  watched(connector: buildConnector.connector): buildConnector.connector {
    return (options, callback) => {
      const socket = connector(options, callback) as unknown as Socket;
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      return socket;
    };
  }

  /** Of other lines as well: there nobody begins at this moment. */
  readonly #sent = (message: unknown) => {
    if (!this.sender) return;
    const { socket } = message as { readonly socket: Socket };
    this.sender.sentOver(socket);
    this.sender = undefined;
    if (!this.#heard.has(socket)) this.#hear(socket);
  };

  /** Also to a proxy, which no connector from here makes: before undici hears of an error, and until it has dealt with it. */
  #hear(socket: Socket): void {
    this.#heard.add(socket);
    socket.prependListener('error', (error) => {
      this.error = error;
      queueMicrotask(() => {
        this.error = undefined;
      });
    });
  }
}
