import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogRecord } from '../../src/serve/http.ts';
import { isThere } from '../support/programs.ts';
import { randomFrom, SEED } from '../support/random.ts';
import { KEY, startToneService, type ToneService } from '../support/tone-service.ts';

// The attacks of service.test.ts and service-load.test.ts once more, on the path of OpenAI's interface.

let tones: ToneService;
let records: LogRecord[];
const programs = { env: process.env, platform: process.platform };

beforeEach(async () => {
  records = [];
  const limits = { headers: 1000, request: 1500, stall: 300 };
  tones = await startToneService({ log: (record) => records.push(record), limits, programs });
});
afterEach(async () => {
  expect((await ask({ input: 'still here' })).at(0)).toMatch(/^HTTP\/1\.1 200 /);
  await expect.poll(() => tones.engine.active).toBe(0);
  expect(records.filter(({ event }) => event === 'defect')).toEqual([]);
  await tones.close();
});

const HEAD = `POST /v1/audio/speech HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;

function requestOf(body: object, headers = ''): string {
  const json = JSON.stringify({ response_format: 'wav', ...body });
  return `${HEAD}${headers}Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

/** @returns all answers that come over one connection until it closes */
async function raw(bytes: string): Promise<string[]> {
  const socket = tones.connect();
  socket.on('error', () => {});
  let said = '';
  socket.on('data', (piece) => {
    said += piece.toString('latin1');
  });
  socket.write(bytes);
  await once(socket, 'close');
  return said.split(/(?=HTTP\/1\.1 \d)/);
}

const ask = (body: object) => raw(requestOf(body, 'Connection: close\r\n'));

describe('POST /v1/audio/speech', () => {
  it.each([
    ['a header without end', `${HEAD}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['10,000 headers', `${HEAD}${'X-A: b\r\n'.repeat(10_000)}\r\n`, 431, 'headers_too_large'],
    ['two lengths', `${HEAD}Content-Length: 2\r\nContent-Length: 9\r\n\r\n{}`, 400, 'malformed_request'],
    [
      'a length together with chunks',
      `${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
      'malformed_request',
    ],
    [
      'chunks of another name',
      `${HEAD}Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      400,
      'malformed_request',
    ],
    [
      'a size of a chunk that is none',
      `${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
      400,
      'malformed_request',
    ],
    ['two hosts', requestOf({ input: 'a' }, 'Host: y\r\nConnection: close\r\n'), 400, 'bad_host'],
  ])('is refused with %s, and nothing after it is a request', async (_, bytes, status, code) => {
    const answers = await raw(`${bytes}${requestOf({ input: 'smuggled' })}`);
    expect(answers[0]).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*"${code}"`, 's'));
    expect(tones.engine.utterances).toEqual([]);
  });

  it.each(['[', '{"a":'])('is refused for 100,000 times %j', async (bomb) => {
    const body = bomb.repeat(100_000);
    const [answer] = await raw(`${HEAD}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*"invalid_json"/s);
  });

  it('leaves 60,000 unknown fields alone', async () => {
    const fields = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`f${at}`, at]));
    expect((await ask({ ...fields, input: 'one' })).at(0)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('is over for 50 slow senders, and free for others meanwhile', async () => {
    const request = requestOf({ input: 'one' });
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, at) => {
        const socket = tones.connect().on('error', () => {});
        socket.write(request.slice(0, at % 2 === 0 ? 45 : -20));
        const drip = setInterval(() => socket.write('a'), 200);
        let answer = '';
        socket.on('data', (piece) => {
          answer += piece;
        });
        if (at === 49) expect((await ask({ input: 'two' })).at(0)).toMatch(/^HTTP\/1\.1 200 /);
        await once(socket, 'close').finally(() => clearInterval(drip));
        return answer;
      }),
    );
    expect(
      answers.filter((answer) => /^HTTP\/1\.1 408 .*"request_timeout"/s.test(answer)).length,
    ).toBeGreaterThan(40);
  });

  it('lets go who takes nothing of a long answer', async () => {
    const socket = tones.connect().on('error', () => {});
    socket.pause();
    socket.write(requestOf({ input: 'x'.repeat(400_000) }));
    await expect.poll(tones.health).toMatchObject({ requests: 1 });
    await expect.poll(tones.health).toMatchObject({ requests: 0 });
    socket.destroy();
  });

  const formats = isThere('ffmpeg') ? ['wav', 'flac'] : ['wav'];

  it.each(formats)(
    'keeps nothing of 200 that hang up at random moments: %s',
    { timeout: 60_000 },
    async (format) => {
      const random = randomFrom(SEED);
      const hangUp = async (at: number) => {
        const socket = tones.connect().on('error', () => {});
        const request = requestOf({
          input: 'one slow slow slow stuck',
          response_format: format,
          speed: at % 4 ? 1 : 2,
        });
        socket.write(request.slice(0, at % 5 === 0 ? Math.floor(random() * request.length) : undefined));
        await sleep(random() * 250);
        if (at % 3 === 0) socket.resetAndDestroy();
        else socket.destroy();
      };
      for (let batch = 0; batch < 10; batch += 1)
        await Promise.all(Array.from({ length: 20 }, (_, at) => hangUp(at)));
      await expect.poll(() => tones.engine.active).toBe(0);
      await expect.poll(tones.health).toMatchObject({ requests: 0 });
      // More encoders than these are never at work: all of them are free again.
      const all = await Promise.all(
        Array.from({ length: 8 }, () => ask({ input: 'one', response_format: format })),
      );
      for (const [answer] of all) expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    },
  );
});
