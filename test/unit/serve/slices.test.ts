import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { readInSlices } from '../../../src/serve/http.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const LAST = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

async function send(bytes: string, answer: (request: IncomingMessage) => string | Promise<string>) {
  const server = createServer(async (request, response) => response.end(await answer(request)));
  server.on('connection', readInSlices).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(bytes);
  return text(socket).catch(() => '');
}

test('Of a thousand requests in one piece, only those of one slice are seen once the connection is closed.', async () => {
  let seen = 0;
  await send(REQUEST.repeat(1000), ({ socket }) => {
    seen++;
    socket.destroy();
    return '';
  });
  expect(seen).toBeGreaterThan(0);
  expect(seen).toBeLessThan(200);
});

test('A body of many slices arrives whole and in order, and the request after it is answered.', async () => {
  const body = Array.from({ length: 50_000 }, (_, number) => `${number},`).join('');
  const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`;
  const answered = await send(head + body + LAST, async (request) => {
    const isWhole = (await text(request)) === body;
    return request.method === 'POST' ? `the body is whole: ${isWhole}` : 'second';
  });
  expect(answered).toMatch(/the body is whole: true.*second/s);
});

test('Answers that nobody takes hold up the slices after them, which are read later.', async () => {
  const answer = 'x'.repeat(20_000);
  const answered = await send(REQUEST.repeat(500) + LAST, () => answer);
  expect(answered.split(answer)).toHaveLength(502);
});
