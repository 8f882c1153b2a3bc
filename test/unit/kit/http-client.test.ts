import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TtsError } from '../../../src/kit/error.ts';
import { HttpClient, type HttpClientOptions } from '../../../src/kit/http/client.ts';
import { type Script, serveBytes } from '../../support/byte-server.ts';
import { answer, head } from '../../support/http-bytes.ts';
import { startProxy } from '../../support/proxy.ts';

/** What makes the buffer of an answer full, in two pieces that each come alone. */
const PIECE = Buffer.alloc(40_000, 1);

async function open(script: Script, options: Partial<HttpClientOptions> = {}) {
  const server = await serveBytes(script);
  const http = new HttpClient({ connections: 2, timeoutMs: 5000, ...options });
  onTestFinished(() => http[Symbol.asyncDispose]());
  const leaving = new AbortController();
  const get = (path = '/') => http.send({ method: 'GET', url: new URL(path, server.url) }, leaving.signal);
  return { server, http, get, leaving };
}

/** Reads to the end or to an error. */
async function outcome(body: AsyncIterable<Uint8Array>) {
  let bytes = 0;
  try {
    for await (const piece of body) bytes += piece.length;
    return { bytes };
  } catch (error) {
    if (!(error instanceof TtsError)) throw error;
    return { bytes, error: error.message.replace(/127[.:\d]+/, 'host') };
  }
}

describe('a body', () => {
  it.each([
    ['without a length', { Connection: 'close' }],
    ['of known length', { 'Content-Length': 2 * PIECE.length }],
  ])('that ends with its connection while it is paused is whole: %s', async (_, headers) => {
    const { get } = await open(async (wire) => {
      await wire.write(head(200, headers));
      for (const piece of [PIECE, PIECE]) {
        await wire.write(piece);
        await sleep(50);
      }
      wire.end();
    });
    const { body } = await get();
    await sleep(300);
    expect(await outcome(body)).toEqual({ bytes: 2 * PIECE.length });
  });

  it.each([
    ['is reset, without a length', { Connection: 'close' }, 'reset'],
    ['is reset, of known length', { 'Content-Length': 200_000 }, 'reset'],
    ['ends too early', { 'Content-Length': 200_000 }, 'end'],
    ['ends within chunks', { 'Transfer-Encoding': 'chunked' }, 'end'],
    ['has a chunk with a broken size', { 'Transfer-Encoding': 'chunked' }, '\r\nzz\r\n'],
  ] as const)('that %s breaks off after all bytes that came', async (_, headers, farewell) => {
    const isChunked = 'Transfer-Encoding' in headers;
    const { get } = await open(async (wire) => {
      await wire.write(head(200, headers));
      await wire.write(isChunked ? '9c40\r\n' : '');
      await wire.write(PIECE);
      await sleep(100);
      if (farewell === 'reset') wire.reset();
      else if (farewell === 'end') wire.end();
      else await wire.write(farewell);
    });
    const { body } = await get();
    await sleep(300);
    expect(await outcome(body)).toEqual({
      bytes: PIECE.length,
      error: 'the answer of host broke off before its end',
    });
  });

  it.each([
    ['as it is', {}],
    ['packed', { 'Content-Encoding': 'gzip' }],
  ])(
    '%s stops its server while nothing is read, and ends its connection when it is left',
    async (_, packing) => {
      let written = 0;
      let hasLeft = false;
      const { get } = await open(async (wire) => {
        void wire.closed.then(() => {
          hasLeft = true;
        });
        await wire.write(head(200, packing));
        if ('Content-Encoding' in packing) await wire.write(gzipSync(randomBytes(2 ** 20)));
        for (const block = Buffer.alloc(2 ** 20); !hasLeft && written < 200; written += 1)
          await wire.write(block);
      });
      const { body } = await get();
      await expect
        .poll(async () => {
          const before = written;
          await sleep(300);
          return written - before;
        })
        .toBe(0);
      expect(written).toBeLessThan(20);
      for await (const _ of body) break;
      await expect.poll(() => hasLeft).toBe(true);
    },
  );

  it('in single bytes comes in order', async () => {
    const bytes = Buffer.from(Array.from({ length: 2000 }, (_, at) => at % 251));
    const { get } = await open(async (wire) => {
      await wire.write(head(200, { 'Content-Length': bytes.length }));
      for (const byte of bytes) await wire.write(Uint8Array.of(byte));
    });
    const read: Uint8Array[] = [];
    for await (const piece of (await get()).body) read.push(piece);
    expect(Buffer.concat(read)).toEqual(bytes);
  });

  it('ends with the reason of its signal', async () => {
    const { get, leaving, server } = await open(async (wire) => {
      await wire.write(head(200));
      await wire.write(PIECE);
    });
    const { body } = await get();
    const reason = new Error('enough');
    leaving.abort(reason);
    await expect(outcome(body)).rejects.toBe(reason);
    await expect.poll(() => server.connections.open).toBe(0);
  });
});

describe('a request', () => {
  it('ends with the reason of its signal', async () => {
    const { get, leaving, server } = await open(() => {});
    const asked = get();
    await expect.poll(() => server.requests.length).toBe(1);
    leaving.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    await expect(get()).rejects.toThrow('enough');
    await expect.poll(() => server.connections.open).toBe(0);
  });

  it.each<[string, readonly string[]]>([
    ['100', [head(100)]],
    ['100 in pieces', [...head(100)]],
    ['100 with headers', [head(100, { Server: 'x' })]],
    ['two times 100', [head(100) + head(100)]],
    ['100, cut before its end', [head(100) + head(100).slice(0, 9), head(100).slice(9)]],
    ['103 and 100', [head(103, { Link: '</x>' }), head(100)]],
    ['102, 100 and 103', [head(102) + head(100) + head(103)]],
  ])('passes over %s, on each use of its connection', async (_, interim) => {
    const { get, server } = await open(
      async (wire, request, number) => {
        for (const piece of interim) {
          await wire.write(piece);
          if (interim.length > 1) await sleep(5);
        }
        await answer(200, 'HTTP/1.1 100')(wire, request, number);
      },
      { connections: 1 },
    );
    for (let count = 0; count < 2; count += 1) {
      const { status, body } = await get();
      expect([status, await outcome(body)]).toEqual([200, { bytes: 12 }]);
    }
    expect(server.connections.made).toBe(1);
  });

  it.each<[string, Script, RegExp]>([
    ['100 alone', (wire) => void wire.write(head(100)).then(() => wire.end()), /without an answer/],
    ['half a line', (wire) => void wire.write('HTTP/1.1 1').then(() => wire.end()), /without an answer/],
    [
      'a head without end',
      (wire) => wire.write(`HTTP/1.1 100 x\r\n${'y: z\r\n'.repeat(9000)}`),
      /invalid HTTP/,
    ],
    [
      'a line without end',
      (wire) => wire.write(`${head(200).trim()}\r\nX: ${'x'.repeat(200_000)}`),
      /invalid HTTP/,
    ],
    [
      'an answer with two lengths',
      (wire) => wire.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 5\r\n\r\n'),
      /invalid HTTP/,
    ],
  ])('fails where %s comes', async (_, script, message) => {
    const { get } = await open(script);
    await expect(get()).rejects.toThrow(message);
  });

  it('uses a connection again, and a new one where the old one was closed', async () => {
    const { get, server } = await open(async (wire, request, number) => {
      await answer(200, 'abc')(wire, request, number);
      if (number === 2) wire.end();
    });
    for (let count = 0; count < 3; count += 1) {
      expect(await outcome((await get()).body)).toEqual({ bytes: 3 });
      await sleep(100);
    }
    expect(server.connections.made).toBe(2);
  });

  it.each<[string, Script]>([
    ['without an answer', () => {}],
    [
      'with a head that drips',
      async (wire) => {
        const drops = setInterval(() => void wire.write('.'), 30);
        await wire.write('HTTP/1.1 200 OK\r\nX: ');
        await wire.closed;
        clearInterval(drops);
      },
    ],
    [
      'with interim answers only',
      async (wire) => {
        const answers = setInterval(() => void wire.write(head(102)), 30);
        await wire.closed;
        clearInterval(answers);
      },
    ],
  ])('ends in time %s', async (_, script) => {
    const { get } = await open(script, { timeoutMs: 200 });
    await expect(get()).rejects.toMatchObject({
      message: expect.stringMatching(/^no answer from 127\.0\.0\.1:\d+ within 0\.2 s$/),
    });
  });

  it('ends in time within its answer, and not while its reader pauses', async () => {
    const { get } = await open(
      async (wire) => {
        await wire.write(head(200, { 'Content-Length': 1_000_000 }));
        await wire.write(PIECE);
        await wire.write(PIECE);
      },
      { timeoutMs: 300 },
    );
    const { body } = await get();
    await sleep(2500);
    expect(await outcome(body)).toEqual({ bytes: 2 * PIECE.length, error: 'no byte from host for 0.3 s' });
  });

  it('ends with its client, while its connection is being made', async () => {
    // This server does not know TLS.
    const { http, server } = await open(() => {}, { timeoutMs: 600_000 });
    const url = new URL(server.url.replace('http:', 'https:'));
    const asked = http.send({ method: 'GET', url }, new AbortController().signal);
    const refused = expect(asked).rejects.toThrow();
    await expect.poll(() => server.connections.open).toBe(1);
    await http[Symbol.asyncDispose]();
    await refused;
    await expect.poll(() => server.connections.open).toBe(0);
  });

  it('through a proxy that hangs up is made once', async () => {
    const proxy = await startProxy({ hangUp: true });
    const { http } = await open(() => {}, { proxyFor: () => ({ url: new URL(proxy.url), except: '' }) });
    const url = new URL('https://service.example/');
    await expect(http.send({ method: 'GET', url }, new AbortController().signal)).rejects.toThrow('proxy');
    await sleep(200);
    expect(proxy.asked).toEqual(['CONNECT service.example:443']);
  });
});
