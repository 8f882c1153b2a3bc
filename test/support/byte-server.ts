import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { listen } from './listen.ts';

/** A request as it was received. */
interface Received {
  readonly method: string;
  /** The target of the request line, with scheme and host if it came through a proxy. */
  readonly path: string;
  /** In their original order and case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  readonly json: unknown;
  /** @returns the first value of a header; its name is case-insensitive */
  header(name: string): string | undefined;
}

/** The server's side of a connection, controlled byte by byte by a test. */
interface Wire {
  /** Resolves when the system has the bytes, or the connection has ended. */
  write(bytes: Uint8Array | string): Promise<void>;
  /** Closes the connection normally. */
  end(): void;
  /** Closes it with a TCP reset. */
  reset(): void;
  /** Resolves when the connection is closed, by either side. */
  readonly closed: Promise<void>;
}

/** Answers a request. @param number the number of the request, from 1 */
export type Script = (wire: Wire, request: Received, number: number) => void | Promise<void>;

export interface ByteServer {
  readonly port: number;
  /** The address, without a path. */
  readonly url: string;
  readonly requests: Received[];
  /** The number of connections that were made, and of those that are open. */
  readonly connections: { made: number; open: number };
}

interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Starts a server on a loopback port that sends exactly the bytes that a script writes. It is closed after the test. */
export async function serveBytes(script: Script, certificate?: Certificate): Promise<ByteServer> {
  const requests: Received[] = [];
  const connections = { made: 0, open: 0 };
  const accept = (socket: Socket) => {
    connections.made += 1;
    connections.open += 1;
    socket.on('error', () => {});
    socket.once('close', () => {
      connections.open -= 1;
    });
    void converse(socket, async (wire, request) => {
      requests.push(request);
      await script(wire, request, requests.length);
    });
  };
  const server: Server = certificate ? createTlsServer(certificate, accept) : createServer(accept);
  server.on('tlsClientError', () => {});
  const port = await listen(server);
  return { port, url: `http${certificate ? 's' : ''}://127.0.0.1:${port}`, requests, connections };
}

async function converse(socket: Socket, answer: (wire: Wire, request: Received) => Promise<void>) {
  const wire = wireOf(socket);
  let bytes = Buffer.alloc(0);
  try {
    for await (const piece of socket) {
      bytes = Buffer.concat([bytes, piece]);
      const request = parse(bytes);
      if (!request) continue;
      bytes = bytes.subarray(request.length);
      await answer(wire, request.received);
    }
  } catch {
    // The client left, as some tests intend.
  }
}

function wireOf(socket: Socket): Wire {
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return {
    closed,
    write: async (bytes) => {
      if (socket.destroyed) return;
      await Promise.race([new Promise<void>((resolve) => socket.write(bytes, () => resolve())), closed]);
    },
    end: () => void socket.end(),
    // Without a delay it could overtake written bytes, or become a normal close.
    reset: () => void setTimeout(() => socket.resetAndDestroy(), 30),
  };
}

function parse(bytes: Buffer): { length: number; received: Received } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [requestLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const [method = '', path = ''] = requestLine.split(' ');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  const header = (name: string) => headers.find(([other]) => other.toLowerCase() === name.toLowerCase())?.[1];
  const length = headEnd + 4 + Number(header('content-length') ?? 0);
  if (bytes.length < length) return undefined;
  const body = Buffer.from(bytes.subarray(headEnd + 4, length));
  const json =
    body.length > 0 && header('content-type') === 'application/json' ? JSON.parse(`${body}`) : undefined;
  return { length, received: { method, path, headers, body, json, header } };
}
