import { once } from 'node:events';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask } from '../support/ask.ts';
import { KEY, Sandbox } from '../support/run.ts';
import { Threads } from '../support/threads.ts';

const worker = new URL('../../dist/worker.cjs', import.meta.url);
/** A thread that is about to speak such a text stops, for the test to kill it. */
const place = { file: worker, line: 'flite.speak(', condition: 'use.request.text.includes("doomed")' };

const LONG = 'We saw the moon rise over the mountains while the wolves howled. '.repeat(10);
const WORKERS = 2;
const HEADER_BYTES = 44;
const patient = { timeout: 60_000 };

async function serve() {
  const env = { NODE_OPTIONS: '--inspect=0', TTS_API_KEY: KEY };
  const args = ['serve', '--port=0', '--json', `--workers=${WORKERS}`];
  const { child, stdout } = new Sandbox().start(args, { env, patience: 110_000 });
  let stderr = '';
  child.stderr?.on('data', (piece) => {
    stderr += piece;
  });
  onTestFinished(() => void child.kill());
  const [line] = await once(stdout, 'data');
  const { url } = JSON.parse(String(line));
  await expect.poll(() => stderr, patient).toContain('Debugger listening');
  const threads = await Threads.watch(stderr, place);
  onTestFinished(() => threads.close());
  await expect.poll(() => threads.armed, patient).toBe(WORKERS + 1); // one of them is spare
  return { url: url as string, threads };
}

const asked = (text: string, streamed: boolean) => ({
  method: 'POST' as const,
  headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
  body: { text, speaker_no: 1, config: { use_streaming_response: streamed } },
});

async function speak(url: string, text: string, streamed: boolean): Promise<Buffer> {
  const { status, bytes } = await ask(`${url}/tts`, asked(text, streamed));
  expect(status).toBe(200);
  return bytes.subarray(HEADER_BYTES);
}

const health = async (url: string) => (await ask(`${url}/healthz`)).json;

describe('a worker that is killed in the middle of its work', () => {
  it('costs its request a 500, and nobody else anything', async () => {
    const { url, threads } = await serve();
    const alone = await speak(url, LONG, false);
    const others = [false, true].map((streamed) => speak(url, LONG, streamed));
    const doomed = [1, 2].map(() => ask(`${url}/tts`, asked('This one is doomed.', false)));
    await expect.poll(() => threads.stopped.length, patient).toBe(2);
    expect(await health(url)).toMatchObject({ workers: WORKERS, requests: 4 });
    for (const thread of threads.stopped) thread.kill();
    for (const { status, json } of await Promise.all(doomed)) {
      expect([status, json.error.code]).toEqual([500, 'engine_failed']);
    }
    await expect.poll(() => health(url), patient).toMatchObject({ workers: 1, requests: 2 });
    await expect.poll(() => threads.starting, patient).toBe(2);
    threads.letGo();
    for (const sound of await Promise.all(others)) expect(sound.equals(alone)).toBe(true);
    await expect.poll(() => health(url), patient).toMatchObject({ workers: WORKERS, requests: 0 });
    expect((await speak(url, LONG, true)).equals(alone)).toBe(true);
  });

  it('breaks off a streamed answer that has begun, so that nobody takes it for whole', async () => {
    const { url, threads } = await serve();
    const alone = await speak(url, LONG, false);
    const other = speak(url, LONG, true);
    const { body, ...rest } = asked('Hello there. This one is doomed.', true);
    const doomed = await request(`${url}/tts`, { ...rest, body: JSON.stringify(body) });
    expect(doomed.statusCode).toBe(200);
    await expect.poll(() => threads.stopped.length, patient).toBe(1);
    for (const thread of threads.stopped) thread.kill();
    await expect(doomed.body.arrayBuffer()).rejects.toThrow();
    await expect.poll(() => threads.starting, patient).toBe(1);
    threads.letGo();
    expect((await other).equals(alone)).toBe(true);
    await expect.poll(() => health(url), patient).toMatchObject({ workers: WORKERS, requests: 0 });
  });
});
