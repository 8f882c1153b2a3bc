import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { listen } from './listen.ts';

export interface Proxy {
  readonly url: string;
  readonly port: number;
  /** `POST http://…` for a request in absolute form, `CONNECT host:port` for a tunnel. */
  readonly asked: string[];
  /** The `Proxy-Authorization` of each. */
  readonly credentials: (string | undefined)[];
  /** All that went through tunnels towards the server, to be searched for what should not be readable. */
  readonly tunnelled: () => Buffer;
}

interface ProxyOptions {
  /** The status that everybody gets. */
  readonly refuse?: number;
  /** Nobody gets a tunnel, nor an answer. */
  readonly hangUp?: boolean;
  /** Tunnels are reset when this many bytes came back through them. */
  readonly tear?: number;
  /** It is spoken to over TLS. */
  readonly certificate?: { readonly key: string; readonly cert: string };
}

/** A real proxy on a loopback port: it passes requests in absolute form on, and opens tunnels. */
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
      // It must wait: the reset would overtake what was passed on.
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
