import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { LogRecord } from '../../src/serve/service.ts';
import { ask, type Reply } from '../support/ask.ts';
import { randomFrom } from '../support/random.ts';
import { node } from '../support/run.ts';
import { serveProcess } from '../support/serve.ts';
import { startToneService, KEY as TONE_KEY, type ToneService } from '../support/tone-service.ts';

const KEY = 'the-key-of-the-abused-service';
const ABUSE = fileURLToPath(new URL('../support/abuse.mjs', import.meta.url));

const ABUSES = 400;
const SEED = 33;

const MEBIBYTE = 2 ** 20;

/** Milliseconds. A service that takes longer hangs. */
const PATIENCE = 60_000;
const patient = { timeout: PATIENCE, interval: 200 };

const test = it.skipIf(process.platform !== 'linux');

interface Served {
  readonly port: string;
  readonly wyoming: string;
  readonly memory: () => number;
  readonly descriptors: () => number;
  readonly get: (path: string) => Promise<Reply>;
  readonly speak: () => Promise<Reply>;
  readonly said: () => string;
}

async function serveKeyed(): Promise<Served> {
  const { child, url, said } = await serveProcess('--json --wyoming 0', { env: { TTS_API_KEY: KEY } });
  const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
  const question = () => ({ headers, signal: AbortSignal.timeout(PATIENCE) });
  return {
    port: new URL(url).port,
    wyoming: new URL(JSON.parse(said.stdout).wyoming).port,
    memory: () => {
      const status = readFileSync(`/proc/${child.pid}/status`, 'latin1');
      return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
    },
    descriptors: () => readdirSync(`/proc/${child.pid}/fd`).length,
    get: (path) => ask(url + path, question()),
    speak: () => ask(`${url}/tts`, { ...question(), method: 'POST', body: { text: 'Hi.', speaker_no: 1 } }),
    said: () => said.stderr,
  };
}

async function abuse({ port, wyoming }: Served, seed: number, count: number): Promise<void> {
  const child = spawn(node, [ABUSE, port, KEY, String(seed), String(count), wyoming], { stdio: 'inherit' });
  onTestFinished(() => void child.kill());
  const [status] = await once(child, 'close');
  expect(status).toBe(0);
}

async function expectQuiet({ get }: Served): Promise<void> {
  const quiet = { queued: 0, requests: 0, callbacks: 0 };
  await expect.poll(async () => (await get('/healthz')).json, patient).toMatchObject(quiet);
}

test(`tts serve answers others beside ${ABUSES} abuses, and is as it was after them.`, async () => {
  const served = await serveKeyed();
  await abuse(served, SEED + 1, ABUSES / 2);
  await expectQuiet(served);
  const [memory, descriptors] = [served.memory(), served.descriptors()];
  let isOver = false;
  const abused = abuse(served, SEED, ABUSES).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    // A full queue refuses at once.
    expect([200, 503]).toContain((await served.speak()).status);
    expect((await served.get('/speakers')).status).toBe(200);
    await sleep(50);
  }
  await abused;
  await expectQuiet(served);
  // A thread whose client hung up starts again when it is needed, with 8 descriptors.
  await expect.poll(served.descriptors, patient).toBeLessThanOrEqual(descriptors + 3 * 8);
  await expect.poll(served.memory, patient).toBeLessThan(memory + 100 * MEBIBYTE);
  expect(served.said()).not.toContain('defect');
});

test('100 connections that ask 100 times at once and read nothing cost less than 400 MB.', async () => {
  const served = await serveKeyed();
  const request = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100);
  const sockets = Array.from({ length: 100 }, () => connect(Number(served.port), '127.0.0.1'));
  for (const socket of sockets) socket.on('error', () => {}).write(request);
  expect((await served.get('/speakers')).status).toBe(200);
  expect(served.memory()).toBeLessThan(400e6);
  for (const socket of sockets) socket.destroy();
  await expectQuiet(served);
});

describe('the service in this process', () => {
  let tones: ToneService;
  afterEach(() => tones.close());

  const HEAD = `POST /tts HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${TONE_KEY}\r\nContent-Type: application/json\r\n`;
  const requestOf = (text: string, more: object = {}) => {
    const body = JSON.stringify({ text, speaker_no: 1, ...more });
    return `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`;
  };
  const hello = { text: 'hello', speaker_no: 1 };
  const open = async () => {
    const socket = tones.connect().on('error', () => {});
    await once(socket, 'connect');
    return socket;
  };
  /** All that comes back before the service closes the connection. */
  const answerTo = async (bytes: string) => {
    const socket = await open();
    let answer = '';
    socket.on('data', (piece) => {
      answer += piece.toString('latin1');
    });
    socket.write(bytes);
    await once(socket, 'close');
    return answer;
  };

  it.each<[string, string, number]>([
    ['no HTTP', 'no http\r\n\r\n', 400],
    ['a method that nobody knows', 'FOO /tts HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a header without end', `${HEAD}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['two lengths', `${HEAD}Content-Length: 2\r\nContent-Length: 9\r\n\r\n{}`, 400],
    ['a length and chunks', `${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
  ])('refuses %s, and takes nothing after it for a request', async (_, bytes, status) => {
    tones = await startToneService();
    expect(await answerTo(bytes + requestOf('smuggled'))).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(tones.engine.utterances).toEqual([]);
    expect((await tones.speak(hello)).status).toBe(200);
  });

  it('gives no tunnel', async () => {
    tones = await startToneService();
    expect(await answerTo('CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\nmore')).toBe('');
  });

  it('refuses bombs of brackets and of fields', async () => {
    tones = await startToneService();
    expect((await tones.speak('['.repeat(100_000))).status).toBe(400);
    const many = Object.fromEntries(Array.from({ length: 80_000 }, (_, at) => [`k${at.toString(36)}`, 1]));
    expect((await tones.speak({ ...hello, config: many })).status).toBe(422);
  });

  it('keeps nothing of 200 clients that hang up at random moments', async () => {
    const records: LogRecord[] = [];
    tones = await startToneService({ log: (record) => records.push(record) });
    const random = randomFrom(SEED);
    const hangUp = async (at: number) => {
      const socket = await open();
      const request = requestOf(`one slow slow stuck`, { config: { use_streaming_response: at % 2 === 0 } });
      socket.write(request.slice(0, at % 5 === 0 ? Math.floor(random() * request.length) : undefined));
      await sleep(random() * 250);
      if (at % 3 === 0) socket.resetAndDestroy();
      else socket.destroy();
    };
    for (let batch = 0; batch < 2; batch++)
      await Promise.all(Array.from({ length: 100 }, (_, at) => hangUp(at)));
    await expect.poll(() => tones.engine.active).toBe(0);
    await expect.poll(tones.health).toMatchObject({ requests: 0 });
    expect((await tones.speak(hello)).status).toBe(200);
    expect(records.filter(({ event }) => event === 'defect')).toEqual([]);
  });

  it('lets go of slow senders, and answers others meanwhile', async () => {
    tones = await startToneService({ limits: { headers: 600, request: 900 } });
    const request = requestOf('hello');
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => {
        const answer = answerTo(request.slice(0, at % 2 === 0 ? 30 : -20));
        if (at === 19) expect((await tones.speak(hello)).status).toBe(200);
        return answer;
      }),
    );
    for (const answer of answers) expect(answer).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  it('lets go of a client that takes nothing of a long answer, and waits for a slow voice', async () => {
    tones = await startToneService({ limits: { stall: 300 } });
    const socket = (await open()).pause();
    socket.write(requestOf('x'.repeat(400_000), { config: { use_streaming_response: true } }));
    await expect.poll(tones.health).toMatchObject({ requests: 1 });
    await expect.poll(tones.health).toMatchObject({ requests: 0 });
    socket.destroy();
    expect((await tones.speak({ ...hello, text: 'slow '.repeat(15) })).status).toBe(200);
  });

  it('closes connections above its limit, and the others go on', async () => {
    tones = await startToneService({ limits: { connections: 3 } });
    const [first, second, third] = await Promise.all([open(), open(), open()]);
    await once(
      tones
        .connect()
        .on('error', () => {})
        .resume(),
      'close',
    );
    first.write(requestOf('hello'));
    const [answer] = (await once(first, 'data')) as [Buffer];
    expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 200 /);
    for (const socket of [first, second, third]) socket.destroy();
  });
});
