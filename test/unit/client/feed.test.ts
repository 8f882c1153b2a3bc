import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import createConnector from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { afterEach, expect, test } from 'vitest';
import { feed, goOn, rest, type Source } from '../../../src/client/feed.ts';
import { intoSlabs } from '../../../src/client/slabs.ts';
import { httpChunk } from '../../support/http-bytes.ts';
import { listen } from '../../support/listen.ts';

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\nTransfer-Encoding: chunked\r\n\r\n';
const PIECE = Buffer.alloc(882, 'x');

const pools: Dispatcher[] = [];

afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.destroy())));

interface Exchange {
  /** What arrived, in order. */
  readonly pieces: Buffer[];
  /** Bytes that lay in the socket's stream after each receipt. */
  readonly waiting: number[];
  readonly socket: Source;
  readonly ended: Promise<void>;
}

/** A request whose socket is read by {@link feed}; resolves with the first piece of the answer. */
async function exchange(answer: (socket: Socket) => void, hear = (_: Source) => {}): Promise<Exchange> {
  const port = await listen(createServer((socket) => socket.once('data', () => answer(socket))));
  const waiting: number[] = [];
  let source: Source;
  const onread = intoSlabs((socket, piece) => {
    source = socket;
    const more = feed(socket, piece);
    waiting.push(socket.readableLength);
    return more;
  });
  const connect = createConnector({ onread, highWaterMark: 1 << 20 } as object);
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1, connect });
  pools.push(pool);
  const pieces: Buffer[] = [];
  return new Promise((resolve, reject) => {
    let end = () => {};
    const ended = new Promise<void>((done) => {
      end = done;
    });
    pool.dispatch(
      { path: '/', method: 'GET' },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData(_, piece) {
          pieces.push(piece);
          hear(source);
          resolve({ pieces, waiting, socket: source, ended });
        },
        onResponseEnd: () => end(),
        onResponseError: (_, error) => reject(error),
      },
    );
  });
}

test('What a parser is ready for never lies in the stream of the socket.', async () => {
  const { pieces, waiting, ended } = await exchange(async (socket) => {
    socket.write(HEAD);
    for (let sent = 0; sent < 10; sent++) {
      socket.write(httpChunk(PIECE));
      await sleep(5);
    }
    socket.write(httpChunk(''));
  });
  await ended;
  expect(Buffer.concat(pieces).length).toBe(10 * PIECE.length);
  expect(waiting.length).toBeGreaterThan(5);
  expect(waiting.every((bytes) => bytes === 0)).toBe(true);
});

test('What comes while a connection rests is left to the system, and then comes in order.', async () => {
  const body = Buffer.concat(Array.from({ length: 3000 }, (_, number) => Buffer.alloc(10_000, number % 251)));
  let rested = false;
  const { pieces, waiting, socket, ended } = await exchange(
    (server) => {
      server.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`);
      server.write(body);
    },
    (socket) => {
      if (!rested) rest(socket);
      rested = true;
    },
  );
  await sleep(100);
  const before = waiting.length;
  await sleep(100);
  expect(waiting.length).toBe(before);
  expect(Buffer.concat(pieces).length).toBeLessThan(2 << 20);
  goOn(socket);
  await ended;
  expect(Buffer.concat(pieces).equals(body)).toBe(true);
  expect(waiting.every((bytes) => bytes === 0)).toBe(true);
});

test('A body that ends with its connection is whole, also where that ends while it rests.', async () => {
  const { pieces, socket, ended } = await exchange((server) => {
    server.write(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n`);
    server.end(PIECE);
  }, rest);
  await sleep(50);
  goOn(socket);
  await ended;
  expect(Buffer.concat(pieces).equals(PIECE)).toBe(true);
});
