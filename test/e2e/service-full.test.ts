import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { ask } from '../support/ask.ts';
import { listen } from '../support/listen.ts';
import { Sandbox } from '../support/run.ts';

/** More than wait for an answer by default, and fewer than may wait for a callback. */
const MANY = 95;
const HEADER_BYTES = 44;
const patient = { timeout: 100_000 };

/** It receives callbacks. */
async function receive() {
  const received: { type: string | undefined; body: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    received.push({ type: request.headers['content-type'], body: Buffer.concat(pieces) });
    response.writeHead(204).end();
  });
  return { origin: `http://127.0.0.1:${await listen(server)}`, received };
}

async function serve(...args: string[]): Promise<string> {
  const { child, stdout } = new Sandbox().start(['serve', '--port=0', '--json', '--no-auth', ...args], {
    patience: 110_000,
  });
  onTestFinished(() => void child.kill());
  const [line] = await once(stdout, 'data');
  return JSON.parse(String(line)).url;
}

it('speaks all callbacks that it has accepted, and meanwhile for others', async () => {
  const { origin, received } = await receive();
  const url = await serve('--workers=1', '--callbacks', origin);
  const post = (more: object) =>
    ask(`${url}/tts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: { text: 'Hello.', speaker_no: 1, ...more },
    });
  const alone = await post({});
  const accepted = await Promise.all(Array.from({ length: MANY }, () => post({ callback_url: origin })));
  expect(accepted.map(({ status }) => status)).toEqual(Array.from(accepted, () => 202));
  const direct = await post({});
  await expect.poll(() => received.length, patient).toBe(MANY);
  expect(alone.bytes.length).toBeGreaterThan(HEADER_BYTES);
  for (const { type, body } of received) {
    expect([type, body.equals(alone.bytes)]).toEqual(['audio/wav', true]);
  }
  expect([direct.status, direct.bytes.equals(alone.bytes)]).toEqual([200, true]);
});
