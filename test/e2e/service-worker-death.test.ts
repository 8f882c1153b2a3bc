import { once } from 'node:events';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask } from '../support/ask.ts';
import { hasPrlimit, prlimit } from '../support/prlimit.ts';
import { KEY, Sandbox } from '../support/run.ts';
import { Threads } from '../support/threads.ts';

const worker = new URL('../../dist/worker.cjs', import.meta.url);
/** A thread that is about to speak such a text stops, for the test to kill it. */
const place = { file: worker, line: 'flite.speak(', condition: 'use.request.text.includes("doomed")' };

const LONG = 'We saw the moon rise over the mountains while the wolves howled. '.repeat(10);
const WORKERS = 2;
const HEADER_BYTES = 44;
const patient = { timeout: 60_000 };

async function serve(workers = WORKERS, whose: { uid?: number } = {}) {
  const env = { NODE_OPTIONS: '--inspect=0', TTS_API_KEY: KEY };
  const args = ['serve', '--port=0', '--json', `--workers=${workers}`];
  const { child, stdout } = new Sandbox().start(args, { env, patience: 110_000, ...whose });
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
  await expect.poll(() => threads.armed, patient).toBe(workers + 1); // one of them is spare
  return { url: url as string, threads, pid: child.pid, said: () => stderr };
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

/** Root has no limit of threads, so somebody else runs the service, who runs nothing besides. */
const SOMEBODY = process.getuid?.() === 0 ? 61_234 : undefined;

describe.skipIf(!hasPrlimit)('a system without room for threads (skipped without prlimit)', () => {
  it('fails requests for as long as that lasts, and no longer', async () => {
    const whose = SOMEBODY === undefined ? {} : { uid: SOMEBODY };
    const { url, threads, pid, said } = await serve(1, whose);
    const limit = (...args: string[]) => prlimit(pid, args, SOMEBODY);
    const most = limit('--nproc', '--output=HARD', '--raw', '--noheadings');
    limit('--nproc=1:');
    for (const dead of [1, 2]) {
      const doomed = ask(`${url}/tts`, asked('This one is doomed.', false));
      await expect.poll(() => threads.stopped.length, patient).toBe(dead); // the second one was spare
      threads.stopped[dead - 1]?.kill();
      expect((await doomed).status).toBe(500);
    }
    for (const request of [1, 2, 3]) {
      const { status, json } = await ask(`${url}/tts`, asked('Hello.', false));
      expect([status, json.error.code]).toEqual([500, 'engine_failed']);
      const failures = () => said().match(/ engine failed: The voice failed: .*EAGAIN/g)?.length;
      await expect.poll(failures, patient).toBe(request);
    }
    threads.close();
    limit(`--nproc=${most}:`);
    for (const _ of [1, 2, 3]) expect((await speak(url, 'Hello.', false)).length).toBeGreaterThan(1000);
  });
});
