import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { LogRecord, ServiceOptions } from '../../src/serve/service.ts';
import { listen } from '../support/listen.ts';
import { KEY, startToneService, type ToneService } from '../support/tone-service.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly time: number;
}

let tones: ToneService | undefined;
afterEach(() => tones?.close());

/** Receives callbacks; answers with these statuses, one after the other, and then with 204. */
async function receive(
  ...statuses: number[]
): Promise<{ url: string; origin: string; received: Received[] }> {
  const received: Received[] = [];
  const receiver = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    received.push({ headers: request.headers, body: Buffer.concat(pieces), time: performance.now() });
    response.writeHead(statuses.shift() ?? 204, { Location: '/elsewhere' }).end();
  });
  const origin = `http://127.0.0.1:${await listen(receiver)}`;
  return { url: `${origin}/hook?job=7`, origin, received };
}

const records: LogRecord[] = [];

async function start(callbacks: string[], options: Partial<ServiceOptions> = {}): Promise<ToneService> {
  records.length = 0;
  tones = await startToneService({
    callbacks,
    log: (record) => records.push(record),
    ...options,
    limits: { callbackBackoff: 20, ...options.limits },
  });
  return tones;
}

const hello = { text: 'hello', speaker_no: 4 };
const outcome = () => records.find(({ event }) => event === 'callback');

describe('a callback to a listed origin', () => {
  it('is accepted, and gets the WAV with the id of the request and a signature', async () => {
    const { url, origin, received } = await receive();
    const { speak } = await start([origin]);
    const { status, json } = await speak({ ...hello, callback_url: url });
    expect([status, Object.keys(json), json.status]).toEqual([202, ['request_id', 'status'], 'accepted']);
    await expect.poll(() => received.length).toBe(1);
    const [{ headers, body }] = received as [Received];
    expect(headers).toMatchObject({
      'content-type': 'audio/wav',
      'content-length': '1044',
      'x-request-id': json.request_id,
      'x-signature': createHmac('sha256', KEY).update(body).digest('hex'),
    });
    expect([body.readUInt32LE(40), body.readInt16LE(44)]).toEqual([1000, 4]);
    await expect.poll(outcome).toMatchObject({ delivered: true, tries: 1, origin });
  });

  it('is told at once what of the instructions was not understood', async () => {
    const { url, origin } = await receive();
    const { speak } = await start([origin]);
    const config = { instructions: 'slowly, with a smile' };
    const { status, headers, json } = await speak({ ...hello, speaker_no: 11, config, callback_url: url });
    expect([status, headers['x-request-id']]).toEqual([202, json.request_id]);
    expect(decodeURIComponent(String(headers['x-instructions-ignored']))).toContain('smile');
  });

  it('is tried five times at most, with longer and longer waits, and redirects are not followed', async () => {
    const { url, origin, received } = await receive(500, 302, 429, 503);
    const { speak } = await start([origin], { limits: { callbackBackoff: 100 } });
    await speak({ ...hello, callback_url: url });
    await expect.poll(() => received.length).toBe(5);
    await expect.poll(outcome).toMatchObject({ delivered: true, tries: 5 });
    const [first, second, , fourth, fifth] = received.map(({ time }) => time) as [number, ...number[]];
    expect((fifth ?? 0) - (fourth ?? 0)).toBeGreaterThan((second ?? 0) - first);
    expect(new Set(received.map(({ body }) => body.toString('latin1'))).size).toBe(1);
  });

  it('is given up after the fifth failure', async () => {
    const { url, origin, received } = await receive(500, 500, 500, 500, 500);
    const { speak } = await start([origin]);
    await speak({ ...hello, callback_url: url });
    await expect.poll(outcome).toMatchObject({ delivered: false, tries: 5, reason: 'status 500' });
    expect(received.length).toBe(5);
  });

  it('gets the error as JSON when there is nothing to hear', async () => {
    const { url, origin, received } = await receive();
    const { speak } = await start([origin]);
    for (const text of ['mute', 'crash']) {
      expect((await speak({ ...hello, text, callback_url: url })).status).toBe(202);
    }
    await expect.poll(() => received.length).toBe(2);
    const bodies = received.map(({ headers, body }) => [
      headers['content-type'],
      JSON.parse(body.toString()).error.code,
    ]);
    expect(bodies.sort()).toEqual([
      ['application/json', 'internal_error'],
      ['application/json', 'unsupported_text'],
    ]);
    expect(received.every(({ body }) => !body.includes('secret'))).toBe(true);
  });

  it('gets no words of an engine that failed, and the log has them', async () => {
    const { url, origin, received } = await receive();
    const { speak } = await start([origin]);
    const { json } = await speak({ ...hello, text: 'good broken', callback_url: url });
    await expect.poll(() => received.length).toBe(1);
    expect(JSON.parse(String(received[0]?.body)).error).toEqual({
      code: 'engine_failed',
      message: 'The voice failed; the log of the service says why',
    });
    const id = json.request_id;
    expect(records).toContainEqual({ event: 'engine', id, reason: 'tones: bad key for 7f3a' });
  });

  it('is not signed by a service without a key', async () => {
    const { url, origin, received } = await receive();
    const { speak } = await start([origin], { apiKey: null });
    await speak({ ...hello, callback_url: url });
    await expect.poll(() => received.length).toBe(1);
    expect(received[0]?.headers).not.toHaveProperty('x-signature');
  });

  it('waits for no more than the given number at once', async () => {
    const { url, origin } = await receive();
    const { speak } = await start([origin], { limits: { callbacks: 1 } });
    const slow = { ...hello, text: 'slow slow slow slow', callback_url: url };
    expect((await speak(slow)).status).toBe(202);
    const { status, headers, json } = await speak(slow);
    expect([status, headers['retry-after'], json.error.code]).toEqual([503, '5', 'too_many_callbacks']);
  });

  it('is finished by a service that closes, within the grace', async () => {
    const { url, origin, received } = await receive(500);
    const { speak, service } = await start([origin]);
    await speak({ ...hello, text: 'slow slow', callback_url: url });
    await service.close(5000);
    expect(received.length).toBe(2);
    expect(outcome()).toMatchObject({ delivered: true });
  });

  it('is finished by a service that closes before it is accepted, within the grace', async () => {
    const { url, origin, received } = await receive();
    const { announce, service } = await start([origin]);
    const send = await announce({ ...hello, text: 'slow slow', callback_url: url });
    const closed = service.close(20_000);
    expect(await send()).toMatch(/^HTTP\/1\.1 202 /);
    await closed;
    expect([received.length, outcome()]).toEqual([1, expect.objectContaining({ delivered: true })]);
  });

  it('is dropped by a service whose grace is over', async () => {
    const { url, origin, received } = await receive();
    const { speak, service, engine } = await start([origin]);
    await speak({ ...hello, text: 'slow '.repeat(1000), callback_url: url });
    await expect.poll(() => engine.active).toBe(1);
    await service.close(50);
    await expect.poll(() => engine.active).toBe(0);
    expect(received.length).toBe(0);
  });
});

describe('a callback elsewhere', () => {
  it('is no callback when it is empty, or goes to where the request came to or from', async () => {
    const { speak, service } = await start(['https://app.example.com']);
    const own = new URL('/anything', service.url).href;
    const page = { headers: { origin: 'https://page.example.com' } };
    for (const [callback_url, question] of [
      ['', {}],
      [own, {}],
      ['https://page.example.com/x', page],
    ] as const) {
      const { status, headers } = await speak({ ...hello, callback_url }, question);
      expect([status, headers['content-type']]).toEqual([200, 'audio/wav']);
    }
  });

  it('is refused when its origin was not listed, by port, scheme or name', async () => {
    const { speak, service } = await start(['https://app.example.com']);
    for (const callback_url of [
      'http://app.example.com/',
      'https://app.example.com:8443/',
      'https://app.example.com.evil.example/',
      'http://127.0.0.1:9/',
      new URL('/', service.url).href.replace('http:', 'https:'),
      new URL('/', service.url).href.replace(/:\d+/, ''),
    ]) {
      const { status, json } = await speak({ ...hello, callback_url });
      expect([status, json.error.code, json.error.field]).toEqual([
        403,
        'callback_not_allowed',
        'callback_url',
      ]);
    }
  });

  it.each([
    ' https://app.example.com/',
    'https://app.example.com/ ',
    'https://app.example.com/\n',
    'https://app.example.com/a b',
    'https://user:password@app.example.com/',
    'https://user@app.example.com/',
    'https://@app.example.com/',
    'https://app.example.com@evil.example/',
    'https://evil.example\\@app.example.com/',
    'https:///app.example.com/',
  ])('is no URL with spaces, users or the like: %j', async (callback_url) => {
    const { speak } = await start(['https://app.example.com']);
    const { status, json } = await speak({ ...hello, callback_url });
    expect([status, json.error.code, json.error.field]).toEqual([422, 'invalid_field', 'callback_url']);
  });

  it('may have an @ after its host', async () => {
    const { speak } = await start(['https://app.example.com']);
    for (const behind of ['/@me', '?to=a@b', ':9/@', '#@']) {
      const { status } = await speak({ ...hello, callback_url: `https://example.com${behind}` });
      expect([behind, status]).toEqual([behind, 403]);
    }
  });

  it('cannot be listed in a way that is no origin', async () => {
    const list = ['app.example.com', 'https://app.example.com/path', 'ftp://a.b', 'https://u:p@a.b'];
    for (const bad of [...list, 'https://*.example.com', '*']) {
      await expect(start([bad])).rejects.toMatchObject({
        exitCode: 2,
        message: `bad value for --callbacks: ${bad}`,
        hint: expect.stringMatching(bad.includes('*') ? /^there are no patterns/ : /^give an origin/),
      });
    }
  });
});
