import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TtsError } from '../../../src/kit/error.ts';
import { addressIn, download, Fetcher, type Hub, hubOf } from '../../../src/voices/install/fetch.ts';
import { emptyFolder } from '../../support/folder.ts';
import { type StandInHub, sha256, standInHub } from '../../support/hub.ts';
import { listen } from '../../support/listen.ts';

const REPOSITORY = { repo: 'some/voices', commit: 'c0ffee' };
const BYTES = Buffer.from(`\u0008${'a voice of many bytes. '.repeat(20_000)}`);
const SUM = sha256(BYTES);

async function openHub(bytes = BYTES) {
  const hub = await standInHub({ 'some/voices/resolve/c0ffee/a.onnx': bytes });
  const parts = emptyFolder();
  return { hub, parts, part: join(parts, `${SUM}.part`) };
}

interface Asked {
  readonly retries?: number;
  readonly env?: Record<string, string>;
  readonly pinned?: object;
  readonly signal?: AbortSignal;
  readonly onProgress?: (bytes: number) => void;
}

function fetcherOf(hub: Hub): Fetcher {
  const fetcher = new Fetcher({ timeoutMs: 5000, proxyFor: () => undefined, hub });
  onTestFinished(() => fetcher[Symbol.asyncDispose]());
  return fetcher;
}

function get({ url }: StandInHub, parts: string, asked: Asked = {}) {
  const { retries = 0, env = {}, signal = new AbortController().signal } = asked;
  const { pinned = { sha256: SUM, size: BYTES.length } } = asked;
  const hub = hubOf(undefined, { env: { HF_ENDPOINT: url, ...env } });
  const fetcher = fetcherOf(hub);
  const wanted = {
    name: 'a.onnx',
    url: addressIn(hub, REPOSITORY, { path: 'a.onnx' }),
    most: 10_000_000,
    ...pinned,
  };
  const { onProgress = () => {} } = asked;
  return download(wanted, { fetcher, parts, retries, onProgress, onRetry: () => {} }, signal);
}

async function failureOf(promise: Promise<unknown>): Promise<TtsError> {
  const error = await promise.catch((thrown: unknown) => thrown);
  if (!(error instanceof TtsError)) throw error;
  return error;
}

/** Sends the first bytes and then breaks off. */
const breakOff = (count: number) => (_: IncomingMessage, response: ServerResponse, number: number) => {
  if (number > 1) return false;
  response.writeHead(200, { 'content-length': BYTES.length, etag: `"${SUM.slice(0, 16)}"` });
  response.write(BYTES.subarray(0, count), () => response.destroy());
  return true;
};

const answer =
  (status: number, headers: Record<string, string | number>, body: string | Buffer = '') =>
  (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(status, headers).end(body);
    return true;
  };

describe('a download', () => {
  it('follows the hub to another host, and checks what came', async () => {
    const { hub, parts } = await openHub();
    const done = await get(hub, parts);
    expect(done).toMatchObject({ sha256: SUM, size: BYTES.length, checked: 'sha256' });
    expect(readFileSync(done.path).equals(BYTES)).toBe(true);
  });

  it('leaves the token at the first host, and sends no cookie', async () => {
    const { hub, parts } = await openHub();
    await get(hub, parts, { env: { HF_TOKEN: 'hf_secret' } });
    expect(hub.requests[0]?.headers.authorization).toBe('Bearer hf_secret');
    expect(hub.cdn[0]?.headers.authorization).toBeUndefined();
    expect(JSON.stringify([hub.requests, hub.cdn])).not.toMatch(/cookie|x-api-key/i);
  });

  it('continues where it broke off', async () => {
    const { hub, parts } = await openHub();
    hub.fault = breakOff(100_000);
    await get(hub, parts, { retries: 1 });
    expect(hub.cdn).toHaveLength(2);
    expect(hub.cdn[1]?.headers.range).toMatch(/^bytes=[1-9]/);
  });

  it('goes on in another run, and asks for nothing that is there', async () => {
    const { hub, parts, part } = await openHub();
    hub.fault = breakOff(100_000);
    const error = await failureOf(get(hub, parts));
    expect(error.exitCode).toBe(7);
    expect(existsSync(part)).toBe(true);
    await get(hub, parts);
    expect(hub.cdn[1]?.headers.range).toMatch(/^bytes=[1-9]/);
    await get(hub, parts);
    expect(hub.cdn).toHaveLength(2);
  });

  it.each([
    ['other bytes', Buffer.from('other')],
    ['more bytes than the file has', Buffer.concat([BYTES, BYTES])],
    ['as many other bytes', Buffer.alloc(BYTES.length)],
  ])('starts once more where there are %s', async (_, there) => {
    const { hub, parts, part } = await openHub();
    writeFileSync(part, there);
    expect(readFileSync((await get(hub, parts)).path).equals(BYTES)).toBe(true);
  });

  it.each([
    ['416', answer(416, { 'content-range': 'bytes */7' })],
    ['a part of another place', answer(206, { 'content-range': `bytes 0-9/${BYTES.length}` }, 'aaaaaaaaaa')],
    ['a part of another length', answer(206, { 'content-range': 'bytes 1000-1009/1010' }, 'aaaaaaaaaa')],
  ])('starts once more after %s', async (_, fault) => {
    const { hub, parts, part } = await openHub();
    writeFileSync(part, BYTES.subarray(0, 1000));
    hub.fault = (request, response, number) => number === 1 && fault(request, response);
    await get(hub, parts);
    expect(hub.cdn).toHaveLength(2);
    expect(hub.cdn[1]?.headers.range).toBeUndefined();
  });

  it.each<[string, ReturnType<typeof answer>, number, RegExp]>([
    [
      'wrong bytes',
      answer(200, {}, Buffer.alloc(BYTES.length, 8)),
      7,
      /has the wrong checksum and was deleted/,
    ],
    ['a wrong length', answer(200, { 'content-length': 3 }, '\u0008ab'), 7, /has 3 bytes instead of \d+/],
    ['nothing', answer(200, { 'content-length': 0 }), 7, /has 0 bytes instead of/],
    ['too much', answer(200, {}, Buffer.concat([BYTES, BYTES])), 7, /has more than \d+ bytes/],
    ['too little', answer(200, {}, BYTES.subarray(0, 50)), 7, /has 50 bytes instead of/],
    [
      'a web page',
      answer(200, { 'content-type': 'text/html; charset=utf-8' }, '<p>'),
      7,
      /answered with a web page/,
    ],
    ['status 404', answer(404, {}), 7, /does not have this file/],
    ['status 403', answer(403, {}), 3, /without a login/],
    ['status 429', answer(429, {}), 4, /status 429/],
    ['status 503', answer(503, {}), 7, /status 503/],
    ['a way to plain http', answer(302, { location: 'http://example.com/a' }), 7, /only https is followed/],
    ['a way to a file', answer(302, { location: 'file:///etc/passwd' }), 7, /only https is followed/],
    ['no way', answer(302, {}), 7, /redirects to no address/],
    ['a circle', answer(302, { location: '/again' }), 7, /redirects more than 5 times/],
  ])('refuses %s', async (_, fault, status, message) => {
    const { hub, parts } = await openHub();
    hub.fault = fault;
    const error = await failureOf(get(hub, parts));
    expect(error.message).toMatch(message);
    expect(error.exitCode).toBe(status);
    hub.fault = undefined;
    expect((await get(hub, parts)).sha256).toBe(SUM);
  });

  it('keeps what came when it is interrupted', async () => {
    const { hub, parts, part } = await openHub();
    const control = new AbortController();
    const reason = new Error('interrupted');
    hub.fault = (_, response) => {
      response.writeHead(200, { 'content-length': BYTES.length, etag: '"x"' }).write(BYTES.subarray(0, 5000));
      return true;
    };
    const asked = get(hub, parts, { signal: control.signal, onProgress: () => control.abort(reason) });
    await expect(asked).rejects.toBe(reason);
    expect(readFileSync(part).length).toBe(5000);
  });

  it('is checked by the checksum of a list, and starts anew without any', async () => {
    const { hub, parts } = await openHub();
    const md5 = createHash('md5').update(BYTES).digest('hex');
    expect((await get(hub, parts, { pinned: { size: BYTES.length, md5 } })).checked).toBe('md5');
    const wrong = get(hub, emptyFolder(), { pinned: { size: BYTES.length, md5: '0'.repeat(32) } });
    await expect(wrong).rejects.toThrow('the wrong checksum');
    hub.fault = (request, response, number) => number === 3 && breakOff(100_000)(request, response, 1);
    expect((await get(hub, emptyFolder(), { pinned: {}, retries: 1 })).checked).toBe('not checked');
    expect(hub.cdn.at(-1)?.headers.range).toBeUndefined();
  });

  it('writes the address of a file of a mirror', () => {
    const hub = hubOf('https://mirror.example.com/hf/', { env: { HF_ENDPOINT: 'https://x.example' } });
    const file = { path: 'pt/pt_PT/tugão/a.onnx' };
    expect(addressIn(hub, REPOSITORY, file).href).toBe(
      'https://mirror.example.com/hf/some/voices/resolve/c0ffee/pt/pt_PT/tug%C3%A3o/a.onnx',
    );
  });

  it.each(['http://mirror.example.com', 'ftp://a.example', 'https://a:b@a.example', 'no address'])(
    'takes no hub that others could forge: %s',
    (mirror) => {
      expect(() => hubOf(mirror, { env: {} })).toThrow(/^--mirror: /);
    },
  );
});

describe('a fetcher', () => {
  async function read(fetcher: Fetcher, url: string): Promise<number> {
    let bytes = 0;
    const over = new AbortController();
    const { body } = await fetcher.get(new URL(url), {}, over.signal);
    for await (const piece of body) bytes += piece.length;
    over.abort(new Error('the answer is read'));
    return bytes;
  }

  /** @param answer number of the request on its connection, from 1 */
  async function open(answer: (response: ServerResponse, number: number, request: IncomingMessage) => void) {
    const counts = new Map<Socket, number>();
    const server = createServer((request, response) => {
      const number = (counts.get(request.socket) ?? 0) + 1;
      counts.set(request.socket, number);
      answer(response, number, request);
    });
    const url = `http://127.0.0.1:${await listen(server)}`;
    return { url, counts, fetcher: fetcherOf(hubOf(url, { env: {} })) };
  }

  it('takes all files of a host over one connection, also those of signed addresses', async () => {
    const { hub } = await openHub();
    const path = 'some/voices/resolve/c0ffee/';
    for (const name of ['b.onnx', 'c.onnx']) hub.files.set(path + name, BYTES);
    const fetcher = fetcherOf(hubOf(hub.url, { env: {} }));
    for (const name of ['a', 'b', 'c'])
      expect(await read(fetcher, `${hub.url}/${path}${name}.onnx`)).toBe(BYTES.length);
    for (const host of [hub.requests, hub.cdn]) {
      expect(host.map((request) => request.path.split('?')[0])).toEqual(
        ['a', 'b', 'c'].map((name) => `/${path}${name}.onnx`),
      );
      expect(new Set(host.map(({ port }) => port)).size).toBe(1);
    }
  });

  it('does not wait for the end of an answer that is a redirect', async () => {
    const { url, fetcher } = await open((response, _, request) => {
      if (request.url === '/b') response.end('abc');
      else response.writeHead(302, { location: '/b' }).write(Buffer.alloc(4_000_000));
    });
    expect(await read(fetcher, `${url}/a`)).toBe(3);
  });
});
