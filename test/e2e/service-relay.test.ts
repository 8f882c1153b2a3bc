import { once } from 'node:events';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { ask } from '../support/ask.ts';
import { parseWav } from '../support/read-wav.ts';
import { Sandbox } from '../support/run.ts';
import { FRAMES_PER_CHARACTER } from '../support/tone-engine.ts';
import { startToneService, type ToneService } from '../support/tone-service.ts';
import { writeUserConfig } from '../support/user-config.ts';

const KEY = 'the-key-of-the-far-service';
const CLIENTS_KEY = 'what-the-clients-send';

let far: ToneService | undefined;
afterEach(() => far?.close());

async function relay(box: Sandbox, ...more: string[]) {
  return relayWith(box, { TTS_API_KEY: KEY }, `--api-key=${CLIENTS_KEY}`, ...more);
}

async function relayWith(box: Sandbox, env: Record<string, string>, ...more: string[]) {
  const url = far?.service.url ?? '';
  const args = ['serve', '--port=0', '--json', `--base-url=${url}`, ...more];
  const { child, stdout, ended } = box.start(args, { env, patience: 110_000 });
  onTestFinished(() => void child.kill());
  const [line] = await once(stdout, 'data');
  const { url: own } = JSON.parse(String(line));
  const headers = { 'x-api-key': CLIENTS_KEY, 'content-type': 'application/json' };
  return {
    own: own as string,
    speak: (text: string, speaker_no = 3) =>
      ask(`${own}/tts`, { method: 'POST', headers, body: { text, speaker_no } }),
    speakForOpenAi: (input: string, more = {}) =>
      ask(`${own}/v1/audio/speech`, {
        method: 'POST',
        headers,
        body: { input, voice: 'tone-3', response_format: 'wav', ...more },
      }),
    async stop() {
      child.kill();
      return (await ended).stderr;
    },
  };
}

const words = (number: number) => `word number ${number}`;
const samples = (text: string) => text.replaceAll(' ', '').length * FRAMES_PER_CHARACTER;

it('asks for each text once, for all clients, two at a time, and never again', {
  timeout: 60_000,
}, async () => {
  far = await startToneService({ apiKey: KEY });
  const box = new Sandbox();
  const first = await relay(box, '--concurrency=2');
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, far?.engine.active ?? 0);
  }, 2);
  const texts = Array.from({ length: 200 }, (_, at) => words(at % 50));
  const clients = Array.from({ length: 20 }, async (_, client) => {
    for (const [at, text] of texts.entries()) {
      if (at % 20 !== client) continue;
      const { status, bytes } = await (client % 2 ? first.speak(text) : first.speakForOpenAi(text));
      expect(status).toBe(200);
      expect(parseWav(bytes).pcm).toEqual(Buffer.from(new Int16Array(samples(text)).fill(3).buffer));
    }
  });
  await Promise.all(clients);
  clearInterval(watch);
  expect(far.engine.utterances).toHaveLength(50);
  expect(most).toBeLessThanOrEqual(2);
  expect(await first.stop()).not.toContain(KEY);

  const again = await relay(box);
  for (const text of texts.slice(0, 50)) expect((await again.speak(text)).status).toBe(200);
  expect(far.engine.utterances).toHaveLength(50);
});

it("passes on the service's speakers and its refusals, and never its key", async () => {
  far = await startToneService({ apiKey: KEY });
  const { own, speak, speakForOpenAi } = await relay(new Sandbox(), '--retries=0');
  const headers = { 'x-api-key': CLIENTS_KEY };
  const { json } = await ask(`${own}/speakers`, { headers });
  expect(json.speakers.map(({ name }: { name: string }) => name)).toContain('tone-5');
  expect((await ask(`${own}/speakers`, { headers: { 'x-api-key': KEY } })).status).toBe(401);
  const busy = await speak('it is full');
  expect([busy.status, busy.headers['retry-after']]).toEqual([503, '3']);
  const broken = await speakForOpenAi('broken');
  expect(broken.status).toBe(502);
  expect((await speak('🔇')).status).toBe(422);
  expect((await speakForOpenAi('🔇')).status).toBe(200);
  for (const { bytes } of [busy, broken]) expect(bytes.toString()).not.toContain(KEY);
});

it("keeps the clients' key in a file apart from the service's own", async () => {
  far = await startToneService({ apiKey: KEY });
  const box = new Sandbox();
  const env = { TTS_API_KEY_FILE: box.file('clients', CLIENTS_KEY) };
  writeUserConfig(box, { keys: { [far.service.url]: KEY } });
  const { speak } = await relayWith(box, env, '--retries=0');
  expect(await speak('logged in')).toMatchObject({ status: 200 });

  const other = new Sandbox();
  const alone = await other.tts(['serve', '--port=0', `--base-url=${far.service.url}`], {
    env: { TTS_API_KEY_FILE: other.file('clients', CLIENTS_KEY) },
  });
  expect(alone).toMatchObject({ status: 3, stderr: expect.stringContaining('no key for http://127.0.0.1') });
});

it('cuts a long text, and joins its sound without a gap', async () => {
  far = await startToneService({ apiKey: KEY });
  const { speakForOpenAi } = await relay(new Sandbox(), '--max-chars=100');
  const text = Array.from({ length: 40 }, (_, at) => `This is sentence ${at}.`).join(' ');
  const { bytes } = await speakForOpenAi(text);
  expect(far.engine.utterances.length).toBeGreaterThan(8);
  expect(parseWav(bytes).pcm).toEqual(Buffer.from(new Int16Array(samples(text)).fill(3).buffer));
});

it('says what is missing', async () => {
  const box = new Sandbox();
  const alone = await box.tts(['serve', '--concurrency=2']);
  expect([alone.status, alone.stderr]).toEqual([
    2,
    'tts: --concurrency counts only with --base-url\nhint: name the service that this one is to stand in front of\n',
  ]);
  const keyless = await box.tts(['serve', '--base-url=http://127.0.0.1:9']);
  expect([keyless.status, keyless.stderr]).toEqual([
    3,
    expect.stringContaining('no key for http://127.0.0.1:9/'),
  ]);
});
