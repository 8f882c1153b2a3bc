import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { generate } from 'selfsigned';
import { describe, expect, it } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { emptyFolder } from '../support/folder.ts';
import {
  answer,
  complete,
  type Headers,
  head,
  httpChunk,
  inTurn,
  silent,
  streamed,
} from '../support/http-bytes.ts';
import { machineWith } from '../support/machine.ts';
import { startProxy } from '../support/proxy.ts';
import { parseWav, wholePcm } from '../support/read-wav.ts';
import { expectFailure, KEY, named, Sandbox } from '../support/run.ts';
import { textOf, wavOf } from '../support/text-audio.ts';
import { chunk, fmt, plainWav, riff, sound, speechFormat } from '../unit/sound/wav-builder.ts';

const pcm = sound(40_000);
const wav = plainWav(pcm);
/** It does not know its size. */
const open = plainWav(pcm, 0xffffffff);
const half = wav.subarray(0, wav.length / 2);
const chunked = { 'Transfer-Encoding': 'chunked' };
const NOW = { 'Retry-After': 0 };
const TO_FILE = 'hi -o out.wav';

interface Asked {
  readonly args?: string;
  readonly env?: Record<string, string>;
  readonly retries?: number;
}

/** A run to `out.wav`, which holds something already. */
async function speak(script: Script, { args = '', env, retries = 0 }: Asked = {}) {
  const machine = await machineWith(script, { TTS_RETRIES: `${retries}`, ...env });
  const { box, server } = machine;
  box.file('out.wav', 'old');
  const run = await machine.run(`${TO_FILE} ${args}`);
  expect(box.list()).toEqual(['out.wav']);
  return { run, server, requests: server.requests, file: () => box.read('out.wav') };
}

/** Expects a run that leaves the old file. */
async function failing(script: Script, status: number, message: RegExp, asked: Asked = {}) {
  const all = await speak(script, asked);
  expectFailure(all.run, status, message);
  expect(all.file().toString()).toBe('old');
  return all;
}

/** Expects a run that delivers the whole sound. */
async function spoken(script: Script, asked: Asked = {}) {
  const all = await speak(script, asked);
  expect(all.run).toMatchObject({ status: 0, stderr: '' });
  expect(wholePcm(all.file())).toEqual(pcm);
  return all;
}

/** Starts to answer 200 with these headers, then does something else. */
function begun(headers: Headers, ...then: (Buffer | string | 'end' | 'reset')[]): Script {
  return async (wire) => {
    await wire.write(head(200, { 'Content-Type': 'audio/wav', ...headers }));
    for (const step of then)
      if (step === 'end') wire.end();
      else if (step === 'reset') wire.reset();
      else await wire.write(step);
  };
}

/** Writes the same again and again. */
const dripping =
  (start: string, again: string, milliseconds: number): Script =>
  async (wire) => {
    await wire.write(start);
    let isOpen = true;
    void wire.closed.then(() => {
      isOpen = false;
    });
    for (; isOpen; await sleep(milliseconds)) await wire.write(again);
  };

/** Makes a certificate for 127.0.0.1 and localhost that is its own authority. */
async function selfSigned(): Promise<{ key: string; cert: string; certFile: string }> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 7, ip: '127.0.0.1' },
          { type: 2, value: 'localhost' },
        ],
      },
    ],
  });
  const certFile = join(emptyFolder(), 'cert.pem');
  writeFileSync(certFile, cert);
  return { key, cert, certFile };
}

describe('a status', () => {
  it.each([
    [7, 1, [400, 404, 413, 422, 501]],
    [3, 1, [401, 403]],
    [4, 1, [402]],
    [4, 2, [429]],
    [7, 2, [408, 425, 500, 502, 503, 504, 520, 524, 529]],
    [7, 1, [505, 519, 530]],
  ])('ends a run with %i after %i of two requests: %j', async (exit, tries, statuses) => {
    for (const status of statuses) {
      const script = answer(status, '{"error":{"code":"why","message":"Because so"}}', NOW);
      const message = new RegExp(`status ${status}: Because so`);
      const { requests } = await failing(script, exit, message, { retries: 1 });
      expect(requests, `${status}`).toHaveLength(tries);
    }
  });

  it('ends a run as its words say where they say more', async () => {
    const body = '{"error":{"code":"insufficient_quota","message":"Pay"}}';
    const message = /quota is used up \(status 429: Pay/;
    const { requests } = await failing(answer(429, body, NOW), 4, message, { retries: 1 });
    expect(requests).toHaveLength(1);
  });

  it('206 is not complete, however whole it looks', async () => {
    const part = answer(206, wav, { 'Content-Range': `bytes 0-${wav.length - 1}/${wav.length}` });
    const { requests } = await failing(part, 7, /only a part of the audio \(status 206\)/, { retries: 2 });
    expect(requests).toHaveLength(1);
  });

  it.each([301, 307])('%i is not followed, and its target named by origin', async (status) => {
    const elsewhere = await serveBytes(complete(wav));
    const script = answer(status, '', { Location: `${elsewhere.url}/${KEY}/%6b%65y/tts?key=hidden-word` });
    const { run, requests } = await failing(script, 7, /another address/, { retries: 1 });
    expect(run.stderr).toMatch(new RegExp(`the base URL below ${elsewhere.url}$`, 'm'));
    expect(run.stderr).not.toMatch(/hidden-word|%6b/);
    expect([requests.length, elsewhere.connections.made]).toEqual([1, 0]);
  });
});

describe('the connection', () => {
  it.each<[string, string | Script, number, RegExp]>([
    ['that is refused', 'http://127.0.0.1:1', 6, /127\.0\.0\.1:1/],
    ['to a host that is not there', 'https://nobody.invalid', 6, /the name of nobody\.invalid/],
    ['that is reset', (wire) => wire.reset(), 6, /closed the connection/],
    ['to no HTTP', (wire) => wire.write('SSH-2.0-OpenSSH_9.6\r\n'), 7, /sent an invalid HTTP answer/],
  ])('%s is made once more, and then an error', async (_, service, status, message) => {
    const url = typeof service === 'string' ? service : undefined;
    const script = typeof service === 'string' ? silent : service;
    const env = url === undefined ? {} : { TTS_BASE_URL: url };
    const { run, requests } = await speak(script, { args: '-v', retries: 1, env });
    expect(run.status).toBe(status);
    expect(run.stderr).toMatch(message);
    expect(run.stderr.match(/another try/g)).toHaveLength(1);
    expect(requests).toHaveLength(url === undefined ? 2 : 0);
  });

  it('over TLS is not trusted with a self-signed certificate, unless that is named', async () => {
    const certificate = await selfSigned();
    const server = await serveBytes(complete(wav), certificate);
    const box = new Sandbox();
    const distrusted = await box.run(TO_FILE, { env: named(server.url, { TTS_RETRIES: '2' }) });
    const message = /certificate of 127\.0\.0\.1:\d+ cannot be trusted[\s\S]*NODE_EXTRA_CA_CERTS/;
    expectFailure(distrusted, 6, message);
    expect(server.requests).toHaveLength(0);
    const env = named(server.url, { NODE_EXTRA_CA_CERTS: certificate.certFile });
    expect(await box.tts(TO_FILE, { env })).toMatchObject({ status: 0, stderr: '' });
    const plain = await box.run(TO_FILE, { env: named(server.url.replace('https', 'http')) });
    expect([6, 7]).toContain(plain.status);
    expect(plain.stderr).toMatch(/^hint: .*https:\/\//m);
  });
});

it('A service that speaks HTTP/2 alone is told so, and not asked again.', async () => {
  const { key, cert, certFile } = await selfSigned();
  const server = createSecureServer({ key, cert });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const env = named(`https://127.0.0.1:${port}`, { NODE_EXTRA_CA_CERTS: certFile, TTS_RETRIES: '5' });
  const run = await new Sandbox().tts(TO_FILE, { env });
  server.close();
  expectFailure(run, 6, /speaks HTTP\/2 alone[\s\S]*hint: .*nginx/);
});

describe('audio that is not complete', () => {
  it.each<[string, Script, RegExp]>([
    ['shorter than its length, reset', begun({ 'Content-Length': wav.length }, half, 'reset'), /broke off/],
    ['a stream shorter than its WAV', streamed(half), /broke off: \d+ of 40000 bytes/],
  ])('is asked for again, and then no file: %s', async (_, script, message) => {
    await failing(script, 7, message);
    await spoken(inTurn(script, complete(wav)), { retries: 1 });
  });

  it('has an end, however much the service sends', async () => {
    const { requests } = await failing(
      async (wire) => {
        await wire.write(head(200, chunked));
        await wire.write(httpChunk(plainWav(pcm, 0xffffffff, { ...speechFormat, sampleRate: 100 })));
        const left = wire.closed.then(() => true);
        for (let isOver = false; !isOver; isOver = await Promise.race([left, turn(false)]))
          await wire.write(httpChunk(pcm));
      },
      7,
      /sent more than three hours of sound for "hi"/,
      { retries: 1 },
    );
    expect(requests).toHaveLength(1);
  });

  it('is none where the body ends with its connection and the sizes are met', async () => {
    await spoken(begun({ Connection: 'close' }, wav, 'end'));
  });
});

describe('a stream that breaks', () => {
  const breaking = (at: number) => begun(chunked, httpChunk(open.subarray(0, at)), 'reset');

  it('goes on at the frame where it broke', async () => {
    const { run, server } = await machineWith(inTurn(breaking(20_001), streamed(open, 4096)));
    const heard = await run('hi --stream --retries 3');
    expect(heard).toMatchObject({ status: 0, stderr: '' });
    expect(parseWav(heard.stdout).pcm).toEqual(pcm);
    expect(server.requests).toHaveLength(2);
  });

  it('goes on in a file as well, more than once', async () => {
    const script = inTurn(breaking(1000), breaking(501), breaking(30_000), streamed(open, 4096));
    await spoken(script, { args: '--stream', retries: 3 });
  });

  it('does not begin again in a pipe that has its first half', async () => {
    const { run } = await machineWith(breaking(20_044));
    const { status, stdout } = await run('hi --stream --retries 1');
    expect([status, stdout.subarray(44).equals(pcm.subarray(0, 20_000))]).toEqual([7, true]);
  });
});

describe('a 200 that is not audio', () => {
  const mulaw = riff([chunk('fmt ', fmt(speechFormat, { tag: 7, bits: 8 })), chunk('data', sound(100))]);
  const second = plainWav(sound(200), undefined, { ...speechFormat, sampleRate: 8000 });
  const page = '<html><head><title>Sign in</title></head><body>Please <b>sign in</b></body>';

  it.each<[string, Script, RegExp]>([
    ['JSON', answer(200, '{"error":"no credit left"}'), /no credit left/],
    ['HTML', answer(200, page), /Sign in: Please sign in/],
    ['sound in JSON', answer(200, `{"audio":"${'UklG'.repeat(500)}"}`), /used: sound as text within JSON/],
    ['plain text', answer(200, 'busy\nright now'), /busy right now/],
    ['MP3', answer(200, 'ID3\x04', { 'Content-Type': 'audio/wav' }), /MP3 instead of a WAV/],
    ['other bytes', answer(200, Buffer.from([1, 2, 3, 4, 0, 5])), /begins with the bytes 010203040005/],
    ['nothing', answer(200, ''), /empty/],
    ['nothing, with 204', answer(204), /sent no audio \(status 204\)/],
    ['a WAV with a codec', complete(mulaw), /mu-law/],
    ['two formats in one body', complete(Buffer.concat([wav, second])), /22050 Hz.*8000 Hz/],
  ])('is an error that quotes what came: %s', async (_, script, message) => {
    await failing(script, 7, message);
  });

  it.each([
    ['{"error":{"code":"QUOTA_EXCEEDED","message":"None are left"}}', 4, /payment .*None are left/, 1],
    ['{"success":false,"error":"RATE_LIMITED"}', 4, /takes no more requests for now/, 2],
    ['{"error":{"code":"INVALID_API_KEY"}}', 3, /does not accept the key/, 1],
    ['{"error":"we rate your quota text"}', 7, /no audio that can be used/, 1],
  ])('counts as the error that it tells: %s', async (body, status, message, tries) => {
    const { requests } = await failing(answer(200, body), status, message, { retries: 1 });
    expect(requests).toHaveLength(tries);
  });

  it('is also a part in another format than the first, with both in the message', async () => {
    const { box, run } = await machineWith(inTurn(complete(wav), complete(second)));
    const failed = await run(['One.\n\nTwo.', '--max-chars=5', '--concurrency=1', '-o', 'out.wav']);
    expectFailure(failed, 7, /part 2 .* 8000 Hz.*22050 Hz.*\nhint: .*--sample-rate/);
    expect(box.list()).toEqual([]);
  });

  it('is not told by its Content-Type', async () => {
    await spoken(complete(wav, { 'Content-Type': 'application/octet-stream' }));
  });
});

describe('the words of an error', () => {
  it('are one readable sentence', async () => {
    const body = '{"error":{"code":"bad_speaker","message":"a\\u001b[31mred\\u001b[0m\\u0007\\u202eb"}}';
    await failing(answer(422, body), 7, /^tts: .*\(status 422: a \[31mred \[0m b \(bad_speaker\)\)\n/);
  });

  it('may be missing, and bytes are not quoted', async () => {
    await failing(answer(422), 7, /\(status 422\)\nhint: check the base URL/);
    await failing(answer(500, wav), 7, /failed \(status 500\)\n/);
  });

  it.each([
    [413, 'sorry', true],
    [422, 'String should have at most 300 characters', true],
    [400, 'monthly limit of 10000 characters reached', false],
  ])('bring a hint to send less where the text was too long: %i %s', async (status, message, isTooLong) => {
    const { run } = await speak(answer(status, JSON.stringify({ message })));
    expect(run.stderr.includes('hint: send less at once: --max-chars')).toBe(isTooLong);
  });

  it('are cut at 500 characters, and nothing else of them is read', async () => {
    const script: Script = async (wire) => {
      await wire.write(head(400, chunked));
      for (let sent = 0; sent < 1000; sent += 1) await wire.write(httpChunk('word '.repeat(5000)));
    };
    const { run } = await failing(script, 7, /status 400/);
    const quoted = /status 400: (.*)\)\n/.exec(run.stderr)?.[1] ?? '';
    expect(quoted.length).toBeGreaterThan(450);
    expect(quoted.length).toBeLessThanOrEqual(500);
  });

  it('that drip or stall do not hold up the error, nor the next try', async () => {
    const drips = dripping(`${head(400, { 'Content-Length': 10_000 })}no`, '.', 200);
    await failing(drips, 7, /status 400: no\.+…\)/);
    const stalling: Script = async (wire) => {
      await wire.write(head(503, { 'Content-Length': 99, 'Content-Encoding': 'gzip', ...NOW }));
      await wire.write(gzipSync('{"message":"no such key"}').subarray(0, 12));
    };
    await spoken(inTurn(stalling, complete(wav)), { args: '--concurrency 1', retries: 1 });
  });
});

describe('an error', () => {
  it('is one JSON object on stderr with --json, also with -v, and also of the command line', async () => {
    for (const args of ['--json', '--json -v']) {
      const { run } = await speak(answer(401, '{"message":"wrong \\"key\\""}'), { args });
      expect([run.status, run.stderr.split('\n').length]).toEqual([3, 2]);
      const { error } = JSON.parse(run.stderr);
      expect(error).toMatchObject({ exitCode: 3, hint: expect.stringMatching(/TTS_API_KEY/) });
      expect(error.message).toContain('wrong "key"');
    }
    const typed = await new Sandbox().run('--json --sped hi');
    expect(JSON.parse(typed.stderr).error).toMatchObject({ message: expect.stringMatching(/--sped/) });
    expectFailure(await new Sandbox().run('--json --no-json -f nofile'), 2, /cannot read nofile/);
  });

  it('has a stack trace only with -v, and is told with -q as well', async () => {
    const env = named('http://127.0.0.1:1');
    expectFailure(await new Sandbox().run('hi -q', { env }), 6, /127\.0\.0\.1:1/);
    expect((await new Sandbox().run('hi -v', { env })).stderr).toMatch(/\n\s+at /);
  });

  it.each([
    ['1', 'tts: interrupted\nhint: the same command goes on: complete segments are in the cache\n'],
    ['0', /^tts: interrupted\nhint: the cache has nothing of this voice, .*--split chapters.*\n$/],
  ])('by Ctrl-C in a text tells what is kept: cache %s', async (TTS_CACHE, message) => {
    const { box, env, server } = await machineWith(inTurn(complete(wav), silent), { TTS_CACHE });
    const args = ['One.\n\nTwo.', '--max-chars', '5', '--concurrency', '1', '-o', 'out.wav'];
    const run = box.start(args, { env });
    await expect.poll(() => server.requests.length).toBe(2);
    const { ended } = await run.endBy('SIGINT');
    expect(ended).toMatchObject({ status: 130, stderr: expect.stringMatching(message) });
    expect(box.list()).toEqual([]);
  });

  it('by Ctrl-C in a book tells which chapters are complete', async () => {
    const script: Script = (wire, request, no) =>
      (/Two/.test(request.body.toString()) ? silent : complete(wav))(wire, request, no);
    const { box, env } = await machineWith(script, { TTS_CACHE: '0' });
    box.file('book.md', '# One\n\nIt begins.\n\n# Two\n\nIt ends.\n');
    const args = ['-f', 'book.md', '--split', 'chapters', '--concurrency', '1', '-o', '{n}.wav'];
    const run = box.start(args, { env });
    await expect.poll(() => box.list().some((name) => name === '1.wav')).toBe(true);
    await expect.poll(() => box.read('tts-batch.journal').toString()).toContain('1.wav');
    const message = 'tts: interrupted\nhint: the same command goes on: the first chapter is complete\n';
    expect((await run.endBy('SIGINT')).ended).toMatchObject({ status: 130, stderr: message });
  });
});

describe('another try', () => {
  it('is made as often as was said, with the same request, and is told with -v', async () => {
    const script = answer(429, 'slow down', NOW);
    for (const retries of [0, 2])
      expect((await failing(script, 4, /slow down/, { retries })).requests).toHaveLength(retries + 1);
    const passing = inTurn(answer(500, 'oops', NOW), complete(wav));
    const { run, requests } = await speak(passing, { args: '--stream -v', retries: 1 });
    const [first, second] = requests;
    expect(second).toMatchObject({ method: 'POST', headers: first?.headers, body: first?.body });
    expect(run.stderr).toMatch(/status 500[\s\S]*oops[\s\S]*another try[\s\S]*status 200/);
  });

  it('waits as the service says', async () => {
    const arrivals: number[] = [];
    const script = inTurn(answer(503, '', { 'Retry-After': 1 }), complete(wav));
    const noting: Script = (...asked) => {
      arrivals.push(performance.now());
      return script(...asked);
    };
    await spoken(noting, { retries: 3 });
    const [first = 0, second = 0] = arrivals;
    expect(second - first).toBeGreaterThanOrEqual(950);
  });

  it('is not made where the service asks for a wait of days', async () => {
    const script = answer(429, 'come back tomorrow', { 'Retry-After': 86_400_000 });
    const { requests } = await failing(script, 4, /come back tomorrow/, { retries: 3 });
    expect(requests).toHaveLength(1);
  });

  it('ends at Ctrl-C while it waits', async () => {
    const { box, env, server } = await machineWith(answer(503, '', { 'Retry-After': 600 }));
    const run = box.start(`${TO_FILE} --retries 3`, { env });
    await expect.poll(() => server.requests.length).toBe(1);
    expect((await run.endBy('SIGINT')).ended.status).toBe(130);
    expect(box.list()).toEqual([]);
  });

  it('of a key that is refused is not made with the other parts of a long text', async () => {
    const { run, server } = await machineWith(async (wire, request, number) => {
      if (number > 1) return answer(401)(wire, request, number);
      await sleep(700);
      return complete(wav)(wire, request, number);
    });
    const args = ['--max-chars', '12', '--concurrency', '2', 'A sentence. '.repeat(20), '-o', 'out.wav'];
    expectFailure(await run(args), 3, /does not accept the key/);
    expect(server.requests).toHaveLength(2);
  });
});

describe('a timeout', () => {
  it.each<[string, Script, RegExp]>([
    ['without a word', silent, /no answer from 127\.0\.0\.1:\d+ within 0\.3 s/],
    ['in the sound', begun({ 'Content-Length': wav.length }, half), /no byte from \S+ for 0\.3 s/],
  ])('ends a run with 5, and is a reason to try again: %s', async (_, script, message) => {
    await failing(script, 5, message, { args: '--timeout 0.3' });
    await spoken(inTurn(script, complete(wav)), { env: { TTS_TIMEOUT: '0.3' }, retries: 1 });
  });

  it('is no cap on a service that keeps speaking, or says that it is at work', async () => {
    const slowly: Script = async (wire) => {
      for (let count = 0; count < 3; count++) {
        await wire.write(head(102));
        await sleep(300);
      }
      await wire.write(head(200, { 'Content-Length': wav.length }));
      for (let at = 0; at < wav.length; at += 8000) {
        await sleep(200);
        await wire.write(wav.subarray(at, at + 8000));
      }
    };
    await spoken(slowly, { args: '--timeout 0.8' });
  });
});

describe('a slow reader', () => {
  it('gets all of a compressed answer that is torn while it pauses', async () => {
    const long = plainWav(Buffer.alloc(10 * 2 ** 20, 1));
    const whole = gzipSync(long);
    const coding = { 'Content-Encoding': 'gzip' };
    const torn = begun({ 'Content-Length': whole.length, ...coding }, whole.subarray(0, -8), 'end');
    const { box, server, shell } = await machineWith(inTurn(torn, complete(whole, coding)));
    const line = 'set -o pipefail; tts hi --retries 1 | (sleep 1; cat > out.wav)';
    expect(await shell(line)).toMatchObject({ status: 0 });
    expect(box.read('out.wav').subarray(44).equals(long.subarray(44))).toBe(true);
    expect(server.requests).toHaveLength(2);
  });
});

describe('a compressed answer', () => {
  it.each<[string, Buffer]>([
    ['x-gzip', gzipSync(wav)],
    ['deflate', deflateSync(wav)],
    ['deflate', deflateRawSync(wav)],
    ['gzip, br', brotliCompressSync(gzipSync(wav))],
    ['deflate\r\nContent-Encoding: gzip', gzipSync(deflateSync(wav))],
  ])('is decompressed, and is not complete where it is torn: %s', async (coding, bytes) => {
    const headers = { 'Content-Encoding': coding };
    await spoken(complete(bytes, headers));
    await failing(complete(bytes.subarray(0, -20), headers), 7, /broke off/);
  });

  it('that is damaged, or of an unknown coding, is an error, and words in it are read', async () => {
    await failing(complete(Buffer.alloc(500, 'x'), { 'Content-Encoding': 'gzip' }), 7, /answer/);
    for (const coding of ['snappy', Array(5).fill('gzip').join(', ')])
      await failing(
        complete(wav, { 'Content-Encoding': coding }),
        7,
        /unknown content encoding: (?:s|gzip, g)/,
      );
    const words = gzipSync('{"message":"no such speaker"}');
    await failing(answer(422, words, { 'Content-Encoding': 'gzip' }), 7, /422: no such speaker/);
  });
});

describe('a connection that the service ends after each answer, without notice', () => {
  const hearing = async (script: Script, line: string) => {
    const { run, server } = await machineWith(script);
    const args = `--max-chars 40 -o out.wav --json ${line}`;
    return { server, heard: await run(args, { stdin: 'This is a sentence. '.repeat(40) }) };
  };

  it('is no failure, by an end or a reset', async () => {
    const ending: Script = async (wire, request, number) => {
      await complete(wav)(wire, request, number);
      // Late enough for the next request to be on its way.
      await sleep(number % 3);
      wire.end();
    };
    const resetting: Script = async (wire, request, number) => {
      await sleep((number * 7) % 11);
      await complete(wav)(wire, request, number);
      void sleep((number * 5) % 16).then(() => wire.reset());
    };
    for (const script of [ending, resetting]) {
      const { heard } = await hearing(script, '--retries 3 --concurrency 4');
      expect(heard).toMatchObject({ status: 0, stderr: '' });
    }
  });

  it('counts as a request each time, and is a failure without a further try', async () => {
    const once: Script = async (wire, request, number) => {
      if (number === 2) return wire.reset();
      await complete(wav)(wire, request, number);
    };
    const { server, heard } = await hearing(once, '--retries 3 --concurrency 1');
    expect(JSON.parse(heard.stdout.toString()).requests).toBe(server.requests.length);
    const { server: other, heard: failed } = await hearing(once, '--retries 0 --concurrency 1');
    expect([failed.status, other.requests.length]).toEqual([6, 2]);
  });
});

describe('a proxy', () => {
  it('is sent the request in absolute form for http, wherever it is named', async () => {
    const proxy = await startProxy();
    const { run, server } = await machineWith(complete(wav));
    for (const [env, args] of [
      [{ HTTP_PROXY: proxy.url }, ''],
      [{ http_proxy: `127.0.0.1:${proxy.port}` }, ''],
      [{ HTTP_PROXY: 'http://127.0.0.1:1' }, `--proxy ${proxy.url}`],
    ] as const)
      expect(await run(`${TO_FILE} ${args}`, { env })).toMatchObject({ status: 0, stderr: '' });
    expect(proxy.asked).toEqual(Array(3).fill(`POST ${server.url}/tts`));
    expect(server.requests[0]?.header('x-api-key')).toBe(KEY);
    expect(await run(TO_FILE, { env: { HTTPS_PROXY: proxy.url } })).toMatchObject({ status: 0 });
    expect(proxy.asked).toHaveLength(3);
  });

  it('is asked for a tunnel for https, in which it cannot read the key', async () => {
    const proxy = await startProxy();
    const certificate = await selfSigned();
    const server = await serveBytes(complete(wav), certificate);
    const env = named(server.url, { NODE_EXTRA_CA_CERTS: certificate.certFile, HTTPS_PROXY: proxy.url });
    expect(await new Sandbox().run(TO_FILE, { env })).toMatchObject({ status: 0, stderr: '' });
    expect(proxy.asked).toEqual([`CONNECT 127.0.0.1:${server.port}`]);
    expect(proxy.tunnelled().length).toBeGreaterThan(100);
    expect(proxy.tunnelled().includes(KEY)).toBe(false);
    expect(server.requests[0]?.header('x-api-key')).toBe(KEY);
  });

  it.each([
    ['anna:p4ssw0rd@', 'anna:p4ssw0rd'],
    ['an%40na:p%C3%A4ss@', 'an@na:päss'],
  ])('gets the user and password of %s, which are not shown', async (inUrl, meant) => {
    const proxy = await startProxy();
    const env = { HTTP_PROXY: proxy.url.replace('//', `//${inUrl}`) };
    const { run } = await speak(complete(wav), { args: '-v', env });
    expect(run.status).toBe(0);
    expect(run.stderr).not.toContain('p4ssw0rd');
    expect(proxy.credentials).toEqual([`Basic ${Buffer.from(meant).toString('base64')}`]);
  });

  it('is passed by for hosts in NO_PROXY', async () => {
    const proxy = await startProxy();
    const { run, server } = await machineWith(complete(wav), { HTTP_PROXY: proxy.url });
    for (const [name, hosts] of [
      ['NO_PROXY', '*'],
      ['no_proxy', `example.com,127.0.0.1:${server.port}`],
      ['NO_PROXY', 'example.com,127.0.0.2'],
    ] as const)
      expect(await run(TO_FILE, { env: { [name]: hosts } })).toMatchObject({ status: 0, stderr: '' });
    expect(proxy.asked).toHaveLength(1);
  });

  it('beyond the own network gets no key over plain http, though the service is near', async () => {
    const env = named('http://tts.local/api', { HTTP_PROXY: 'http://proxy.example.com:3128' });
    const run = await new Sandbox().run(TO_FILE, { env });
    expectFailure(run, 2, /not sent over plain http through the proxy proxy\.example\.com:3128/);
    const dry = `${TO_FILE} --dry-run`;
    const free = await new Sandbox().run(dry, { env: { ...env, NO_PROXY: 'tts.local' } });
    const meant = await new Sandbox().run(`${dry} --allow-insecure-http`, { env });
    expect([free.status, meant.status]).toEqual([0, 0]);
  });

  it.each([
    [
      'http://127.0.0.1:1',
      'http://example.com',
      /nothing listens at the proxy 127\.0\.0\.1:1\nhint: check --proxy/,
    ],
    [
      'http://nowhere.invalid',
      'https://example.com',
      /the name of the proxy nowhere\.invalid cannot be resolved/,
    ],
  ])('%s that cannot be reached is named, and not the service %s', async (proxy, service, message) => {
    const args = `${TO_FILE} --proxy ${proxy} --allow-insecure-http`;
    expectFailure(await new Sandbox().run(args, { env: named(service) }), 6, message);
  });

  it.each([
    [{ refuse: 403 }, 'https', /proxy.*403/, 1],
    [{ refuse: 407 }, 'http', /proxy.*407[\s\S]*user:password/, 1],
    [{ refuse: 503 }, 'https', /status 503/, 2],
    [{ hangUp: true }, 'https', /the proxy \S+ closed the connection without an answer\nhint: check/, 2],
  ])('that does not let pass is an error that says so: %j, %s', async (options, scheme, message, tries) => {
    const proxy = await startProxy(options);
    const env = named(`${scheme}://example.com`, { TTS_RETRIES: '1' });
    const args = `${TO_FILE} --allow-insecure-http --proxy ${proxy.url}`;
    expectFailure(await new Sandbox().run(args, { env }), 6, message);
    expect(proxy.asked).toHaveLength(tries);
  });

  it('may be spoken to over TLS, and has to prove who it is', async () => {
    const certificate = await selfSigned();
    const proxy = await startProxy({ certificate });
    const { run, server } = await machineWith(complete(wav));
    const args = `${TO_FILE} --proxy ${proxy.url}`;
    const env = { NODE_EXTRA_CA_CERTS: certificate.certFile };
    expect(await run(args, { env })).toMatchObject({ status: 0, stderr: '' });
    expect(proxy.asked).toEqual([`CONNECT ${new URL(server.url).host}`]);
    expectFailure(
      await run(args),
      6,
      /certificate of the proxy 127\.0\.0\.1:\d+ (?:or \S+ )?cannot be trusted/,
    );
  });

  it.each([
    ['ftp://me:hidden-word@proxy', '"ftp://***@proxy"'],
    ['http://proxy:hidden-word', '"http://proxy***"'],
  ])('is refused where it is %s, without its password', async (url, shown) => {
    const env = named('http://127.0.0.1:1');
    const typed = await new Sandbox().run(`${TO_FILE} --proxy ${url}`, { env });
    expectFailure(typed, 2, /--proxy/);
    const set = await new Sandbox().run(TO_FILE, { env: { ...env, HTTP_PROXY: url } });
    expectFailure(set, 2, /HTTP_PROXY/);
    expect(typed.stderr).toContain(shown);
    expect(typed.stderr + set.stderr).not.toContain('hidden-word');
  });

  it('in front of a connection that is reset makes no whole answer of a torn one', async () => {
    const close = { Connection: 'close' };
    const direct = await serveBytes(begun(close, open.subarray(0, 2044), 'reset'));
    const args = `${TO_FILE} --stream --allow-insecure-http`;
    const http = named('http://example.com', { HTTP_PROXY: direct.url });
    expectFailure(await new Sandbox().run(args, { env: http }), 7, /broke off/);
    const certificate = await selfSigned();
    const server = await serveBytes(begun(close, open.subarray(0, 20_044)), certificate);
    const { url: HTTPS_PROXY } = await startProxy({ tear: 20_000 });
    const https = named(server.url, { HTTPS_PROXY, NODE_EXTRA_CA_CERTS: certificate.certFile });
    expectFailure(await new Sandbox().run(args, { env: https }), 7, /broke off/);
  });
});

describe('a book with a quota that ends in the middle', () => {
  const PARAGRAPHS = 12;
  const book = Array.from({ length: PARAGRAPHS }, (_, at) => `Paragraph ${at + 1} of the book.`).join('\n\n');
  const args = '-f book.txt -o book.wav --max-chars 40 --paragraph-pause 0 --concurrency 1';

  /** A service that speaks until the quota of five requests is used up. */
  async function withQuota() {
    const account = { left: 5 };
    const machine = await machineWith(
      (wire, request, number) => {
        account.left -= 1;
        const { text } = request.json as { text: string };
        const spent = answer(402, '{"error":{"message":"the quota is used up"}}');
        return (account.left < 0 ? spent : complete(wavOf(text)))(wire, request, number);
      },
      { TTS_CACHE: '1' },
    );
    machine.box.file('book.txt', book);
    return { ...machine, account };
  }

  it('says what is kept, and goes on the next day without paying for anything twice', async () => {
    const { box, run, server, account } = await withQuota();
    const first = await run(args);
    expect(first.status).toBe(4);
    // The next segment may be asked for first.
    expect(first.stderr).toMatch(
      /hint: .*; it stopped at segment [56] of 12: the same command reuses what is in the cache\n$/,
    );
    expect(box.list()).toEqual(['book.txt']);
    const { error } = JSON.parse((await run(`${args} --json`)).stderr);
    expect(error).toMatchObject({ exitCode: 4, total: 12, line: 2 * error.done + 1 });
    const spent = server.requests.length;
    account.left = 100;
    const last = await run(`${args} -v`);
    expect(last.status).toBe(0);
    expect(last.stderr.match(/segment \d+: in the cache/g)).toHaveLength(5);
    expect(last.stderr).toMatch(/segment 7 "Paragraph 7 of the book\.": POST http/);
    expect(server.requests.length - spent).toBe(PARAGRAPHS - 5);
    expect(textOf(wholePcm(box.read('book.wav'))).replace(/\s/g, '')).toBe(book.replace(/\s/g, ''));
  });

  it('says nothing of the cache where nothing is kept', async () => {
    const { run } = await withQuota();
    const { status, stderr } = await run(`${args} --no-cache`);
    expect([status, stderr.includes('cache')]).toEqual([4, false]);
  });
});
