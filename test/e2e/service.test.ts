import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { LogRecord } from '../../src/serve/service.ts';
import { ask } from '../support/ask.ts';
import { isThere } from '../support/programs.ts';
import { FRAMES_PER_CHARACTER, KEY, startToneService, type ToneService } from '../support/tone-service.ts';
import { turns } from '../support/turns.ts';

let tones: ToneService;
beforeAll(async () => {
  tones = await startToneService({ basePath: '/api', maxText: 1000 });
});
afterAll(() => tones.close());

const hello = { text: 'hello', speaker_no: 1 };
const json = 'application/json';
const CHECKER = 'promtool';

/** A service of a test alone, and what it logs. */
async function startLogged() {
  const records: LogRecord[] = [];
  return { records, own: await startToneService({ log: (record) => records.push(record) }) };
}

/** Sends bytes over a bare socket and returns what comes back until the service closes or falls silent. */
async function raw(text: string, asked = tones): Promise<string> {
  const socket = asked.connect();
  socket.end(text);
  let answer = '';
  socket.on('data', (piece) => {
    answer += piece.toString('latin1');
  });
  await once(socket, 'close');
  return answer;
}

describe('a complete answer', () => {
  it('is a WAV with exact sizes, at the rate of the interface, or the one that was asked for, rounded', async () => {
    const { status, headers, bytes } = await tones.speak(hello);
    const data = 5 * FRAMES_PER_CHARACTER * 2;
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'audio/wav', 'content-length': String(44 + data) });
    expect([bytes.length, bytes.readUInt32LE(4), bytes.readUInt32LE(40)]).toEqual([
      44 + data,
      36 + data,
      data,
    ]);
    expect([bytes.readUInt32LE(24), bytes.readInt16LE(44)]).toEqual([22_050, 1]);
    const other = await tones.speak({ ...hello, config: { sample_rate: 16_000.4 } });
    expect(other.bytes.readUInt32LE(24)).toBe(16_000);
  });

  it('is logged with the characters of its text, an emoji as one', async () => {
    const { own, records } = await startLogged();
    await own.speak({ ...hello, text: 'hi 😀' });
    await own.close();
    expect(records).toMatchObject([{ event: 'request', status: 200, characters: 4 }]);
  });

  it('follows the instructions, and says in a header what of them is not understood', async () => {
    const styled = (instructions: string) =>
      tones.speak({ text: 'hello', speaker_no: 11, config: { instructions } });
    const { status, headers } = await styled('fast, with a smile');
    const { fields } = tones.engine.utterances.at(-1) ?? {};
    expect([status, fields?.instructions]).toEqual([200, 'fast, with a smile']);
    expect(decodeURIComponent(String(headers['x-instructions-ignored']))).toContain('smile');
    expect((await styled('slowly')).headers).not.toHaveProperty('x-instructions-ignored');
  });
});

describe('a streamed answer', () => {
  const streamed = { ...hello, text: 'one two three', config: { use_streaming_response: true } };

  it('is chunked, with one header whose sizes say that nobody knows', async () => {
    const { status, headers, bytes } = await tones.speak(streamed);
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'audio/wav', 'transfer-encoding': 'chunked' });
    expect(headers).not.toHaveProperty('content-length');
    expect([bytes.readUInt32LE(4), bytes.readUInt32LE(40)]).toEqual([0xffff_ffff, 0xffff_ffff]);
    expect(bytes.length).toBe(44 + 11 * FRAMES_PER_CHARACTER * 2);
    expect(bytes.subarray(44).includes('RIFF')).toBe(false);
  });

  /** Asks for a text without end, and leaves once this many bytes are there. */
  async function beginning(text: string, bytes: number): Promise<Buffer> {
    const stop = new AbortController();
    const { request } = await import('undici');
    const { statusCode, body } = await request(`${tones.service.url}/tts`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'content-type': json },
      body: JSON.stringify({ ...streamed, text }),
      signal: stop.signal,
    });
    expect(statusCode).toBe(200);
    let come = Buffer.alloc(0);
    body
      .on('error', () => {})
      .on('data', (piece: Buffer) => {
        come = Buffer.concat([come, piece]);
      });
    await expect.poll(() => come.length).toBe(bytes);
    expect(tones.engine.active).toBe(1);
    stop.abort();
    await expect.poll(() => tones.engine.active).toBe(0);
    return come;
  }

  it('sends the first samples while the engine still speaks', async () => {
    await beginning('now stuck', 44 + 3 * FRAMES_PER_CHARACTER * 2);
  });

  it('sends the header before there is any sound', async () => {
    const header = await beginning('stuck', 44);
    expect(header.subarray(0, 4).toString()).toBe('RIFF');
  });

  it('makes no more than the client takes', async () => {
    const big = await startToneService();
    const text = Array.from({ length: 28_000 }, () => 'x'.repeat(16)).join(' ');
    const body = JSON.stringify({ text, speaker_no: 1, config: { use_streaming_response: true } });
    const socket = big.connect();
    socket.write(
      `POST /tts HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${KEY}\r\nContent-Type: ${json}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await once(socket, 'readable');
    let made: number;
    do {
      made = big.engine.made;
      await turns();
    } while (big.engine.made > made);
    expect(big.engine.active).toBe(1);
    // All of it would be 90 MB; the two sockets take some.
    expect(made).toBeLessThan(30e6);
    socket.destroy();
    await expect.poll(() => big.engine.active).toBe(0);
    await big.close();
  });

  it('refuses with a status what the engine refuses, since nothing was sent yet', async () => {
    const full = await tones.speak({ ...streamed, text: 'full' });
    expect([full.status, full.headers['retry-after'], full.json.error.code]).toEqual([503, '3', 'busy']);
    for (const text of ['mute', '沈黙']) {
      const { status, json: refusal } = await tones.speak({ ...streamed, text });
      expect([status, refusal.error.field]).toEqual([422, 'text']);
    }
  });

  it('breaks off, and never ends as if it were whole, when the engine fails in the middle; the log says why', async () => {
    const { own, records } = await startLogged();
    await expect(own.speak({ ...streamed, text: 'good slow broken' })).rejects.toThrow();
    await own.close();
    expect(records).toMatchObject([
      { event: 'engine', reason: 'tones: bad key for 7f3a' },
      { event: 'request', status: 200, cut: true, refusal: 'engine_failed' },
    ]);
  });
});

describe('a request that is refused', () => {
  const mermish = { text: 'a', speaker_no: 11 };
  const withConfig = (config: unknown) => ({ ...hello, config });
  it.each<[number, string, string | undefined, unknown]>([
    [400, 'invalid_json', undefined, '{"text":'],
    [400, 'invalid_utf8', undefined, Buffer.from('{"text":"\xff"}', 'latin1')],
    [422, 'invalid_field', undefined, []],
    [422, 'missing_field', 'text', { speaker_no: 1 }],
    [422, 'missing_field', 'speaker_no', { text: 'hello' }],
    [422, 'invalid_field', 'text', { ...hello, text: 1 }],
    [422, 'invalid_field', 'text', { ...hello, text: ' \n\u3000' }],
    [422, 'invalid_field', 'speaker_no', { ...hello, speaker_no: '3' }],
    [422, 'invalid_field', 'speaker_no', { ...hello, speaker_no: 1.5 }],
    [422, 'unknown_speaker', 'speaker_no', { ...hello, speaker_no: 99 }],
    [422, 'unknown_field', 'voice', { ...hello, voice: 'x' }],
    [422, 'unknown_field', '__proto__', '{"text":"a","speaker_no":1,"__proto__":{}}'],
    [422, 'unknown_field', 'config.speed', withConfig({ speed: 1 })],
    [422, 'invalid_field', 'config', withConfig(null)],
    [422, 'invalid_field', 'config.sample_rate', withConfig({ sample_rate: 7999 })],
    [422, 'invalid_field', 'config.use_streaming_response', withConfig({ use_streaming_response: 'yes' })],
    [422, 'invalid_field', 'callback_url', { ...hello, callback_url: 'mailto:a@b.c' }],
    [403, 'callback_not_allowed', 'callback_url', { ...hello, callback_url: 'https://app.example.com/x' }],
    [413, 'text_too_long', 'text', { ...hello, text: '😀'.repeat(1001) }],
    [422, 'unsupported_option', 'config.sample_rate', { ...mermish, config: { sample_rate: 16_000 } }],
    [422, 'unsupported_option', 'config.instructions', withConfig({ instructions: 'slowly' })],
  ])('gets %i %s for %s: %j', async (status, code, field, body) => {
    const reply = await tones.speak(body);
    expect([reply.status, reply.headers['content-type'], Object.keys(reply.json)]).toEqual([
      status,
      json,
      ['error'],
    ]);
    expect(reply.json.error).toMatchObject({ code, message: expect.stringMatching(/^[^\n]+[^.\n]$/) });
    expect(reply.json.error.field).toBe(field);
  });

  it('for its length is one of more characters than the limit, an emoji as one', async () => {
    expect((await tones.speak({ ...hello, text: '😀'.repeat(1000) })).status).toBe(200);
  });

  it('is told nothing about a defect, nor the words of an engine', async () => {
    const crash = await tones.speak({ ...hello, text: 'crash' });
    expect([crash.status, JSON.stringify(crash.json)]).toEqual([
      500,
      expect.not.stringMatching(/secret|stack|\.ts/),
    ]);
    const { status, json: refusal } = await tones.speak({ ...hello, text: 'broken' });
    const message = 'The voice failed; the log of the service says why';
    expect([status, refusal.error]).toEqual([502, { code: 'engine_failed', message }]);
  });

  it.each([
    [415, { 'content-type': 'text/plain' }],
    [415, { 'content-encoding': 'gzip' }],
    [401, { 'x-api-key': 'wrong' }],
    [401, { 'x-api-key': `${KEY} x` }],
    [200, { 'content-type': 'Application/JSON; charset="UTF-8"' }],
  ])('gets %i for the headers %j', async (status, headers) => {
    expect((await tones.speak(hello, { headers })).status).toBe(status);
  });

  it('gets 415 without a Content-Type and 401 without a key, and 3.0 is an integer', async () => {
    const url = `${tones.service.url}/tts`;
    const body = JSON.stringify(hello);
    expect((await ask(url, { method: 'POST', headers: { 'X-Api-Key': KEY }, body })).status).toBe(415);
    const keyless = await ask(url, { method: 'POST', headers: { 'content-type': json }, body });
    expect([keyless.status, keyless.json.error.code]).toEqual([401, 'missing_api_key']);
    expect((await tones.speak('{"text":"a","speaker_no":3.0}')).status).toBe(200);
  });

  it('gets 413 for a body of more than 1 MiB, announced or not, and sees the answer', async () => {
    const text = 'x'.repeat(1024 * 1024);
    const announced = await tones.speak({ text, speaker_no: 1 });
    expect([announced.status, announced.json.error.code]).toEqual([413, 'body_too_large']);
    const body = JSON.stringify({ text: 'x'.repeat(3 * 1024 * 1024), speaker_no: 1 });
    const answer = await raw(
      `POST /api/tts HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${KEY}\r\nContent-Type: ${json}\r\nTransfer-Encoding: chunked\r\n\r\n` +
        `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 .*"body_too_large"/s);
  });
});

describe('the paths', () => {
  it('are known to nobody but those below the base path, and say which methods they allow', async () => {
    const { url } = tones.service;
    for (const path of [`${new URL(url).origin}/tts`, `${url}/tts/`, url, `${url}/__proto__`])
      expect((await ask(path, { method: 'POST' })).status, path).toBe(404);
    for (const method of ['GET', 'PUT', 'DELETE', 'HEAD'] as const) {
      const { status, headers } = await ask(`${url}/tts?x=1`, { method });
      expect([status, headers.allow]).toEqual([405, 'POST, OPTIONS']);
    }
    const options = await ask(`${url}/speakers`, { method: 'OPTIONS' });
    expect([options.status, options.headers.allow]).toEqual([204, 'GET, HEAD, OPTIONS']);
  });

  it('list the speakers to who has the key', async () => {
    const url = `${tones.service.url}/speakers`;
    expect((await ask(url)).status).toBe(401);
    const { json: list } = await ask(url, { headers: { 'x-api-key': KEY } });
    expect(list.speakers).toHaveLength(10);
    expect(list.speakers[0]).toEqual({
      speaker_no: 1,
      name: 'tone-1',
      kind: 'neo.one',
      language: 'en-US',
      sample_rate: 16_000,
    });
  });

  it('tell the health to everybody, with and without the base path', async () => {
    const { origin } = new URL(tones.service.url);
    const health = { status: 'ok', workers: 2, queued: 0, requests: 0, callbacks: 0 };
    for (const url of [`${origin}/healthz`, `${tones.service.url}/healthz`]) {
      expect((await ask(url)).json).toEqual(health);
    }
    const head = await ask(`${origin}/healthz`, { method: 'HEAD' });
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
  });

  it('describe themselves', async () => {
    const { json: description } = await ask(`${tones.service.url}/openapi.json`);
    expect(description).toMatchObject({ openapi: '3.1.0', servers: [{ url: '/api' }] });
    const openAi = ['/v1/audio/speech', '/dev/captioned_speech', '/v1/audio/voices', '/v1/models'];
    const paths = ['/tts', '/speakers', '/healthz', '/metrics', '/openapi.json', ...openAi];
    expect(Object.keys(description.paths)).toEqual(paths);
  });
});

const post = (body: string, headers = '') =>
  `POST /api/tts HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${KEY}\r\nContent-Type: ${json}\r\n${headers}` +
  `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

describe('a connection', () => {
  it('is told to go on when it asks whether to send a body, and is refused before it sends it', async () => {
    const head = (key: string) =>
      `${post('', 'Expect: 100-continue\r\n').replace(KEY, key).replace('Length: 0', 'Length: 31')}`;
    const socket = tones.connect();
    socket.write(head(KEY));
    const [go] = (await once(socket, 'data')) as [Buffer];
    expect(go.toString()).toMatch(/^HTTP\/1\.1 100 /);
    socket.write('{"text":"hello","speaker_no":1}');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
    const refused = tones.connect();
    refused.write(head('wrong'));
    const [no] = (await once(refused, 'data')) as [Buffer];
    expect(no.toString()).toMatch(/^HTTP\/1\.1 401 /);
    await once(refused.resume(), 'close');
  });

  it('is closed at a request that comes before its last one is answered', async () => {
    const socket = tones.connect().on('error', () => {});
    socket.write(post(JSON.stringify({ ...hello, text: 'stuck' })) + post(JSON.stringify(hello)));
    await once(socket.resume(), 'close');
    await expect.poll(() => tones.engine.active).toBe(0);
  });
});

describe('closing', () => {
  it('lets a request finish, takes no more, and drops who only sits there', async () => {
    const own = await startToneService();
    const idle = own.connect();
    await once(idle, 'connect');
    const answer = own.speak({ text: 'slow slow slow slow', speaker_no: 1 });
    await expect.poll(() => own.engine.active).toBe(1);
    const closed = own.service.close(10_000);
    await once(idle.resume(), 'close');
    await expect(own.speak(hello)).rejects.toThrow();
    expect((await answer).status).toBe(200);
    await closed;
  });

  it('ends what takes longer than the grace', async () => {
    const own = await startToneService();
    const answer = own.speak({ text: 'slow '.repeat(2000), speaker_no: 1 });
    answer.catch(() => {});
    await expect.poll(() => own.engine.active).toBe(1);
    await own.service.close(100);
    await expect(answer).rejects.toThrow();
    await expect.poll(() => own.engine.active).toBe(0);
  });
});

describe('a service without a key', () => {
  it('answers to loopback names only, whatever a name server says', async () => {
    const own = await startToneService({ apiKey: null });
    onTestFinished(() => own.close());
    const statusFor = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const { port } = new URL(own.service.url);
        request({ port, path: '/speakers', headers: { Host: host } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end();
      });
    for (const host of ['localhost', 'localhost:8787', '127.0.0.1:80', '[::1]:1'])
      expect([host, await statusFor(host)]).toEqual([host, 200]);
    for (const host of ['evil.example', 'localhost.evil.example', '192.168.1.7'])
      expect([host, await statusFor(host)]).toEqual([host, 403]);
  });
});

describe('GET /metrics', () => {
  const metricsOf = async ({ service }: ToneService) =>
    (await ask(`${service.url}/metrics`)).bytes.toString();

  it('counts requests, sound and the time to the first byte, and has the form of Prometheus', async () => {
    const own = await startToneService({ basePath: '/own' });
    onTestFinished(() => own.close());
    own.engine.queued = 7;
    await own.speak(hello);
    await own.speak({ ...hello, config: { use_streaming_response: true } });
    await own.speak({ text: '' });
    await own.speak({ ...hello, text: 'stuck' }, { signal: AbortSignal.timeout(200) }).catch(() => {});
    await ask(`${own.service.url}/speakers`);
    await ask(`${own.service.url}/a?b=c`, { headers: { 'x-api-key': KEY } });
    // A request is counted when its connection is done with it, which is shortly after its answer.
    await expect.poll(() => metricsOf(own)).toContain('tts_requests_total{path="other",status="404"} 1\n');
    const text = await metricsOf(own);
    for (const line of [
      'tts_requests_total{path="/tts",status="200"} 2',
      'tts_requests_total{path="/tts",status="422"} 1',
      'tts_requests_total{path="/tts",status="none"} 1',
      'tts_requests_total{path="/speakers",status="401"} 1',
      'tts_queue_length 7',
      'tts_first_byte_seconds_bucket{le="60"} 2',
      'tts_first_byte_seconds_bucket{le="+Inf"} 2',
      'tts_first_byte_seconds_count 2',
    ])
      expect(text).toContain(`${line}\n`);
    const seconds = (2 * 5 * FRAMES_PER_CHARACTER) / 22_050;
    expect(Number(/^tts_audio_seconds_total (\S+)$/m.exec(text)?.[1])).toBeCloseTo(seconds, 9);
    expect(text).toMatch(
      /^(# HELP [a-z_]+ .+\n# TYPE [a-z_]+ (counter|gauge|histogram)\n([a-z_]+(\{.*\})? [\d.e-]+\n)+)+$/,
    );
    if (isThere(CHECKER))
      expect(execFileSync(CHECKER, ['check', 'metrics'], { input: text, encoding: 'utf8' })).toBe('');
  });

  it('is open as /healthz is, also next to the base path, and to GET and HEAD only', async () => {
    const { origin } = new URL(tones.service.url);
    for (const url of [`${origin}/metrics`, `${tones.service.url}/metrics`]) {
      const { status, headers } = await ask(url);
      expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    }
    expect(await ask(`${origin}/metrics`, { method: 'HEAD' })).toMatchObject({ status: 200 });
    expect(await ask(`${origin}/metrics`, { method: 'POST' })).toMatchObject({ status: 405 });
  });
});

describe('--cors', () => {
  const APP = 'https://app.example.com';
  const startFor = async (cors?: string) => {
    const own = await startToneService({ basePath: '/api', cors });
    onTestFinished(() => own.close());
    return own;
  };
  const allowed = ({ headers }: { readonly headers: object }) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));

  it('answers what a browser asks before it uses a path, without a key', async () => {
    const { service } = await startFor(APP);
    for (const path of ['/tts', '/v1/audio/speech']) {
      const asked = await ask(service.url + path, { method: 'OPTIONS', headers: { origin: APP } });
      expect([asked.status, allowed(asked)]).toEqual([
        204,
        {
          'access-control-allow-origin': APP,
          'access-control-allow-methods': 'GET, POST',
          // OpenAI's libraries send headers of their own.
          'access-control-allow-headers': 'Authorization, *',
          'access-control-max-age': '600',
        },
      ]);
    }
  });

  it('shows answers to pages of its origin, refusals too', async () => {
    const { service, speak } = await startFor(APP);
    const headers = {
      'access-control-allow-origin': APP,
      'access-control-expose-headers': '*',
    };
    const unknown = await ask(`${service.url}/speakers`);
    expect([unknown.status, allowed(unknown)]).toEqual([401, headers]);
    const whole = await speak(hello);
    expect([whole.status, allowed(whole)]).toEqual([200, headers]);
  });

  it('leaves all other paths to programs, and is off by itself', async () => {
    const { service } = await startFor('*');
    for (const path of ['/healthz', '/openapi.json', '/nothing', '/'])
      expect(allowed(await ask(service.url + path, { headers: { accept: 'text/html' } }))).toEqual({});
    expect(allowed(await ask(`${tones.service.url}/tts`, { method: 'OPTIONS' }))).toEqual({});
  });
});
