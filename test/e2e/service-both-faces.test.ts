import { afterEach, expect, it } from 'vitest';
import { parseFault } from '../../src/serve/faults.ts';
import type { ServiceOptions } from '../../src/serve/service.ts';
import { ask } from '../support/ask.ts';
import { KEY, startToneService, type ToneService } from '../support/tone-service.ts';

// What holds for POST /tts holds for OpenAI's interface.

const APP = 'https://app.example.com';

let tones: ToneService;
afterEach(() => tones.close());

const start = async (options: Partial<ServiceOptions> = {}) => {
  tones = await startToneService(options);
};

const at = (path: string) => tones.service.url + path;

const speak = (input: string, more: object = {}) =>
  ask(at('/v1/audio/speech'), {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: { input, voice: '1', response_format: 'wav', ...more },
  });

it('Its requests are counted by their paths, also below a base path, with their sound and its first byte.', async () => {
  await start({ basePath: '/api', metrics: true });
  await speak('one');
  await speak(' ');
  await ask(at('/v1/models'));
  await ask(at('/v1/audio/voices'), { headers: { authorization: `Bearer ${KEY}` } });
  const text = async () => (await ask(at('/metrics'))).bytes.toString();
  await expect.poll(text).toContain('tts_requests_total{path="/v1/audio/voices",status="200"} 1\n');
  const counted = await text();
  for (const line of [
    'tts_requests_total{path="/v1/audio/speech",status="200"} 1',
    'tts_requests_total{path="/v1/audio/speech",status="400"} 1',
    'tts_requests_total{path="/v1/models",status="401"} 1',
    'tts_first_byte_seconds_count 1',
  ])
    expect(counted).toContain(`${line}\n`);
  expect(Number(/^tts_audio_seconds_total (\S+)$/m.exec(counted)?.[1])).toBeCloseTo(300 / 22_050, 9);
});

it.each(['/v1/audio/speech', '/v1/audio/voices', '/v1/models'])(
  'Pages of another origin may use %s.',
  async (path) => {
    await start({ cors: APP });
    const asked = await ask(at(path), {
      method: 'OPTIONS',
      headers: { origin: APP, 'access-control-request-headers': 'authorization,content-type,x-stainless-os' },
    });
    expect([asked.status, asked.headers]).toMatchObject([
      204,
      { 'access-control-allow-origin': APP, 'access-control-allow-headers': 'Authorization, *' },
    ]);
    const refused = await ask(at(path), {
      method: path.endsWith('speech') ? 'POST' : 'GET',
      headers: { origin: APP },
    });
    expect([refused.status, refused.headers]).toMatchObject([
      401,
      {
        'access-control-allow-origin': APP,
        'access-control-expose-headers': 'Retry-After, X-Instructions-Ignored, X-Request-Id, X-Voice',
      },
    ]);
  },
);

it('Faults meet its requests, and GET /requests lists them.', async () => {
  await start({ faults: ['status=429,times=1,retry-after=7', 'drop-after=100,match=cut'].map(parseFault) });
  const busy = await speak('one');
  expect([busy.status, busy.headers['retry-after'], busy.json.error.type]).toEqual([
    429,
    '7',
    'rate_limit_error',
  ]);
  await expect(speak('cut here')).rejects.toThrow();
  expect((await speak('one')).status).toBe(200);
  const { json } = await ask(at('/requests'), { headers: { 'x-api-key': KEY } });
  expect(json.requests).toMatchObject([
    { path: '/v1/audio/speech', status: 429, speaker: 1, characters: 3 },
    { path: '/v1/audio/speech', status: 200, characters: 8 },
    { path: '/v1/audio/speech', status: 200 },
  ]);
});

it('A service that stops lets its requests end, and refuses new ones in its form.', async () => {
  await start();
  const body = JSON.stringify({ input: 'slow slow slow slow slow slow', response_format: 'wav' });
  const socket = tones.connect();
  socket.write(
    `POST /v1/audio/speech HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await expect.poll(() => tones.engine.active).toBe(1);
  const closed = tones.service.close(10_000);
  socket.write('GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n');
  let answers = '';
  for await (const piece of socket) answers += piece.toString('latin1');
  await closed;
  expect(answers).toMatch(
    /^HTTP\/1\.1 200 .*\r\n0\r\n\r\nHTTP\/1\.1 503 .*"type":"server_error".*"shutting_down"/s,
  );
});

it('Its text may be as long as that of POST /tts.', async () => {
  await start({ maxText: 5 });
  expect((await speak('12345')).status).toBe(200);
  expect((await speak('123456')).json.error).toMatchObject({ param: 'input', code: 'string_too_long' });
});
