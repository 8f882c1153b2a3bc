import { afterEach, describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { serveBytes } from '../support/byte-server.ts';
import { answer, complete } from '../support/http-bytes.ts';
import { parseWav } from '../support/read-wav.ts';
import { expectFailure, Sandbox } from '../support/run.ts';
import { serve } from '../support/serve.ts';
import {
  FIXED_RATE_SPEAKER,
  type StrictService,
  serveStrict,
  UNKNOWN_SPEAKER,
} from '../support/strict-service.ts';
import { FRAMES_PER_CHARACTER, startToneService, type ToneService } from '../support/tone-service.ts';
import { writeUserConfig } from '../support/user-config.ts';
import { plainWav } from '../unit/sound/wav-builder.ts';

const KEY = 'the-key-of-the-far-service';
const CLIENTS_KEY = 'what-the-clients-send';

let far: ToneService | undefined;
afterEach(() => far?.close());

/** A relay of a service, with what it says as JSON. */
async function relayTo(url: string, { box = new Sandbox(), env = {}, args = '' }: Relaying = {}) {
  const { url: own, said, endBy } = await serve(`--json --base-url=${url} ${args}`, { box, env });
  const headers = { 'x-api-key': CLIENTS_KEY, 'content-type': 'application/json' };
  const post = (path: string, body: object) => ask(own + path, { method: 'POST', headers, body });
  const stop = async () => {
    await endBy('SIGTERM');
    return said.stderr;
  };
  return { own, post, stop };
}

interface Relaying {
  readonly box?: Sandbox;
  readonly env?: Record<string, string>;
  readonly args?: string;
}

/** A relay of a service that speaks in tones. */
async function relay(args = '', more: Relaying = {}) {
  const env = { TTS_API_KEY: KEY };
  const line = more.env ? args : `--api-key=${CLIENTS_KEY} ${args}`;
  const { post, ...rest } = await relayTo(far?.service.url ?? '', { env, ...more, args: line });
  return {
    ...rest,
    speak: (text: string, speaker_no = 3) => post('/tts', { text, speaker_no }),
    speakForOpenAi: (input: string) =>
      post('/v1/audio/speech', { input, voice: 'tone-3', response_format: 'wav' }),
  };
}

const words = (number: number) => `word number ${number}`;
const samples = (text: string) => text.replaceAll(' ', '').length * FRAMES_PER_CHARACTER;

it('asks for each text once, for all clients, two at a time, and never again', {
  timeout: 60_000,
}, async () => {
  far = await startToneService({ apiKey: KEY });
  const box = new Sandbox();
  const first = await relay('--concurrency=2', { box });
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

  const again = await relay('', { box });
  for (const text of texts.slice(0, 50)) expect((await again.speak(text)).status).toBe(200);
  expect(far.engine.utterances).toHaveLength(50);
});

it("passes on the service's speakers and its refusals, and never its key", async () => {
  far = await startToneService({ apiKey: KEY });
  const { own, speak, speakForOpenAi } = await relay('--retries=0');
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
  const { speak } = await relay('--retries=0', { box, env });
  expect(await speak('logged in')).toMatchObject({ status: 200 });

  const other = new Sandbox();
  const alone = await other.run(`serve --port=0 --base-url=${far.service.url}`, {
    env: { TTS_API_KEY_FILE: other.file('clients', CLIENTS_KEY) },
  });
  expect(alone).toMatchObject({ status: 3, stderr: expect.stringContaining('no key for http://127.0.0.1') });
});

it('cuts a long text, and joins its sound without a gap', async () => {
  far = await startToneService({ apiKey: KEY });
  const { speakForOpenAi } = await relay('--max-chars=100');
  const text = Array.from({ length: 40 }, (_, at) => `This is sentence ${at}.`).join(' ');
  const { bytes } = await speakForOpenAi(text);
  expect(far.engine.utterances.length).toBeGreaterThan(8);
  expect(parseWav(bytes).pcm).toEqual(Buffer.from(new Int16Array(samples(text)).fill(3).buffer));
});

it('holds nobody up when the service asks one client to wait', async () => {
  const { url } = await serveBytes((wire, request, number) => {
    const isBusy = request.body.includes('busy');
    return (isBusy ? answer(429, 'later', { 'Retry-After': 600 }) : complete(plainWav(Buffer.alloc(400))))(
      wire,
      request,
      number,
    );
  });
  const { post } = await relayTo(url, { env: { TTS_API_KEY: KEY }, args: '--no-auth --no-cache' });
  const { status, headers } = await post('/tts', { text: 'busy', speaker_no: 3 });
  expect([status, headers['retry-after']]).toEqual([429, '600']);
  expect((await post('/tts', { text: 'free', speaker_no: 3 })).status).toBe(200);
});

it('speaks on for others when the service has refused one request', async () => {
  const { url } = await serveBytes((wire, request, number) => {
    const isRefused = request.body.includes('wrong');
    return (isRefused ? answer(401, 'the key is wrong') : complete(plainWav(Buffer.alloc(400))))(
      wire,
      request,
      number,
    );
  });
  const { post } = await relayTo(url, {
    env: { TTS_API_KEY: KEY },
    args: '--no-auth --no-cache --retries=0 --max-chars=100',
  });
  const sentences = (what: string) =>
    Array.from({ length: 8 }, (_, at) => `This is a ${what} sentence, number ${at}.`).join(' ');
  const statuses: number[] = [];
  for (const what of ['good', 'wrong', 'good'])
    statuses.push((await post('/tts', { text: sentences(what), speaker_no: 3 })).status);
  expect(statuses).toEqual([200, 502, 200]);
});

describe('in front of a service that has the interface and no more', () => {
  /** A relay, and what a client of it gets. */
  async function seedRelay(seed: StrictService, box = new Sandbox()) {
    const { post, ...rest } = await relayTo(seed.url, {
      box,
      env: { TTS_API_KEY: seed.key },
      args: '--no-auth --no-cache --retries=0',
    });
    const gets = async (path: string, body: object) => {
      const { status, bytes } = await post(path, body);
      return { status, said: status === 200 ? parseWav(bytes).sampleRate : bytes.toString() };
    };
    return { ...rest, post: gets };
  }

  const text = 'Hello.';

  it('passes on what is set in POST /tts, and nothing else', async () => {
    const seed = await serveStrict();
    const { post } = await seedRelay(seed);
    const configs: readonly Record<string, unknown>[] = [
      {},
      { use_streaming_response: true },
      { use_streaming_response: false },
      { sample_rate: 8000.5 },
      { instructions: '' },
      { use_streaming_response: true, sample_rate: 16_000, instructions: 'whisper' },
    ];
    const bodies = configs.map((config) => {
      return { text, speaker_no: 1234, ...(Object.keys(config).length > 0 && { config }) };
    });
    for (const [at, body] of bodies.entries()) {
      const said = Math.round(Number(configs[at]?.sample_rate ?? 22_050));
      expect(await post('/tts', body)).toEqual({ status: 200, said });
    }
    expect(seed.bodies).toEqual(bodies);
    // It may be asked for its list of speakers, which the interface does not have.
    expect(new Set(seed.refused)).toEqual(new Set(['GET /api/speakers: there is only POST /tts']));
  });

  it('passes on what clients of OpenAI ask, and nothing else', async () => {
    const seed = await serveStrict();
    const box = new Sandbox();
    const named = { no: 7, instructions: 'slow and warm', sampleRate: 48_000 };
    writeUserConfig(box, { speaker: 'Anna', speakers: { bob: named, anna: 3, calm: { no: 7 } } });
    const { post, own } = await seedRelay(seed, box);
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

  describe('of what models write', () => {
    const written =
      '## Steps\n\n- **Bold** 😀 and `GIF`\n- <think>no</think>2 * 3\n\n<b>see</b> [it](http://x.example)';
    const read = 'Steps.\n\nBold and GIF.\n2 * 3.\n\nsee it';
    /** A run takes emoji and thoughts out of what a model writes, and not out of Markdown. */
    const marked = 'Steps.\n\nBold 😀 and GIF.\nno2 * 3.\n\nsee it';

    it.each<[string, string, object, string]>([
      ['with --assistant', '--assistant', {}, read],
      ['with --format', '--format markdown', {}, marked],
      ['as the config says', '', { assistant: true }, read],
      ['with a lexicon', '--format=markdown --lexicon=words.txt', {}, marked.replace('GIF', 'jif')],
      ['with a lexicon alone', '--lexicon=words.txt', {}, written.replace('GIF', 'jif')],
      ['by default', '', {}, written],
    ])('asks for the words alone, on both interfaces, %s', async (_, args, config, expected) => {
      const seed = await serveStrict();
      const box = new Sandbox();
      box.file('words.txt', 'GIF = jif\n');
      writeUserConfig(box, { speakers: { anna: 3 }, ...config });
      const env = { TTS_API_KEY: seed.key };
      const { post } = await relayTo(seed.url, { box, env, args: `--api-key=${CLIENTS_KEY} ${args}` });
      expect((await post('/tts', { text: written, speaker_no: 3 })).status).toBe(200);
      expect((await post('/v1/audio/speech', { input: written, voice: 'anna' })).status).toBe(200);
      // Equal texts are asked for once.
      expect(seed.bodies).toEqual([{ text: expected, speaker_no: 3 }]);
    });

    it.each(['epub', 'docx', 'pdf', 'subtitles'])('is not %s: that is a file', async (format) => {
      const run = await new Sandbox().run(['serve', '--no-auth', '--port', '0', '--format', format]);
      expectFailure(
        run,
        2,
        new RegExp(`--format ${format}: clients send texts.*\\nhint: choose text, markdown or html`, 'u'),
      );
    });

    it('has nothing to ask for where nothing is to be heard', async () => {
      const seed = await serveStrict();
      const { post } = await relayTo(seed.url, {
        env: { TTS_API_KEY: seed.key },
        args: '--no-auth --assistant',
      });
      const silent = '<think>What now?</think>';
      const { status, json } = await post('/tts', { text: silent, speaker_no: 3 });
      expect([status, json.error.code, json.error.field]).toEqual([422, 'unsupported_text', 'text']);
      const heard = await post('/v1/audio/speech', { input: silent, voice: '3', response_format: 'wav' });
      expect([heard.status, new Set(parseWav(heard.bytes).pcm)]).toEqual([200, new Set([0])]);
      expect(seed.bodies).toEqual([]);
    });
  });

  it.each(['---', '\u200b'])('asks for nothing where there is nothing to say: %j', async (blank) => {
    const seed = await serveStrict();
    const { post } = await relayTo(seed.url, { env: { TTS_API_KEY: seed.key }, args: '--no-auth' });
    const { status, json } = await post('/tts', { text: blank, speaker_no: 3 });
    expect([status, json.error.code, json.error.field]).toEqual([422, 'unsupported_text', 'text']);
    const heard = await post('/v1/audio/speech', { input: blank, voice: '3', response_format: 'wav' });
    expect([heard.status, new Set(parseWav(heard.bytes).pcm)]).toEqual([200, new Set([0])]);
    expect(seed.bodies).toEqual([]);
  });

  it('gives clients the rate that came, and the refusals of the service', async () => {
    const seed = await serveStrict();
    const { post } = await seedRelay(seed);
    const fixed = { text, speaker_no: FIXED_RATE_SPEAKER, config: { sample_rate: 48_000 } };
    expect(await post('/tts', fixed)).toEqual({ status: 200, said: 22_050 });
    const unknown = await post('/tts', { text, speaker_no: UNKNOWN_SPEAKER });
    expect(unknown).toEqual({ status: 422, said: expect.stringContaining('no such speaker') });
    const bare = await relayTo(seed.url, { env: { TTS_API_KEY: seed.key }, args: '--no-auth' });
    const { json } = await bare.post('/tts', { text, speaker_no: UNKNOWN_SPEAKER });
    expect([json.error.code, json.error.field]).toEqual(['refused_by_service', undefined]);
    const other = await post('/v1/audio/speech', { input: text, voice: UNKNOWN_SPEAKER });
    expect(other).toEqual({ status: 422, said: expect.stringContaining('no such speaker') });
    // JSON.parse makes another number of it.
    expect((await post('/tts', { text, speaker_no: 2 ** 53 })).status).toBe(422);
  });

  it('writes lines of JSON and nothing else with --log json', async () => {
    const seed = await serveStrict();
    const box = new Sandbox();
    const line = `--no-auth --base-url=${seed.url} --log=json --host=127.0.0.1`;
    const { said, speak, endBy } = await serve(line, { box, env: { TTS_API_KEY: seed.key } });
    await speak({ text, speaker_no: 3 });
    await speak({ text, speaker_no: UNKNOWN_SPEAKER });
    await endBy('SIGTERM');
    const lines = said.stderr.trimEnd().split('\n');
    const records: { event: string; time: string; message?: string }[] = lines.map((each) =>
      JSON.parse(each),
    );
    expect(new Set(records.map(({ event }) => event))).toEqual(new Set(['note', 'request']));
    for (const { time } of records) expect(time).toMatch(/^\d{4}-.*Z$/);
    expect(records.at(-1)?.message).toMatch(/^stopping/);
    const failed = await box.run('serve --log json --no-auth --port=0 --log=xml');
    expect(JSON.parse(failed.stderr)).toMatchObject({ event: 'error', exitCode: 2 });
  });
});
