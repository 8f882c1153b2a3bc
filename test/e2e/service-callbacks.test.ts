import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { LogRecord, ServiceOptions } from '../../src/serve/service.ts';
import { listen } from '../support/listen.ts';
import { KEY, startToneService, type ToneService } from '../support/tone-service.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
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
    received.push({ headers: request.headers, body: Buffer.concat(pieces) });
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

  it('is tried five times at most, and redirects are not followed', async () => {
    const { url, origin, received } = await receive(500, 302, 429, 503);
    const { speak } = await start([origin], { limits: { callbackBackoff: 100 } });
    await speak({ ...hello, callback_url: url });
    await expect.poll(outcome).toMatchObject({ delivered: true, tries: 5 });
    expect(received).toHaveLength(5);
    expect(new Set(received.map(({ body }) => body.toString('latin1'))).size).toBe(1);
    await tones?.close();
    const never = await receive(500, 500, 500, 500, 500);
    await (await start([never.origin])).speak({ ...hello, callback_url: never.url });
    await expect.poll(outcome).toMatchObject({ delivered: false, tries: 5, reason: 'status 500' });
    expect(never.received).toHaveLength(5);
  });

  it('gets the error as JSON when there is nothing to hear', async () => {
    const { url, origin, received } = await receive();
    const { speak } = await start([origin]);
    for (const text of ['mute', 'crash', 'good broken'])
      expect((await speak({ ...hello, text, callback_url: url })).status).toBe(202);
    await expect.poll(() => received.length).toBe(3);
    const errors = received.map(({ body }) => JSON.parse(body.toString()).error);
    expect(errors.map(({ code }) => code).sort()).toEqual([
      'engine_failed',
      'internal_error',
      'unsupported_text',
    ]);
    expect(received.every(({ headers }) => headers['content-type'] === 'application/json')).toBe(true);
    expect(JSON.stringify(errors)).not.toMatch(/secret|7f3a/);
    expect(records).toContainEqual(
      expect.objectContaining({ event: 'engine', reason: 'tones: bad key for 7f3a' }),
    );
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

  it('is no URL with spaces, users or the like', async () => {
    const { speak } = await start(['https://app.example.com']);
    for (const callback_url of [
      ' https://app.example.com/',
      'https://app.example.com/\n',
      'https://user:password@app.example.com/',
      'https://@app.example.com/',
      'https://app.example.com@evil.example/',
      'https://evil.example\\@app.example.com/',
      'https:///app.example.com/',
    ]) {
      const { status, json } = await speak({ ...hello, callback_url });
      expect([callback_url, status, json.error.code]).toEqual([callback_url, 422, 'invalid_field']);
    }
  });
});
