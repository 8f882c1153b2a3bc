import { expect, it } from 'vitest';
import type { RunContext } from '../../../src/host.ts';
import { openClient } from '../../../src/voices/client.ts';
import { emptyFolder } from '../../support/folder.ts';
import { serveRows, wavOf } from '../../support/row-service.ts';
import { collect } from '../audio/body.ts';

const { signal } = new AbortController();

it('Two voices of a run that want the same at once ask for it once.', async () => {
  const server = await serveRows({ delay: 50 });
  const events: string[] = [];
  const host = {
    ...{ env: { TTS_CACHE_DIR: emptyFolder() }, cwd: '/', home: undefined, platform: process.platform },
    ...{ uid: process.geteuid?.(), pid: process.pid, realm: 'the test', isRunning: () => true },
  };
  const context = { host, notices: { warn: expect.unreachable, warnLater: expect.unreachable }, signal };
  const limits = { concurrency: 4, retries: 0, timeoutMs: 5000 };
  const service = { url: new URL(`${server.url}/tts`), key: 'key', keyOrigin: 'the test', proxy: undefined };
  await using client = await openClient({ limits, cacheBytes: 2 ** 30 }, service, {
    ...(context as unknown as RunContext),
    onEvent: (event) => events.push(event.type === 'cache' ? `${event.index} ${event.found}` : event.type),
  });
  const sounds = await Promise.all(
    [0, 1].map(async (index) => {
      const speech = await client.speakWith({ speaker: 1 })({ text: 'hello', index }, signal);
      return speech && collect(speech.pcm);
    }),
  );
  for (const sound of sounds) expect(Buffer.from(wavOf('hello')).subarray(44)).toEqual(sound);
  expect(server.requests).toHaveLength(1);
  expect(events).toEqual(['0 miss', 'request', 'answer', '1 hit']);
});
