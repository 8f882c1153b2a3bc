import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './listen.ts';

interface HubRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The port of the client, which identifies the connection. */
  readonly port: number | undefined;
}

/** Answers a request in place of the host. @returns true if it has answered */
type Fault = (request: IncomingMessage, response: ServerResponse, number: number) => boolean;

export interface StandInHub {
  readonly url: string;
  /** Requests to the hub; `cdn` has those to the host that it redirects to. */
  readonly requests: HubRequest[];
  readonly cdn: HubRequest[];
  readonly files: Map<string, Buffer>;
  /** Called before each answer of the second host. */
  fault: Fault | undefined;
}

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/**
 * Starts a stand-in for Hugging Face, which redirects to another host that supports ranges and ETags.
 * @param files contents by path: `REPO/resolve/COMMIT/FILE`
 */
export async function standInHub(files: Readonly<Record<string, Buffer>>): Promise<StandInHub> {
  const requests: HubRequest[] = [];
  const cdn: HubRequest[] = [];
  const all = new Map(Object.entries(files));
  const hub: StandInHub = { url: '', requests, cdn, files: all, fault: undefined };
  const second = createServer((request, response) => {
    cdn.push(noted(request));
    if (hub.fault?.(request, response, cdn.length)) return;
    send(all.get(pathOf(request)), request, response);
  });
  const cdnPort = await listen(second);
  const first = createServer((request, response) => {
    requests.push(noted(request));
    const bytes = all.get(pathOf(request));
    if (!bytes) response.writeHead(404, { 'content-type': 'text/plain' }).end('Entry not found');
    else {
      response
        .writeHead(302, {
          location: `http://localhost:${cdnPort}${request.url}?X-Signature=abc`,
          'x-repo-commit': 'c0ffee',
        })
        .end();
    }
  });
  const port = await listen(first);
  return Object.assign(hub, { url: `http://127.0.0.1:${port}` });
}

function noted({ url = '', headers, socket }: IncomingMessage): HubRequest {
  return { path: url, headers, port: socket.remotePort };
}

function pathOf({ url = '' }: IncomingMessage): string {
  return decodeURIComponent((url.split('?')[0] ?? '').slice(1));
}

/** Sends a file, or the rest of it. */
function send(bytes: Buffer | undefined, { headers }: IncomingMessage, response: ServerResponse): void {
  if (!bytes) {
    response.writeHead(404).end();
    return;
  }
  const etag = `"${sha256(bytes).slice(0, 16)}"`;
  const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
  const isSame = headers['if-range'] === undefined || headers['if-range'] === etag;
  if (start >= bytes.length && isSame && start > 0)
    response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
  else if (start > 0 && isSame)
    response
      .writeHead(206, {
        etag,
        'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}`,
        'content-length': bytes.length - start,
      })
      .end(bytes.subarray(start));
  else response.writeHead(200, { etag, 'content-length': bytes.length }).end(bytes);
}
