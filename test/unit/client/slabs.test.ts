import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { intoSlabs } from '../../../src/client/slabs.ts';
import { listen } from '../../support/listen.ts';

/** A socket that reads into slabs what a server writes. */
async function received(write: (socket: Socket) => void): Promise<Socket> {
  const port = await listen(createServer(write));
  return connect({ port, host: '127.0.0.1', onread: intoSlabs((socket, piece) => socket.push(piece)) });
}

function numbered(bytes: number): Buffer {
  return Buffer.from(Uint32Array.from({ length: bytes / 4 }, (_, number) => number).buffer);
}

test('What is kept of the pieces stays as it was received, however many slabs they fill.', async () => {
  const sent = numbered(5 << 20);
  const socket = await received((server) => server.end(sent));
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece);
  expect(Buffer.concat(pieces).equals(sent)).toBe(true);
});

test('Small pieces share a slab.', async () => {
  const socket = await received(async (server) => {
    for (let sent = 0; sent < 20; sent++) {
      server.write(Buffer.alloc(100, sent));
      await sleep(5);
    }
    server.end();
  });
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece);
  expect(pieces.length).toBeGreaterThan(1);
  expect(new Set(pieces.map((piece) => piece.buffer)).size).toBe(1);
  expect(
    Buffer.concat(pieces).equals(Buffer.concat(Array.from({ length: 20 }, (_, at) => Buffer.alloc(100, at)))),
  ).toBe(true);
});
