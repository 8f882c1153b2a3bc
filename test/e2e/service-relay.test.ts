import { once } from 'node:events';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { ask } from '../support/ask.ts';
import { parseWav } from '../support/read-wav.ts';
import { Sandbox } from '../support/run.ts';
import { FIXED_RATE_SPEAKER, type SeedService, serveSeed, UNKNOWN_SPEAKER } from '../support/seed-service.ts';
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

describe('in front of a service that has the interface and no more', () => {
  /** A relay, and what a client of it gets. */
  async function seedRelay(box: Sandbox, { url, key }: SeedService, ...more: string[]) {
    const { child, stdout, ended } = box.start(
      ['serve', '--port=0', '--json', '--no-auth', '--no-cache', '--retries=0', `--base-url=${url}`, ...more],
      { env: { TTS_API_KEY: key }, patience: 60_000 },
    );
    onTestFinished(() => void child.kill());
    const [line] = await Promise.race([
      once(stdout, 'data'),
      ended.then(({ stderr }) => {
        throw new Error(stderr);
      }),
    ]);
    const { url: own } = JSON.parse(String(line));
    const post = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' };
      const { status, bytes } = await ask(`${own}${path}`, { method: 'POST', headers, body });
      return { status, said: status === 200 ? parseWav(bytes).sampleRate : bytes.toString() };
    };
    return { own: own as string, post, child, ended };
  }

  const text = 'Hello.';

  it.each([
    [{}],
    [{ use_streaming_response: true }],
    [{ use_streaming_response: false }],
    [{ sample_rate: 48_000 }],
    [{ sample_rate: 8000.5 }],
    [{ instructions: 'slow and warm' }],
    [{ instructions: '' }],
    [{ use_streaming_response: true, sample_rate: 16_000, instructions: 'whisper' }],
  ])('passes on %j of POST /tts, and nothing else', async (config) => {
    const seed = await serveSeed();
    const { post } = await seedRelay(new Sandbox(), seed);
    const { sample_rate: rate = 22_050 } = config as { sample_rate?: number };
    const isEmpty = Object.keys(config).length === 0;
    const body = { text, speaker_no: 1234, ...(!isEmpty && { config }) };
    expect(await post('/tts', body)).toEqual({ status: 200, said: Math.round(rate) });
    expect(seed.bodies).toEqual([body]);
    // It may be asked for its list of speakers, which the interface does not have.
    expect(seed.refused).toEqual(['GET /api/speakers: there is only POST /tts']);
  });

  it('passes on what clients of OpenAI ask, and nothing else', async () => {
    const seed = await serveSeed();
    const box = new Sandbox();
    const named = { no: 7, instructions: 'slow and warm', sampleRate: 48_000 };
    writeUserConfig(box, { speakers: { anna: 3, bob: named, calm: { no: 7 } } });
    const { post, own } = await seedRelay(box, seed);
    const speak = async (voice: unknown, more: object = {}) =>
      (await post('/v1/audio/speech', { input: text, voice, response_format: 'wav', ...more })).said;
    expect(await speak('anna')).toBe(22_050);
    expect(await speak('anna', { instructions: 'whisper' })).toBe(22_050);
    expect(await speak('bob')).toBe(48_000);
    expect(await speak('bob', { instructions: 'shout' })).toBe(48_000);
    expect(await speak('calm')).toBe(22_050);
    expect(await speak(1234)).toBe(22_050);
    expect(await speak('-5', { stream_format: 'audio' })).toBe(22_050);
    expect(await speak('alloy')).toBe(22_050);
    expect(await speak('nova-x')).toContain('There is no voice nova-x');
    expect(seed.bodies.map(({ text: _, ...asked }) => asked)).toEqual([
      { speaker_no: 3 },
      { speaker_no: 3, config: { instructions: 'whisper' } },
      { speaker_no: 7, config: { sample_rate: 48_000, instructions: 'slow and warm' } },
      { speaker_no: 7, config: { sample_rate: 48_000, instructions: 'shout' } },
      { speaker_no: 7 },
      { speaker_no: 1234 },
      { speaker_no: -5, config: { use_streaming_response: true } },
      { speaker_no: 3 },
    ]);
    // A number is the speaker alone, and has no settings of a name.
    await post('/tts', { text, speaker_no: 7 });
    expect(seed.bodies.at(-1)).toEqual({ text, speaker_no: 7 });
    const { json } = await ask(`${own}/speakers`);
    expect(json.speakers[0]).toEqual({
      speaker_no: 3,
      name: 'anna',
      kind: null,
      language: 'und',
      sample_rate: null,
    });
  });

  it('gives clients the rate that came, and the refusals of the service', async () => {
    const seed = await serveSeed();
    const { post } = await seedRelay(new Sandbox(), seed);
    const fixed = { text, speaker_no: FIXED_RATE_SPEAKER, config: { sample_rate: 48_000 } };
    expect(await post('/tts', fixed)).toEqual({ status: 200, said: 22_050 });
    const unknown = await post('/tts', { text, speaker_no: UNKNOWN_SPEAKER });
    expect(unknown).toEqual({ status: 422, said: expect.stringContaining('no such speaker') });
    const other = await post('/v1/audio/speech', { input: text, voice: UNKNOWN_SPEAKER });
    expect(other).toEqual({ status: 422, said: expect.stringContaining('no such speaker') });
    // JSON.parse makes another number of it.
    expect((await post('/tts', { text, speaker_no: 2 ** 53 })).status).toBe(422);
  });

  it('prints a line to try that works', async () => {
    const seed = await serveSeed();
    const box = new Sandbox();
    const args = ['--port=0', '--api-key=clients', `--base-url=${seed.url}`, '--no-cache'];
    const env = { TTS_API_KEY: seed.key, TTS_SPEAKER: '181' };
    const { child, ended } = box.start(['serve', ...args], { env, patience: 60_000 });
    onTestFinished(() => void child.kill());
    let said = '';
    child.stderr?.on('data', (piece) => {
      said += piece;
    });
    await expect.poll(() => said, { timeout: 15_000 }).toMatch(/try: .*\n/);
    const [, line = ''] = /try: (.*)\n/.exec(said) ?? [];
    expect(await box.shell(line, { env: { TTS_API_KEY: 'clients' } })).toMatchObject({ status: 0 });
    expect(parseWav(box.read('hello.wav')).sampleRate).toBe(22_050);
    expect(seed.bodies).toEqual([{ text: 'Hello', speaker_no: 181 }]);
    child.kill();
    await ended;
  });

  it('writes lines of JSON and nothing else with --log json', async () => {
    const seed = await serveSeed();
    const box = new Sandbox();
    const args = ['--port=0', '--no-auth', `--base-url=${seed.url}`, '--log=json', '--host=127.0.0.1'];
    const { child, ended } = box.start(['serve', ...args], {
      env: { TTS_API_KEY: seed.key },
      patience: 60_000,
    });
    onTestFinished(() => void child.kill());
    const records: { event: string; time: string; message?: string }[] = [];
    child.stderr?.on('data', (piece) => {
      for (const line of String(piece).trimEnd().split('\n')) records.push(JSON.parse(line));
    });
    const heard = (message: RegExp) => records.find((record) => message.test(record.message ?? ''))?.message;
    await expect.poll(() => heard(/^listening on http/), { timeout: 15_000 }).toBeDefined();
    const own = heard(/^listening on http/)?.replace('listening on ', '');
    const headers = { 'content-type': 'application/json' };
    await ask(`${own}/tts`, { method: 'POST', headers, body: { text, speaker_no: 3 } });
    await ask(`${own}/tts`, { method: 'POST', headers, body: { text, speaker_no: UNKNOWN_SPEAKER } });
    child.kill();
    await ended;
    expect(new Set(records.map(({ event }) => event))).toEqual(new Set(['note', 'request']));
    for (const { time } of records) expect(time).toMatch(/^\d{4}-.*Z$/);
    expect(records.at(-1)?.message).toMatch(/^stopping/);
    const failed = await box.tts(['serve', '--log', 'json', '--no-auth', '--port=0', '--log=xml']);
    expect(JSON.parse(failed.stderr)).toMatchObject({ event: 'error', exitCode: 2 });
  });
});
