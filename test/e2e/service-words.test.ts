import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { ask } from '../support/ask.ts';
import { isThere } from '../support/programs.ts';
import { parseWav, wholePcm } from '../support/read-wav.ts';
import { type Serving, serve } from '../support/serve.ts';
import { startToneService, type ToneService } from '../support/tone-service.ts';
import { turns } from '../support/turns.ts';

interface Captioned {
  readonly audio: string;
  readonly audio_format: string;
  readonly timestamps: readonly { word: string; start_time: number; end_time: number }[] | null;
  readonly source?: string;
  readonly error?: number;
}

const KEY = 'the-key-of-the-service';
const TEXT = 'Hello world, it costs €5. The second sentence is here.';

let own: Serving;
const serveHere = async () => {
  own = await serve();
};

const post = (path: string, body: object, url = own.url, headers: Readonly<Record<string, string>> = {}) =>
  ask(url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
const tts = (query: string, config: object = {}, text = TEXT) =>
  post(`/tts${query}`, { text, speaker_no: 1, config });
const linesOf = (text: string): Captioned[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const soundOf = (parts: readonly Captioned[]) =>
  Buffer.concat(parts.map(({ audio }) => Buffer.from(audio, 'base64')));
const wordsOf = (parts: readonly Captioned[]) => parts.flatMap(({ timestamps }) => timestamps ?? []);

/** The words of a text stand in their order within so many seconds. */
function expectInOrder(words: ReturnType<typeof wordsOf>, seconds: number, text = TEXT): void {
  expect(words.map(({ word }) => word)).toEqual(text.split(' '));
  for (const [at, { start_time: start, end_time: end }] of words.entries()) {
    expect(end).toBeGreaterThanOrEqual(start);
    expect(start).toBeGreaterThanOrEqual(words[at - 1]?.end_time ?? 0);
  }
  expect(words.at(-1)?.end_time).toBeLessThanOrEqual(seconds);
}

const secondsIn = (wav: Buffer) => (wav.length - 44) / 2 / parseWav(wav).sampleRate;

describe("A client of Kokoro-FastAPI's captioned speech", () => {
  const asked = { model: 'kokoro', input: TEXT, voice: 'slt', response_format: 'wav', lang_code: 'a' };

  it('gets one object with the sound and its words, if it wants no stream, and else one for each sentence on a line of its own.', async () => {
    await serveHere();
    const { status, headers, json } = await post('/dev/captioned_speech', { ...asked, stream: false });
    expect([status, headers['content-type'], headers['x-voice']]).toEqual([200, 'application/json', 'slt']);
    expect(json).toMatchObject({ audio_format: 'audio/wav', source: 'exact', error: 0.005 });
    const sound = soundOf([json]);
    expect(sound.readUInt32LE(4)).toBe(sound.length - 8);
    expect(sound.readUInt32LE(40)).toBe(sound.length - 44);
    expectInOrder(wordsOf([json]), secondsIn(sound));
    // The sound is the one of an answer without words.
    const { bytes } = await post('/v1/audio/speech', asked);
    expect(wholePcm(sound)).toEqual(parseWav(bytes).pcm);
    const answer = await fetch(`${own.url}/dev/captioned_speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    });
    expect(answer.headers.get('content-type')).toBe('application/json');
    const lines = linesOf(await answer.text());
    expect(lines.map(({ timestamps }) => timestamps?.length)).toEqual([5, 5]);
    expectInOrder(wordsOf(lines), 99);
    expect(soundOf(lines)).toEqual(bytes);
  });

  it('gets MP3 where it names no format, no words where it wants none, and mistakes in the words of its interface.', async () => {
    await serveHere();
    const { input, voice } = asked;
    const body = { input, voice, return_timestamps: false, stream: false };
    const { json } = await post('/dev/captioned_speech', body);
    expect(json).toEqual({ audio: expect.any(String), audio_format: 'audio/mpeg', timestamps: null });
    const { bytes } = await post('/v1/audio/speech', { input, voice });
    expect(soundOf([json])).toEqual(bytes);
    const wrong = await post('/dev/captioned_speech', { ...asked, stream: 'yes' });
    expect([wrong.status, wrong.json.error]).toMatchObject([
      400,
      { type: 'invalid_request_error', param: 'stream' },
    ]);
    const unread = await post('/dev/captioned_speech', { ...asked, input: 'Это предложение.' });
    expect([unread.status, unread.json.error]).toMatchObject([
      422,
      { code: 'unsupported_text', param: 'input' },
    ]);
  });
});

describe('words=true', () => {
  it('gives words to POST /tts and /v1/audio/speech, at the speed of the sound, and changes nothing where it is false.', async () => {
    await serveHere();
    const plain = await tts('');
    expect((await tts('?words=false')).bytes).toEqual(plain.bytes);
    const { headers, json } = await tts('?words=true');
    expect(headers['content-length']).toBeDefined();
    expect(soundOf([json])).toEqual(plain.bytes);
    expectInOrder(wordsOf([json]), secondsIn(plain.bytes));
    const lines = linesOf((await tts('?words=true', { use_streaming_response: true })).bytes.toString());
    expect(lines.map(({ audio_format, source }) => [audio_format, source])).toEqual(
      Array(2).fill(['audio/wav', 'exact']),
    );
    expect(wordsOf(lines)).toEqual(wordsOf([json]));
    const asked = { input: TEXT, voice: 'slt', response_format: 'wav' };
    const usual = wordsOf([(await post('/v1/audio/speech?words=true', asked)).json]);
    const fast = [(await post('/v1/audio/speech?words=1', { ...asked, speed: 2 })).json];
    expectInOrder(wordsOf(fast), secondsIn(soundOf(fast)));
    for (const [at, { start_time: start }] of wordsOf(fast).entries())
      expect(start).toBeCloseTo((usual[at]?.start_time ?? 0) / 2, 2);
  });

  it('leaves out what the voice cannot read, is true or false, and goes neither with a callback_url nor with events.', async () => {
    await serveHere();
    const { json } = await tts('?words=true', {}, 'Это предложение. Hello again.');
    expect(wordsOf([json]).map(({ word }) => word)).toEqual(['Hello', 'again.']);
    const { status, json: told } = await tts('?words=true', {}, '...');
    expect([status, told.error]).toMatchObject([422, { code: 'unsupported_text', field: 'text' }]);
    const maybe = await tts('?words=maybe');
    expect([maybe.status, maybe.json.error]).toMatchObject([422, { code: 'invalid_field', field: 'words' }]);
    const unclear = await post('/v1/audio/speech?words=maybe', { input: 'x' });
    expect([unclear.status, unclear.json.error]).toMatchObject([
      400,
      { code: 'invalid_value', param: 'words' },
    ]);
    const called = { text: 'x', speaker_no: 1, callback_url: 'http://127.0.0.1/' };
    expect((await post('/tts?words=true', called)).json.error).toMatchObject({ field: 'callback_url' });
    const events = await post('/v1/audio/speech?words=true', { input: 'x', stream_format: 'sse' });
    expect(events.json.error).toMatchObject({ param: 'stream_format' });
  });
});

test.runIf(isThere('espeak-ng'))(
  'Words of a voice of espeak-ng are aligned (skipped without espeak-ng).',
  async () => {
    await serveHere();
    const asked = { input: 'Der kleine Hund läuft.', voice: 'de', response_format: 'wav', stream: false };
    const { json } = await post('/dev/captioned_speech', asked);
    expect(json).toMatchObject({ source: 'aligned', error: 0.03 });
    expectInOrder(wordsOf([json]), secondsIn(soundOf([json])), asked.input);
  },
);

describe('A far service or an engine', () => {
  let tones: ToneService;
  beforeAll(async () => {
    tones = await startToneService({ apiKey: KEY });
  });
  afterAll(() => tones.close());
  const head = { 'x-api-key': KEY };
  const stream = (input: string, more: object = {}, signal?: AbortSignal) =>
    fetch(`${tones.service.url}/dev/captioned_speech`, {
      method: 'POST',
      headers: { ...head, 'content-type': 'application/json' },
      body: JSON.stringify({ input, voice: '1', response_format: 'wav', ...more }),
      signal: signal ?? null,
    });

  it('has words as well, which tell where their times come from.', async () => {
    const relay = await serve(`--no-auth --base-url=${tones.service.url}`, { env: { TTS_API_KEY: KEY } });
    const { json } = await post('/tts?words=true', { text: TEXT, speaker_no: 1 }, relay.url);
    expect(json.source).toMatch(/^(aligned|spread)$/);
    expectInOrder(wordsOf([json]), secondsIn(soundOf([json])));
  });

  it('is asked for nothing more when the client leaves.', async () => {
    const leaving = new AbortController();
    const answer = stream('One stuck', {}, leaving.signal);
    await expect.poll(() => tones.engine.active).toBe(1);
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await expect.poll(() => tones.engine.active).toBe(0);
  });

  it('makes no more sound than the client takes.', async () => {
    const sentence = `${Array.from({ length: 40 }, () => 'x'.repeat(16)).join(' ')}. `;
    const { body } = await stream(`X${sentence.repeat(700)}`, { return_timestamps: false });
    const reader = body?.getReader();
    await reader?.read();
    let made: number;
    do {
      made = tones.engine.made;
      await turns();
    } while (tones.engine.made > made);
    // All of it would be 90 MB; the two sockets take some.
    expect(made).toBeLessThan(30e6);
    await reader?.cancel();
    await expect.poll(() => tones.engine.active).toBe(0);
  });

  it('sends the words of a sentence while the next one is not spoken yet.', async () => {
    const leaving = new AbortController();
    const { body } = await stream('Now then. Here it is stuck for good.', {}, leaving.signal);
    const line = await body?.getReader().read();
    expect(wordsOf([JSON.parse(Buffer.from(line?.value ?? []).toString())])).toHaveLength(2);
    leaving.abort();
  });

  it('that fails in the middle breaks the answer off.', async () => {
    const answer = await stream('One good sentence. Then it is slow and broken');
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow();
  });

  it('that is busy is told before anything was sent.', async () => {
    const asked = { input: 'full', voice: '1', response_format: 'wav' };
    const { status, headers, json } = await post('/dev/captioned_speech', asked, tones.service.url, head);
    expect([status, json.error.code, headers['retry-after']]).toEqual([503, 'busy', expect.any(String)]);
  });
});
