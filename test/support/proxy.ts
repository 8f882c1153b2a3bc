import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { listen } from './listen.ts';

export interface Proxy {
  readonly url: string;
  readonly port: number;
  /** The requests: `POST http://…` in absolute form, or `CONNECT host:port` for a tunnel. */
  readonly asked: string[];
  /** The `Proxy-Authorization` of each request. */
  readonly credentials: (string | undefined)[];
  /** All bytes that went through tunnels to the server, to search them for secrets. */
  readonly tunnelled: () => Buffer;
}

interface ProxyOptions {
  /** The status with which all requests are refused. */
  readonly refuse?: number;
  /** Closes connections instead of opening a tunnel. */
  readonly hangUp?: boolean;
  /** The number of bytes from the server after which a tunnel is reset. */
  readonly tear?: number;
  /** A certificate, with which clients connect to the proxy over TLS. */
  readonly certificate?: { readonly key: string; readonly cert: string };
}

/** Starts a real proxy on a loopback port, which forwards requests in absolute form and opens tunnels. */
export async function startProxy(options: ProxyOptions = {}): Promise<Proxy> {
  const { refuse, hangUp, tear, certificate } = options;
  const asked: string[] = [];
  const credentials: (string | undefined)[] = [];
  const tunnelled: Buffer[] = [];
  const upstreams = new Set<Socket>();
  const note = ({ method, url, headers }: IncomingMessage) => {
    asked.push(`${method} ${url}`);
    credentials.push(headers['proxy-authorization']);
  };
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    note(incoming);
    if (refuse) outgoing.writeHead(refuse).end('refused by the proxy');
    else passOn(incoming, outgoing);
  };
  const server = certificate ? createTlsServer(certificate, answer) : createServer(answer);
  server.on('connect', (incoming: IncomingMessage, client: Socket) => {
    note(incoming);
    client.on('error', () => {});
    if (hangUp) return client.end();
    if (refuse) return client.end(`HTTP/1.1 ${refuse} Refused\r\nContent-Length: 0\r\n\r\n`);
    const [host, port] = (incoming.url ?? '').split(':');
    const upstream = connect(Number(port), host, () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    upstreams.add(upstream);
    upstream.on('error', () => client.destroy());
    upstream.on('data', () => {
      // Delayed, since the reset would overtake forwarded bytes.
      if (tear && upstream.bytesRead > tear) setTimeout(() => client.resetAndDestroy(), 30);
    });
    client.on('data', (bytes: Buffer) => tunnelled.push(bytes));
    client.pipe(upstream).pipe(client);
    return undefined;
  });
  const port = await listen(server, upstreams);
  return {
    url: `${certificate ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    asked,
    credentials,
    tunnelled: () => Buffer.concat(tunnelled),
  };
}

function passOn(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, headers, url = '' } = incoming;
  const onwards = request(url, { method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onwards.on('error', () => outgoing.writeHead(502).end());
  incoming.pipe(onwards);
}
