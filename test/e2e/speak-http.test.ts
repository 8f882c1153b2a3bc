import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { answer, complete, head, httpChunk, inTurn } from '../support/http-bytes.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(30_000));
const toFile = ['hi', '-o', 'out.wav'];
const lengths = (...values: readonly number[]) =>
  `HTTP/1.1 200 OK\r\n${values.map((value) => `Content-Length: ${value}\r\n`).join('')}`;

/** Some of these numbers of pieces fill what the program holds for its reader, up to the last byte. */
const PIECES = [9, 24, 25, 26, 40, 41, 42];
const PIECE_BYTES = 65_536;

describe('a connection that ends while a slow reader pauses', () => {
  it.each([
    ['and with it the body', { Connection: 'close' }, false],
    ['after a body of known length', { Connection: 'close' }, true],
    ['though it could have been kept', {}, true],
  ])('ends in order: %s', async (_, headers, isLengthKnown) => {
    await Promise.all(
      PIECES.map(async (pieces) => {
        const body = plainWav(sound(pieces * PIECE_BYTES));
        const server = await serveBytes(async (wire) => {
          const length = isLengthKnown ? { 'Content-Length': body.length } : {};
          await wire.write(head(200, { ...headers, ...length }));
          await wire.write(body.subarray(0, -pieces * PIECE_BYTES));
          for (let left = pieces; left > 0; left--) {
            const begin = body.length - left * PIECE_BYTES;
            await wire.write(body.subarray(begin, begin + PIECE_BYTES));
            await sleep(8);
          }
          await sleep(100);
          wire.end();
        });
        const box = new Sandbox();
        const run = await box.shell('set -o pipefail; tts hi | (sleep 2; cat > out.wav)', {
          env: named(server.url),
        });
        expect(run).toMatchObject({ status: 0, stderr: '' });
        expect(box.read('out.wav').subarray(44).equals(body.subarray(44))).toBe(true);
      }),
    );
  });
});

describe('an answer that ends with its connection', () => {
  const endless = plainWav(sound(600_000), 0xffff_ffff);

  it.each(['reset', 'end'] as const)('is whole by an end in order alone: %s', async (farewell) => {
    const server = await serveBytes(async (wire) => {
      await wire.write(head(200, { 'Content-Type': 'audio/wav' }));
      await wire.write(endless);
      // A reset after bytes that were not read yet looks like an end.
      await sleep(500);
      wire[farewell]();
    });
    const runs = Array.from({ length: 10 }, () => new Sandbox().tts(toFile, { env: named(server.url) }));
    for (const run of await Promise.all(runs))
      if (farewell === 'end') expect(run).toMatchObject({ status: 0, stderr: '' });
      else expectFailure(run, 7, /broke off before its end/);
  });
});

describe('an answer', () => {
  it.each([102, 103, 199])('may follow an interim answer: %i', async (status) => {
    const server = await serveBytes(async (wire, request, number) => {
      await wire.write(head(status));
      await wire.write(head(status, { Link: '</a>; rel=preload' }));
      await complete(wav)(wire, request, number);
    });
    const box = new Sandbox();
    expect(await box.run(toFile, { env: named(server.url) })).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('out.wav')).toEqual(wav);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['two equal lengths', `${lengths(wav.length, wav.length)}\r\n`, wav],
    ['two lengths', `${lengths(wav.length, 5)}\r\n`, wav],
    [
      'a length and chunks',
      `${lengths(wav.length)}Transfer-Encoding: chunked\r\n\r\n`,
      Buffer.concat([httpChunk(wav), httpChunk('')]),
    ],
  ])('with %s is broken, and asked for again', async (_, start, body) => {
    const contradicting = await serveBytes((wire) => wire.write(Buffer.concat([Buffer.from(start), body])));
    const box = new Sandbox();
    const run = await box.run(toFile, { env: named(contradicting.url, { TTS_RETRIES: '1' }) });
    expectFailure(run, 7, /sent an invalid HTTP answer/);
    expect(contradicting.requests).toHaveLength(2);
    expect(box.list()).toEqual([]);
  });

  it('that is a part is not complete, however whole it looks', async () => {
    const part = answer(206, wav, { 'Content-Range': `bytes 0-${wav.length - 1}/${wav.length}` });
    const server = await serveBytes(part);
    const run = await new Sandbox().run(toFile, { env: named(server.url, { TTS_RETRIES: '2' }) });
    expectFailure(run, 7, /only a part of the audio \(status 206\)/);
    expect(server.requests).toHaveLength(1);
  });

  it.each(['101 Switching Protocols', '099 Early', '000 None'])(
    'that begins with %s is none',
    async (status) => {
      const server = await serveBytes((wire) => wire.write(`HTTP/1.1 ${status}\r\n\r\n`));
      const run = await new Sandbox().run(toFile, { env: named(server.url) });
      expectFailure(run, 7, /sent an invalid HTTP answer/);
    },
  );

  it('that changes the protocol is none', async () => {
    const upgrade = head(101, { Upgrade: 'websocket', Connection: 'Upgrade' });
    const server = await serveBytes((wire) => wire.write(upgrade));
    const run = await new Sandbox().run(toFile, { env: named(server.url) });
    expectFailure(run, 7, /sent an invalid HTTP answer/);
  });

  it('of bytes that are no text is not quoted', async () => {
    const server = await serveBytes(answer(500, wav));
    const run = await new Sandbox().run(toFile, { env: named(server.url) });
    expectFailure(run, 7, /failed \(status 500\)\n/);
  });
});

describe('a slow service', () => {
  const impatient = (url: string) => named(url, { TTS_TIMEOUT: '1' });

  it.each([
    ['answers that it is at work', '', head(102)],
    ['drips a head', 'HTTP/1.1 200 OK\r\nX-Drip: ', '.'],
  ])('is given up when it never ends: %s', async (_, start, again) => {
    const server = await serveBytes(async (wire) => {
      await wire.write(start);
      let isOpen = true;
      void wire.closed.then(() => {
        isOpen = false;
      });
      while (isOpen) {
        await wire.write(again);
        await sleep(30);
      }
    });
    const run = await new Sandbox().run(toFile, { env: named(server.url, { TTS_TIMEOUT: '0.3' }) });
    expectFailure(run, 5, /no answer from 127\.0\.0\.1:\d+ within 0\.3 s/);
  });

  it('may say for a while that it is at work', async () => {
    const server = await serveBytes(async (wire, request, number) => {
      for (let count = 0; count < 5; count++) {
        await wire.write(head(102));
        await sleep(600);
      }
      await complete(wav)(wire, request, number);
    });
    expect(await new Sandbox().run(toFile, { env: impatient(server.url) })).toMatchObject({ status: 0 });
  });

  it.each([
    ['in the head of its answer', 'HTTP/1.1 200 O', /no answer from \S+ within 1 s/],
    ['after it said that it is at work', head(102), /no answer from \S+ within 1 s/],
    ['after the head', head(200, { 'Content-Length': wav.length }), /no byte from \S+ for 1 s/],
  ])('is given up when it falls silent: %s', async (_, start, message) => {
    const server = await serveBytes((wire) => wire.write(start));
    expectFailure(await new Sandbox().run(toFile, { env: impatient(server.url) }), 5, message);
  });

  it('cannot hold up its own refusal', async () => {
    const server = await serveBytes(async (wire) => {
      await wire.write(`${head(400, { 'Content-Length': 10_000 })}no such speaker`);
      let isOpen = true;
      void wire.closed.then(() => {
        isOpen = false;
      });
      while (isOpen) {
        await wire.write('.');
        await sleep(200);
      }
    });
    const begun = performance.now();
    const run = await new Sandbox().run(toFile, { env: named(server.url) });
    expectFailure(run, 7, /status 400: no such speaker\.+…\)/);
    expect(performance.now() - begun).toBeLessThan(15_000);
  });
});

describe('a refusal', () => {
  it.each([
    ['plain', {}, '{"message":"no'],
    ['packed', { 'Content-Encoding': 'gzip' }, gzipSync('{"message":"no such key"}').subarray(0, 12)],
  ])('is reported though its body stalls: %s', async (_, headers, begun) => {
    const server = await serveBytes(async (wire) => {
      await wire.write(head(401, { 'Content-Length': 1000, ...headers }));
      await wire.write(begun);
    });
    const start = performance.now();
    const run = await new Sandbox().run(toFile, { env: named(server.url) });
    expectFailure(run, 3, /does not accept the key \(status 401/);
    expect(performance.now() - start).toBeLessThan(15_000);
  });

  it('that stalls does not keep the connection from the next try', async () => {
    const server = await serveBytes(
      inTurn(async (wire) => {
        await wire.write(head(503, { 'Content-Length': 1000, 'Retry-After': 0 }));
      }, complete(wav)),
    );
    const box = new Sandbox();
    const run = await box.run([...toFile, '--concurrency', '1'], {
      env: named(server.url, { TTS_RETRIES: '1' }),
    });
    expect(run).toMatchObject({ status: 0 });
    expect(box.read('out.wav')).toEqual(wav);
  });
});

describe('a connection that the service ends after each answer, without notice', () => {
  const text = 'This is a sentence. '.repeat(40);
  const args = ['--max-chars', '40', '-o', 'out.wav'];
  const retried = (url: string) => named(url, { TTS_RETRIES: '3' });

  it.each(['1', '4'])('is no failure, with %s at once', async (concurrency) => {
    const server = await serveBytes(async (wire, request, number) => {
      await complete(wav)(wire, request, number);
      // Late enough for the next request to be on its way.
      await sleep(number % 3);
      wire.end();
    });
    const run = await new Sandbox().run([...args, '--concurrency', concurrency], {
      env: retried(server.url),
      stdin: text,
    });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(new Set(server.requests.map(({ json }) => JSON.stringify(json))).size).toBe(1);
  });

  it.each(['1', '4'])('is no failure by a reset either, with %s at once', async (concurrency) => {
    const short = plainWav(sound(100));
    const server = await serveBytes(async (wire, request, number) => {
      await sleep((number * 7) % 11);
      await complete(short)(wire, request, number);
      void sleep((number * 5) % 16).then(() => wire.reset());
    });
    const run = await new Sandbox().run([...args, '--concurrency', concurrency], {
      env: retried(server.url),
      stdin: text.repeat(10),
    });
    expect(run).toMatchObject({ status: 0, stderr: '' });
  });

  it('counts as a request each time', async () => {
    const server = await serveBytes(async (wire, request, number) => {
      if (number === 2) return wire.reset();
      await complete(wav)(wire, request, number);
    });
    const run = await new Sandbox().run([...args, '--concurrency', '1', '--json'], {
      env: retried(server.url),
      stdin: text,
    });
    expect(run).toMatchObject({ status: 0 });
    expect(JSON.parse(run.stdout.toString()).requests).toBe(server.requests.length);
  });

  it('is one without a further try', async () => {
    const server = await serveBytes(async (wire, request, number) => {
      if (number === 2) return wire.reset();
      await complete(wav)(wire, request, number);
    });
    const run = await new Sandbox().run([...args, '--concurrency', '1'], {
      env: named(server.url, { TTS_RETRIES: '0' }),
      stdin: text,
    });
    expectFailure(run, 6, /closed the connection without an answer/);
    expect(server.requests).toHaveLength(2);
  });

  it('is one where it is new', async () => {
    const server = await serveBytes((wire) => wire.reset());
    const run = await new Sandbox().run([...args, '--concurrency', '1'], {
      env: named(server.url),
      stdin: text,
    });
    expectFailure(run, 6, /closed the connection without an answer/);
    expect(server.requests).toHaveLength(1);
  });

  it('is one where the answer had begun', async () => {
    const server = await serveBytes(async (wire, request, number) => {
      if (number === 1) return complete(wav)(wire, request, number);
      await wire.write('HTTP/1.1 200 O');
      wire.reset();
    });
    const run = await new Sandbox().run([...args, '--concurrency', '1'], {
      env: named(server.url),
      stdin: text,
    });
    expect(run.status).toBe(6);
    expect(server.requests).toHaveLength(2);
  });
});
