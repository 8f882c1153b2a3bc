import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';

export interface Socks {
  readonly url: string;
  /** `host:port` of each connection that was asked for. */
  readonly asked: string[];
}

interface SocksOptions {
  /** Of the user anna, without whom nothing is done. */
  readonly password?: string;
  /** What is answered instead of a connection: a code of RFC 1928, section 6. */
  readonly reply?: number;
}

const NO_METHOD = 0xff;

/** A real SOCKS5 proxy on a loopback port (RFC 1928 and 1929), for IPv4 addresses and names. */
export async function startSocks({ password, reply = 0 }: SocksOptions = {}): Promise<Socks> {
  const asked: string[] = [];
  const upstreams = new Set<Socket>();
  const server = createServer(async (client) => {
    client.on('error', () => {});
    if (!(await admit(client, password))) return;
    const { host, port } = target(await next(client));
    asked.push(`${host}:${port}`);
    const answer = Buffer.from([5, reply, 0, 1, 0, 0, 0, 0, 0, 0]);
    if (reply !== 0) return void client.write(answer);
    const upstream = connect(port, host, () => client.write(answer));
    upstreams.add(upstream);
    upstream.on('error', () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  const port = await listen(server, upstreams);
  return { url: `socks5://127.0.0.1:${port}`, asked };
}

async function next(client: Socket): Promise<Buffer> {
  const [bytes] = await once(client, 'data');
  return bytes;
}

async function admit(client: Socket, password: string | undefined): Promise<boolean> {
  const offered = (await next(client)).subarray(2);
  const wanted = password === undefined ? 0 : 2;
  const method = offered.includes(wanted) ? wanted : NO_METHOD;
  client.write(Buffer.from([5, method]));
  if (password === undefined || method === NO_METHOD) return method !== NO_METHOD;
  const said = (await next(client)).toString('latin1', 1);
  const isRight = said === `\x04anna${String.fromCharCode(password.length)}${password}`;
  client.write(Buffer.from([1, isRight ? 0 : 1]));
  return isRight;
}

function target(request: Buffer): { host: string; port: number } {
  const isName = request[3] === 3;
  const host = isName ? request.toString('latin1', 5, request.length - 2) : request.subarray(4, 8).join('.');
  return { host, port: request.readUInt16BE(request.length - 2) };
}
