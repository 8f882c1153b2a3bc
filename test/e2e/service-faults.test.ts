import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { parseFault } from '../../src/serve/faults.ts';
import { ask } from '../support/ask.ts';
import { KEY, startToneService, type ToneService } from '../support/tone-service.ts';

let tones: ToneService;
afterEach(() => tones.close());

const start = async (...specs: string[]) => {
  tones = await startToneService({ faults: specs.map(parseFault) });
};
const words = 'one two three four';
const pcmBytes = 15 * 200;
const complete = { text: words, speaker_no: 2 };
const streamed = { ...complete, config: { use_streaming_response: true } };

interface Raw {
  readonly head: string;
  readonly body: Buffer;
  /** The code of the error that ended the connection; empty for an orderly end. */
  readonly error: string;
}

/** Everything that comes over a bare socket for one request, head and body apart. */
async function rawSpeak(body: object): Promise<Raw> {
  const json = JSON.stringify(body);
  const socket = tones.connect();
  socket.write(
    `POST /tts HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${KEY}\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
  );
  const pieces: Buffer[] = [];
  let error = '';
  socket
    .on('data', (piece) => pieces.push(piece))
    .on('error', ({ code = '' }: NodeJS.ErrnoException) => {
      error = code;
    });
  await new Promise((resolve) => socket.once('close', resolve));
  const all = Buffer.concat(pieces);
  const end = all.indexOf('\r\n\r\n');
  return { head: all.subarray(0, Math.max(0, end)).toString(), body: all.subarray(end + 4), error };
}

/** The sizes of the chunks of a body, which are the writes of its sender. */
function chunkSizes(body: Buffer): number[] {
  const sizes: number[] = [];
  for (let at = 0; at < body.length; ) {
    const end = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.toString('latin1', at, end), 16);
    sizes.push(size);
    at = end + 2 + size + 2;
  }
  return sizes;
}

describe('a fault', () => {
  it('answers with a status the given number of times, and then no more', async () => {
    await start('status=429,times=2,retry-after=7');
    for (const _ of [1, 2]) {
      const { status, headers, json } = await tones.speak(complete);
      expect([status, headers['retry-after'], json.error.code]).toEqual([429, '7', 'fault']);
    }
    expect((await tones.speak(complete)).status).toBe(200);
  });

  it('meets only the texts that it names', async () => {
    await start('status=500,match=two', 'status=404,match=seven');
    expect((await tones.speak(complete)).status).toBe(500);
    expect((await tones.speak({ ...complete, text: 'seven' })).status).toBe(404);
    expect((await tones.speak({ ...complete, text: 'eight' })).status).toBe(200);
  });

  it('meets none or all at the ends of the rate', async () => {
    await start('status=500,rate=0');
    expect((await tones.speak(complete)).status).toBe(200);
    await tones.close();
    await start('status=500,rate=1');
    expect((await tones.speak(complete)).status).toBe(500);
  });

  it('does not hide what a request does wrong', async () => {
    await start('status=500');
    expect((await tones.speak({ text: 'x' })).status).toBe(422);
  });

  it('delays an answer', async () => {
    await start('delay=300ms');
    const begin = performance.now();
    expect((await tones.speak(complete)).status).toBe(200);
    expect(performance.now() - begin).toBeGreaterThan(290);
  });

  it('hangs until the client or the service has had enough', async () => {
    await start('hang');
    const impatient = tones.speak(complete, { signal: AbortSignal.timeout(200) });
    await expect(impatient).rejects.toThrow();
    const hung = tones.speak(complete);
    hung.catch(() => {});
    await expect.poll(tones.health).toMatchObject({ requests: 1 });
    await tones.service.close(20_000);
    await expect(hung).rejects.toThrow();
  });

  it('hangs no longer than the service, for a request whose body comes late either', async () => {
    await start('hang');
    const send = await tones.announce(complete);
    const closed = tones.service.close(60_000);
    expect(await send()).toBe('');
    await closed;
  });

  it('drops the connection after the given number of bytes, complete or streamed', async () => {
    await start('drop-after=1k');
    const whole = await rawSpeak(complete);
    expect(whole.head).toContain(`Content-Length: ${44 + pcmBytes}`);
    expect(whole.body.length).toBe(1024);
    const { body } = await rawSpeak(streamed);
    expect(body.toString('latin1').endsWith('0\r\n\r\n')).toBe(false);
    expect(body.length).toBeGreaterThanOrEqual(1024);
    expect(body.length).toBeLessThan(1100);
    await expect.poll(() => tones.engine.active).toBe(0);
    await expect(tones.speak(complete)).rejects.toThrow();
  });

  it.each([
    ['close', ''],
    ['reset', 'ECONNRESET'],
  ])('ends the connection by %s, after a number of bytes or in place of an answer', async (word, error) => {
    await start(`drop-after=1k,times=2,${word}`, `${word},match=one`);
    const dropped = await rawSpeak({ ...complete, text: 'ten eleven twelve' });
    expect([dropped.body.length, dropped.error]).toEqual([1024, error]);
    expect((await rawSpeak({ ...streamed, text: 'ten eleven twelve' })).error).toBe(error);
    expect(await rawSpeak(complete)).toEqual({ head: '', body: Buffer.alloc(0), error });
    expect((await tones.speak({ ...complete, text: 'ten' })).status).toBe(200);
    await expect.poll(() => tones.engine.active).toBe(0);
  });

  it('sends a body in small writes, and the same bytes', async () => {
    await start('slice=100');
    const { body } = await rawSpeak(streamed);
    const sizes = chunkSizes(body);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(44 + pcmBytes);
    expect(Math.max(...sizes)).toBe(100);
    await tones.close();
    await start('slice=7,bandwidth=1m');
    const { bytes } = await tones.speak(complete);
    await tones.close();
    await start();
    expect(bytes.equals((await tones.speak(complete)).bytes)).toBe(true);
  });

  it('sends at most the given number of bytes a second', async () => {
    await start('bandwidth=10k');
    for (const request of [complete, streamed]) {
      const begin = performance.now();
      const { bytes } = await tones.speak(request);
      const seconds = (performance.now() - begin) / 1000;
      // The last twentieth of a second is not waited for.
      expect(seconds).toBeGreaterThan(bytes.length / 10_240 - 0.1);
    }
    await expect.poll(() => tones.engine.active).toBe(0);
  });

  it('stops a slow answer when its reader leaves', async () => {
    await start('bandwidth=1');
    const slow = tones.speak(streamed, { signal: AbortSignal.timeout(300) });
    await expect(slow).rejects.toThrow();
    await expect.poll(tones.health).toMatchObject({ requests: 0 });
  });

  it('truncates: HTTP ends well, but half of the promised samples are missing', async () => {
    await start('truncate');
    for (const request of [complete, streamed]) {
      const { status, bytes } = await tones.speak(request);
      expect([status, bytes.length, bytes.readUInt32LE(40)]).toEqual([200, 44 + pcmBytes / 2, pcmBytes]);
    }
  });

  it.each([
    ['zero', 0],
    ['max', 0xffff_ffff],
  ])('writes %s into both sizes', async (name, size) => {
    await start(`wav-header=${name}`);
    for (const request of [complete, streamed]) {
      const { bytes } = await tones.speak(request);
      expect([bytes.readUInt32LE(4), bytes.readUInt32LE(40), bytes.length]).toEqual([
        size,
        size,
        44 + pcmBytes,
      ]);
    }
  });

  it('puts a header in front of every piece, or leaves all out', async () => {
    await start('wav-header=per-chunk,match=one', 'wav-header=none,match=bare');
    for (const request of [complete, streamed]) {
      const { bytes } = await tones.speak(request);
      expect(bytes.toString('latin1').split('RIFF').length - 1).toBe(4);
      expect(bytes.length).toBe(4 * 44 + pcmBytes);
      expect(bytes.readUInt32LE(40)).toBe(600);
    }
    const { bytes } = await tones.speak({ ...complete, text: 'bare' });
    expect(bytes).toEqual(Buffer.from(new Int16Array(400).fill(2).buffer));
  });

  it('claims another content type, and combines with others', async () => {
    await start('content-type=text/html', 'truncate', 'status=503,times=1');
    expect((await tones.speak(complete)).status).toBe(503);
    const { headers, bytes } = await tones.speak(complete);
    expect([headers['content-type'], bytes.length]).toEqual(['text/html', 44 + pcmBytes / 2]);
  });
});

const control = (path: string, method: 'GET' | 'PUT', body?: unknown, headers: object = {}) =>
  ask(`${tones.service.url}${path}`, {
    method,
    headers: { 'x-api-key': KEY, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body }),
  });

describe('PUT /faults', () => {
  it('takes others in place of all, which count again, and none', async () => {
    await start();
    expect((await tones.speak(complete)).status).toBe(200);
    for (const _ of [1, 2]) {
      expect(await control('/faults', 'PUT', ['status=503,times=1', 'delay=1ms'])).toMatchObject({
        status: 200,
        json: { faults: ['status=503,times=1', 'delay=1ms'] },
      });
      expect((await tones.speak(complete)).status).toBe(503);
      expect((await tones.speak(complete)).status).toBe(200);
    }
    await control('/faults', 'PUT', ['status=503']);
    for (const none of [[], ['none']]) {
      expect((await control('/faults', 'PUT', none)).json).toEqual({ faults: [] });
      expect((await tones.speak(complete)).status).toBe(200);
    }
  });

  it.each([
    ['{"faults":[]}', 422, 'invalid_fault'],
    ['[1]', 422, 'invalid_fault'],
    ['["hang","sleep=2s"]', 422, 'invalid_fault'],
    ['[', 400, 'invalid_json'],
  ])('refuses %s, and keeps what it had', async (body, status, code) => {
    await start('status=503');
    expect(await control('/faults', 'PUT', body)).toMatchObject({ status, json: { error: { code } } });
    expect((await tones.speak(complete)).status).toBe(503);
  });

  it('says what is wrong with a fault', async () => {
    await start();
    const { json } = await control('/faults', 'PUT', ['status=42']);
    expect(json.error.message).toBe(
      'bad value for --fault: status=42: "status=42" is not understood; allowed: status=300..599',
    );
  });
});

describe('GET /requests', () => {
  it('tells what came, and what it met', async () => {
    await start('status=503,times=1,speaker=3', 'delay=1ms,match=two', 'reset,speaker=4');
    await tones.speak({ ...complete, text: 'two', speaker_no: 3 });
    await tones.speak(complete);
    await tones.speak({ text: 'x' });
    await tones.speak({ ...complete, speaker_no: 4 }).catch(() => {});
    await ask(`${tones.service.url}/nowhere?secret=1`);
    await control('/requests', 'GET');
    expect((await control('/requests', 'GET')).json.requests).toEqual([
      {
        number: 1,
        method: 'POST',
        path: '/tts',
        speaker: 3,
        characters: 3,
        status: 503,
        faults: ['status=503,times=1,speaker=3', 'delay=1ms,match=two'],
      },
      {
        number: 2,
        method: 'POST',
        path: '/tts',
        speaker: 2,
        characters: 18,
        status: 200,
        faults: ['delay=1ms,match=two'],
      },
      { number: 3, method: 'POST', path: '/tts', status: 422, faults: [] },
      {
        number: 4,
        method: 'POST',
        path: '/tts',
        speaker: 4,
        characters: 18,
        // What takes the place of an answer is met first.
        faults: ['reset,speaker=4', 'delay=1ms,match=two'],
      },
      { number: 5, method: 'GET', path: '/nowhere', status: 404, faults: [] },
    ]);
  });

  it('tells of a request that is open, without a status', async () => {
    await start('hang');
    const hung = tones.speak(complete);
    hung.catch(() => {});
    const list = async () => (await control('/requests', 'GET')).json.requests;
    await expect
      .poll(list)
      .toEqual([{ number: 1, method: 'POST', path: '/tts', speaker: 2, characters: 18, faults: ['hang'] }]);
  });

  it('tells of the last 1,000 requests', async () => {
    await start();
    for (let at = 0; at < 41; at += 1) await Promise.all(Array.from({ length: 25 }, () => tones.health()));
    const { requests } = (await control('/requests', 'GET')).json;
    expect(requests).toHaveLength(1000);
    expect([requests[0].number, requests.at(-1).number]).toEqual([26, 1025]);
  });
});

describe('what changes faults and tells requests', () => {
  const paths = [
    ['/faults', 'PUT', []],
    ['/requests', 'GET', undefined],
  ] as const;
  const outside = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4');

  it.each(paths)('wants the key: %s', async (path, method, body) => {
    await start();
    const { status, json } = await control(path, method, body, { 'x-api-key': 'wrong' });
    expect([status, json.error.code]).toEqual([401, 'invalid_api_key']);
  });

  it.each(paths)('knows one method: %s', async (path, method) => {
    await start();
    const other = method === 'PUT' ? 'GET' : 'PUT';
    expect((await control(path, other, other === 'PUT' ? [] : undefined)).status).toBe(405);
  });

  it.skipIf(!outside).each(paths)('answers to this machine only: %s', async (path, method, body) => {
    tones = await startToneService({ faults: [], host: '0.0.0.0' });
    const { port } = new URL(tones.service.url);
    const url = `http://${outside?.address}:${port}${path}`;
    const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
    const asked = { method, headers, ...(body && { body }) };
    expect(await ask(url, asked)).toMatchObject({ status: 403, json: { error: { code: 'loopback_only' } } });
    const local = await ask(url.replace(outside?.address ?? '', '127.0.0.1'), asked);
    expect(local.status).toBe(200);
  });

  it.each(paths)('is not there in a service without --fault: %s', async (path, method, body) => {
    tones = await startToneService();
    const { status, json } = await control(path, method, body);
    expect([status, json.error.code]).toEqual([404, 'not_found']);
    expect(json.error.message).not.toContain(path);
    const description = (await ask(`${tones.service.url}/openapi.json`)).json;
    expect(Object.keys(description.paths)).not.toContain(path);
    await tones.close();
    await start();
    const other = (await ask(`${tones.service.url}/openapi.json`)).json;
    expect(Object.keys(other.paths)).toContain(path);
  });
});
