import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { ask, type Reply } from '../support/ask.ts';
import { node, Sandbox } from '../support/run.ts';

const KEY = 'the-key-of-the-abused-service';
const ABUSE = fileURLToPath(new URL('../support/abuse.mjs', import.meta.url));

/** `npm run test:abuse` sets them. Only then the machine has nothing else to do, and latency is compared. */
const LONG_RUN = process.env.TTS_TEST_ABUSE_SECONDS;
const SECONDS = Number(LONG_RUN ?? 10);
const SEED = 33;

const MEBIBYTE = 2 ** 20;

/** Milliseconds. A service that takes longer hangs. */
const PATIENCE = 60_000;
const patient = { timeout: PATIENCE, interval: 200 };

const test = it.skipIf(process.platform !== 'linux');

interface Served {
  readonly port: string;
  readonly memory: () => number;
  /** Memory at its highest. */
  readonly peak: () => number;
  readonly descriptors: () => number;
  readonly get: (path: string) => Promise<Reply>;
  readonly speak: () => Promise<Reply>;
  readonly said: () => string;
}

async function serve(): Promise<Served> {
  const { child, stdout } = new Sandbox().start(['serve', '--port=0', '--json'], {
    env: { TTS_API_KEY: KEY },
    patience: 1000 * SECONDS + 400_000,
  });
  onTestFinished(() => void child.kill());
  let said = '';
  child.stderr?.on('data', (piece) => {
    said += piece;
  });
  const [line] = await once(stdout, 'data');
  const { url } = JSON.parse(String(line));
  const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
  const question = () => ({ headers, signal: AbortSignal.timeout(PATIENCE) });
  const inStatus = (name: string) => {
    const status = readFileSync(`/proc/${child.pid}/status`, 'latin1');
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  };
  return {
    port: new URL(url).port,
    memory: () => inStatus('VmRSS'),
    peak: () => inStatus('VmHWM'),
    descriptors: () => readdirSync(`/proc/${child.pid}/fd`).length,
    get: (path) => ask(url + path, question()),
    speak: () => ask(`${url}/tts`, { ...question(), method: 'POST', body: { text: 'Hi.', speaker_no: 1 } }),
    said: () => said,
  };
}

/** @returns how many abuses there were */
async function abuse({ port }: Served, seed: number, seconds: number): Promise<number> {
  const child = spawn(node, [ABUSE, port, KEY, String(seed), String(seconds)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  let told = '';
  child.stdout.on('data', (text) => {
    told += text;
  });
  await once(child, 'close');
  return Number(told);
}

/** Asks again and again, and returns what the median request took, in milliseconds. */
async function latency({ get, speak }: Served, until: Promise<unknown>): Promise<number> {
  const times: number[] = [];
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  until.then(over, over);
  while (!isOver) {
    const begun = performance.now();
    const spoken = await speak();
    times.push(performance.now() - begun);
    // A full queue refuses at once.
    expect([200, 503]).toContain(spoken.status);
    expect((await get('/speakers')).status).toBe(200);
    await sleep(50);
  }
  expect(times.length).toBeGreaterThan(0);
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

async function expectQuiet({ get }: Served): Promise<void> {
  const quiet = { queued: 0, requests: 0, callbacks: 0 };
  await expect.poll(async () => (await get('/healthz')).json, patient).toMatchObject(quiet);
}

test(`tts serve is as it was after 500 abuses a second for ${SECONDS} s (seed ${SEED}).`, {
  timeout: 1000 * SECONDS + 400_000,
}, async () => {
  const served = await serve();
  await latency(served, abuse(served, SEED + 1, 5));
  await expectQuiet(served);
  const [memory, descriptors] = [served.memory(), served.descriptors()];
  const idle = await latency(served, sleep(3000));
  const abused = abuse(served, SEED, SECONDS);
  const meanwhile = await latency(served, abused);
  expect(await abused).toBeGreaterThan(100 * SECONDS);
  await expectQuiet(served);
  await expect.poll(served.descriptors, patient).toBeLessThanOrEqual(descriptors);
  await expect.poll(served.memory, patient).toBeLessThan(memory + 100 * MEBIBYTE);
  expect(served.said()).not.toContain('defect');
  if (LONG_RUN !== undefined) expect(meanwhile).toBeLessThan(3 * idle);
});

test.each([
  [10, 400],
  [1200, 600],
])('300 connections that ask %i times and read nothing cost less than %i MB.', async (count, megabytes) => {
  const served = await serve();
  const request = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count);
  const sockets = Array.from({ length: 300 }, () => connect(Number(served.port), '127.0.0.1'));
  for (const socket of sockets) socket.on('error', () => {}).write(request);
  for (let round = 0; round < 20; round++) {
    expect((await served.get('/speakers')).status).toBe(200);
    for (const socket of sockets) if (socket.writable) socket.write(request);
  }
  expect(served.peak()).toBeLessThan(megabytes * 1e6);
  for (const socket of sockets) socket.destroy();
  await expectQuiet(served);
});
