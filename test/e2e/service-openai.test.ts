import OpenAI, { APIError } from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServiceOptions } from '../../src/serve/service.ts';
import { ask } from '../support/ask.ts';
import { isThere } from '../support/programs.ts';
import { parseWav } from '../support/read-wav.ts';
import { Sandbox } from '../support/run.ts';
import { serve } from '../support/serve.ts';
import { FRAMES_PER_CHARACTER, KEY, startToneService, type ToneService } from '../support/tone-service.ts';

let tones: ToneService;

async function startTones(options?: Partial<ServiceOptions>): Promise<void> {
  tones = await startToneService(options);
}

beforeEach(() => startTones());
afterEach(() => tones.close());

const client = (apiKey = KEY, maxRetries = 0) =>
  new OpenAI({ baseURL: `${tones.service.url}/v1`, apiKey, maxRetries });

type Wanted = Partial<OpenAI.Audio.SpeechCreateParams>;

async function speak(wanted: Wanted = {}, options = {}) {
  const body = { model: 'tts-1', voice: 'alloy', input: 'one two', ...wanted } as const;
  const answer = await client().audio.speech.create(body, options);
  return { headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

async function failure(doing: Promise<unknown>) {
  const error = await doing.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(APIError);
  const { status, type, param, code } = error as APIError;
  return { status, type, param, code };
}

const SAMPLES = 'onetwo'.length * FRAMES_PER_CHARACTER;

describe("OpenAI's own library for JavaScript", () => {
  it('gets a WAV with the samples of the voice', async () => {
    const { headers, bytes } = await speak({ response_format: 'wav', voice: 'tone-3' });
    expect([headers.get('content-type'), headers.get('x-voice')]).toEqual(['audio/wav', 'tone-3']);
    const { pcm, sampleRate } = parseWav(bytes);
    expect(sampleRate).toBe(22_050);
    expect(pcm).toEqual(Buffer.from(new Int16Array(SAMPLES).fill(3).buffer));
  });

  it('gets bare samples at 24,000 Hz as pcm', async () => {
    const { bytes } = await speak({ response_format: 'pcm' });
    expect(bytes.length).toBe(2 * Math.round((SAMPLES * 24_000) / 22_050));
  });

  it('gets events, whose sound is that of the plain answer', async () => {
    const { bytes } = await speak({ response_format: 'pcm' });
    const events = await speak({ response_format: 'pcm', stream_format: 'sse' });
    expect(events.headers.get('content-type')).toBe('text/event-stream');
    const all = events.bytes
      .toString()
      .trim()
      .split('\n\n')
      .map((event) => JSON.parse(event.replace(/^data: /, '')));
    expect(all.pop()).toMatchObject({ type: 'speech.audio.done' });
    expect(all.every(({ type }) => type === 'speech.audio.delta')).toBe(true);
    expect(Buffer.concat(all.map(({ audio }) => Buffer.from(audio, 'base64')))).toEqual(bytes);
  });

  it.each([
    ['TONE-4', 4],
    ['4', 4],
    ['english', 1],
    ['nova', 1],
    ['', 1],
  ])('finds the voice %j', async (voice, no) => {
    const { headers } = await speak({ voice, response_format: 'wav' });
    expect(headers.get('x-voice')).toBe(`tone-${no}`);
    expect(tones.engine.utterances.at(-1)?.voice.no).toBe(no);
  });

  it('hears another voice of the language for a name with a region, which the log tells', async () => {
    await tones.close();
    const log: object[] = [];
    await startTones({ log: (record) => log.push(record) });
    const ofRegion = await speak({ voice: 'en-US-AvaNeural', response_format: 'wav' });
    const other = await speak({ voice: 'en-AU-NatashaNeural', response_format: 'wav' });
    for (const { headers } of [ofRegion, other]) expect(headers.get('x-voice')).toBe('tone-1');
    const told = { event: 'voice', asked: 'en-AU-NatashaNeural', voice: 'tone-1', language: 'en-US' };
    expect(log.filter((record) => 'asked' in record)).toEqual([expect.objectContaining(told)]);
    for (const voice of ['pt-BR-FranciscaNeural', 'af_heart', 'is_it'])
      expect(await failure(speak({ voice }))).toMatchObject({ status: 400, code: 'unknown_voice' });
  });

  it('gets a short silence for a text without a word that the voice cannot read', async () => {
    const { bytes } = await speak({ input: '🔇!', response_format: 'wav' });
    expect(parseWav(bytes).pcm).toEqual(Buffer.alloc(2 * 2205));
  });

  it('lets instructions shape the voice, and tells what it did not understand', async () => {
    const { headers } = await speak({ instructions: 'slowly, and with feathers', response_format: 'wav' });
    expect(tones.engine.utterances.at(-1)?.fields.instructions).toMatch(/^slowly/);
    expect(headers.get('x-instructions-ignored')).toContain('feathers');
  });

  it.each<[string, Wanted, string, string]>([
    ['an unknown voice', { voice: 'nobody' }, 'voice', 'unknown_voice'],
    ['a blank text', { input: ' ' }, 'input', 'invalid_value'],
    ['a speed out of range', { speed: 5 }, 'speed', 'invalid_value'],
    ['a text that is too long', { input: 'x'.repeat(600_000) }, 'input', 'string_too_long'],
  ])("gets errors in OpenAI's form: %s", async (_, wanted, param, code) => {
    const type = 'invalid_request_error';
    expect(await failure(speak(wanted))).toEqual({ status: 400, type, param, code });
  });

  it('hears of a wrong key, a path that is not there, and a voice that fails', async () => {
    const { models } = client('wrong');
    expect(await failure(Promise.resolve(models.list()))).toMatchObject({
      status: 401,
      type: 'authentication_error',
      code: 'invalid_api_key',
    });
    expect(await failure(client().get('/nothing'))).toMatchObject({ status: 404, code: 'not_found' });
    const broken = await failure(speak({ input: '沈黙 mute' }));
    expect(broken).toMatchObject({ status: 422, type: 'invalid_request_error', param: 'input' });
  });

  it('may leave in the middle: nobody is spoken to any more', async () => {
    const leaving = new AbortController();
    const given = { model: 'x', voice: '1', input: 'one stuck', response_format: 'wav' } as const;
    const { body } = await client().audio.speech.create(given, { signal: leaving.signal });
    await body?.getReader().read();
    leaving.abort();
    await expect.poll(() => tones.engine.active).toBe(0);
  });

  it('lists voices and models', async () => {
    const names = (await client().models.list()).data.map(({ id }) => id);
    expect(names).toContain('tts-1');
    const { json } = await ask(`${tones.service.url}/v1/audio/voices`, {
      headers: { authorization: `Bearer ${KEY}` },
    });
    expect(json.voices[0]).toEqual({ id: 'tone-1', name: 'tone-1', language: 'en-US', speaker_no: 1 });
    expect(json.voices).toHaveLength(tones.engine.all.length);
  });
});

it.skipIf(!isThere('ffmpeg'))(
  'Formats come from ffmpeg, and one that cannot be written is named.',
  async () => {
    expect(await failure(speak({ response_format: 'flac' }))).toMatchObject({
      status: 400,
      param: 'response_format',
      code: 'unsupported_format',
    });
    await tones.close();
    await startTones({ programs: { env: process.env, platform: process.platform } });
    for (const [response_format, mediaType, start] of [
      ['flac', 'audio/flac', 'fLaC'],
      ['opus', 'audio/ogg', 'OggS'],
      ['aac', 'audio/aac', '\xff\xf1'],
    ] as const) {
      const { headers, bytes } = await speak({ response_format, input: 'a longer text '.repeat(20) });
      expect(headers.get('content-type')).toBe(mediaType);
      expect(bytes.toString('latin1', 0, start.length)).toBe(start);
    }
  },
);

it('A defect is no format that cannot be written, and what it says stays in the log.', async () => {
  await tones.close();
  const env = new Proxy(process.env, {
    get: () => {
      throw new Error('/srv/tts/ffmpeg.cjs is missing');
    },
  });
  await startTones({ programs: { env, platform: process.platform } });
  const error = await speak({ response_format: 'flac' }).catch(String);
  expect(error).toContain('500 The service failed on this request');
});

describe('a request', () => {
  const send = (body: unknown, headers: Readonly<Record<string, string>> = {}, path = '/v1/audio/speech') =>
    ask(`${tones.service.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
      body,
    });

  it.each<[string, object]>([
    ['LibreChat', { model: 'tts-1', input: 'one', voice: 'alloy', backend: 'x' }],
    ['openclaw', { model: 'tts-1', input: 'one', voice: 'coral', speed: 1.1, instructions: 'calm' }],
    ['Home Assistant', { model: 'tts-1', input: '.', voice: 'shimmer' }],
    ['Kokoro-FastAPI', { model: 'kokoro', input: 'one', voice: 'tone-1', stream: true, lang_code: 'a' }],
  ])('is answered as clients write it: %s', async (_, body) => {
    const answer = await send({ ...body, response_format: 'wav' });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'audio/wav']);
  });

  it.each(['/v1/audio/speech/', '/v1//audio/speech', '//v1/audio/speech', '/v1/audio//speech//'])(
    'reaches its path with a slash too many: %s',
    async (path) => {
      const { status } = await send({ input: 'one', response_format: 'wav' }, {}, path);
      expect(status).toBe(200);
      expect((await send('', {}, path.replace('speech', 'nothing'))).json.error).toMatchObject({
        param: null,
      });
    },
  );

  it.each<[unknown, number | undefined]>([
    [2, 2],
    ['2', 2],
    [' 2.0 ', 2],
    ['0.5', 0.5],
    [null, 1],
    ['5', undefined],
    ['', undefined],
    ['fast', undefined],
    [true, undefined],
  ])('with the speed %j is taken as it is meant', async (speed, factor) => {
    const input = 'a longer text '.repeat(20);
    const answer = await send({ input, response_format: 'pcm', speed });
    expect(answer.status).toBe(factor === undefined ? 400 : 200);
    const usual = await send({ input, response_format: 'pcm' });
    if (factor === undefined) expect(answer.json.error.param).toBe('speed');
    else expect(Math.abs(answer.bytes.length - usual.bytes.length / factor)).toBeLessThan(8);
  });

  it.each<[string, unknown, Readonly<Record<string, string>>, number, string]>([
    ['a body beyond the limit', 'x'.repeat(2 ** 21), {}, 413, 'body_too_large'],
    ['another type', '{}', { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['a text that is a number', { input: 5 }, {}, 400, 'invalid_value'],
  ])('with %s is refused in the form of the interface', async (...row) => {
    const [, body, headers, status, code] = row;
    const answer = await send(body, headers);
    expect([answer.status, answer.json.error.code]).toEqual([status, code]);
    expect(answer.json.error.type).toBe('invalid_request_error');
  });

  it('by a foreign name is refused by a service without a key', async () => {
    await tones.close();
    await startTones({ apiKey: null });
    const { status, json } = await send({ input: 'one' }, { host: 'evil.example' });
    expect([status, json.error.code]).toEqual([403, 'foreign_host']);
  });

  it('has its key as Bearer and api-key below /v1/ only', async () => {
    for (const headers of [{ authorization: `Bearer ${KEY}` }, { 'api-key': KEY }]) {
      expect((await ask(`${tones.service.url}/v1/models`, { headers })).status).toBe(200);
      expect((await ask(`${tones.service.url}/speakers`, { headers })).status).toBe(401);
    }
    const wrong = await ask(`${tones.service.url}/v1/models`, { headers: { 'api-key': 'wrong' } });
    expect([wrong.status, wrong.json.error.code]).toEqual([401, 'invalid_api_key']);
    const { status, headers: told } = await ask(`${tones.service.url}/v1/models`);
    expect([status, told['www-authenticate']]).toEqual([401, 'Bearer']);
  });
});

it('A service that is busy, and an answer that breaks off, are told as OpenAI tells them.', async () => {
  expect(await failure(speak({ input: 'full' }))).toMatchObject({
    status: 503,
    type: 'server_error',
    code: 'busy',
  });
  await expect(speak({ input: 'good slow broken', response_format: 'wav' })).rejects.toThrow();
});

describe('the built program', () => {
  it('answers with MP3 where no format is named, and is an engine of its own', async () => {
    const box = new Sandbox();
    const { url } = await serve('--no-auth', { box });
    const openAi = new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY, maxRetries: 0 });
    const answer = await openAi.audio.speech.create({ model: 'x', voice: 'slt', input: 'Hello there.' });
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    const mp3 = Buffer.from(await answer.arrayBuffer());
    expect(mp3.readUInt16BE() & 0xffe0).toBe(0xffe0);
    // Home Assistant's integration tries a key like this.
    const tried = await openAi.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: '.' });
    expect(Buffer.from(await tried.arrayBuffer()).readUInt16BE() & 0xffe0).toBe(0xffe0);
    const engine = ['--engine', `${url}/v1`, '-s', 'slt', '-o', 'far.wav'];
    const far = await box.run(['Hello there.', ...engine]);
    expect([far.status, far.stderr]).toEqual([0, '']);
    await box.run(['Hello there.', '-s', '2', '-o', 'near.wav']);
    expect(box.read('far.wav')).toEqual(box.read('near.wav'));
  });
});
