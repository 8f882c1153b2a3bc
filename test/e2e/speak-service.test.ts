import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { selfSigned } from '../support/certificate.ts';
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
import { listen } from '../support/listen.ts';
import { startProxy } from '../support/proxy.ts';
import { parseWav, wholePcm } from '../support/read-wav.ts';
import { expectFailure, KEY, named, Sandbox } from '../support/run.ts';
import { chunk, fmt, plainWav, riff, sound, speechFormat } from '../unit/sound/wav-builder.ts';

const pcm = sound(40_000);
const wav = plainWav(pcm);
/** It does not know its size. */
const open = plainWav(pcm, 0xffffffff);
const half = wav.subarray(0, wav.length / 2);
const chunked = { 'Transfer-Encoding': 'chunked' };

interface Asked {
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly retries?: number;
}

/** A run to `out.wav`, which holds something already. */
async function speak(script: Script, { args = [], env, retries = 0 }: Asked = {}) {
  const server = await serveBytes(script);
  const box = new Sandbox();
  box.file('out.wav', 'old');
  const run = await box.run(['hi', '-o', 'out.wav', ...args], {
    env: named(server.url, { TTS_RETRIES: `${retries}`, ...env }),
  });
  expect(box.list()).toEqual(['out.wav']);
  return { run, server, requests: server.requests, box, file: () => box.read('out.wav') };
}

/** Expects a run that leaves the old file. */
async function failing(script: Script, status: number, message: RegExp, asked: Asked = {}) {
  const all = await speak(script, asked);
  expectFailure(all.run, status, message);
  expect(all.file().toString()).toBe('old');
  return all;
}

/** Expects a run that delivers the whole sound. */
async function spoken(script: Script, asked: Asked = {}, expected: Buffer = pcm) {
  const all = await speak(script, asked);
  expect(all.run).toMatchObject({ status: 0, stderr: '' });
  expect(wholePcm(all.file())).toEqual(expected);
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

describe('a status', () => {
  it.each([
    [400, 7, 1],
    [401, 3, 1],
    [402, 4, 1],
    [403, 3, 1],
    [404, 7, 1],
    [405, 7, 1],
    [408, 7, 2],
    [409, 7, 1],
    [410, 7, 1],
    [413, 7, 1],
    [422, 7, 1],
    [425, 7, 2],
    [429, 4, 2],
    [451, 7, 1],
    [500, 7, 2],
    [501, 7, 1],
    [502, 7, 2],
    [503, 7, 2],
    [504, 7, 2],
    [505, 7, 1],
    [599, 7, 1],
  ])('%i ends a run with %i after %i request(s) where one further try is allowed', async (...row) => {
    const [status, expected, tries] = row;
    const script = answer(status, '{"error":{"code":"why","message":"Because so"}}', { 'Retry-After': 0 });
    const message = new RegExp(`status ${status}: Because so`);
    const { run, server } = await failing(script, expected, message, { retries: 1 });
    expect(server.requests).toHaveLength(tries);
    const piped = await new Sandbox().run(['hi'], { env: named(server.url) });
    expect(piped).toMatchObject({ status: expected, stderr: run.stderr });
    if (tries > 1) await spoken(inTurn(script, complete(wav)), { retries: 1 });
  });

  it('402 has a hint that does not say to wait', async () => {
    await failing(answer(402, 'pay'), 4, /hint: waiting does not help: .* add credit/);
  });

  it('206 is not complete, however whole it looks', async () => {
    const part = answer(206, wav, { 'Content-Range': `bytes 0-${wav.length - 1}/${wav.length}` });
    const { requests } = await failing(part, 7, /only a part of the audio \(status 206\)/, { retries: 2 });
    expect(requests).toHaveLength(1);
  });

  it.each([301, 302, 303, 307, 308])('%i is not followed, and its target named by origin', async (status) => {
    const elsewhere = await serveBytes(complete(wav));
    const script = answer(status, '', { Location: `${elsewhere.url}/${KEY}/%6b%65y/tts?key=hidden-word` });
    const { run, requests } = await failing(script, 7, /another address/, { retries: 1 });
    expect(run.stderr).toMatch(new RegExp(`the base URL below ${elsewhere.url}$`, 'm'));
    expect(run.stderr).not.toMatch(/hidden-word|%6b/);
    expect([requests.length, elsewhere.connections.made]).toEqual([1, 0]);
  });

  it.each([
    ['/v2/tts', /look for the base URL below http:\/\/127\.0\.0\.1:\d+\n/],
    ['/tts', /names no other http\(s\) address/],
  ])('308 to the same service is explained: %s', async (location, hint) => {
    await failing(answer(308, '', { Location: location }), 7, hint);
  });
});

describe('the connection', () => {
  it.each<[string, string | Script, number, RegExp]>([
    ['that is refused', 'http://127.0.0.1:1', 6, /127\.0\.0\.1:1/],
    ['to a host that is not there', 'https://nobody.invalid', 6, /the name of nobody\.invalid/],
    ['that is reset', (wire) => wire.reset(), 6, /closed the connection/],
    ['that ends', (wire) => wire.end(), 6, /closed the connection/],
    ['to no HTTP', (wire) => wire.write('SSH-2.0-OpenSSH_9.6\r\n'), 7, /sent an invalid HTTP answer/],
    [
      'that brings a head without end',
      (wire) => wire.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(200_000)}`),
      7,
      /sent an invalid HTTP answer/,
    ],
    [
      'that brings two lengths',
      (wire) => wire.write(`HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 5\r\n\r\n`),
      7,
      /sent an invalid HTTP answer/,
    ],
    [
      'that brings a length and chunks',
      begun({ ...chunked, 'Content-Length': wav.length }, httpChunk(wav), httpChunk('')),
      7,
      /sent an invalid HTTP answer/,
    ],
    [
      'that brings status 099',
      (wire) => wire.write('HTTP/1.1 099 Early\r\n\r\n'),
      7,
      /sent an invalid HTTP answer/,
    ],
    [
      'that changes the protocol',
      (wire) => wire.write(head(101, { Upgrade: 'websocket', Connection: 'Upgrade' })),
      7,
      /sent an invalid HTTP answer/,
    ],
  ])('%s is made once more, and then an error', async (_, service, status, message) => {
    const url = typeof service === 'string' ? service : undefined;
    const script = typeof service === 'string' ? silent : service;
    const { run, requests } = await speak(script, {
      args: ['-v'],
      retries: 1,
      ...(url !== undefined && { env: { TTS_BASE_URL: url } }),
    });
    expect(run.status).toBe(status);
    expect(run.stderr).toMatch(message);
    expect(run.stderr.match(/another try/g)).toHaveLength(1);
    expect(requests).toHaveLength(url === undefined ? 2 : 0);
  });

  it('may carry interim answers first', async () => {
    const interim: Script = async (wire, request, number) => {
      for (const status of [102, 103, 199]) await wire.write(head(status, { Link: '</a>; rel=preload' }));
      await complete(wav)(wire, request, number);
    };
    expect((await spoken(interim)).requests).toHaveLength(1);
  });

  it('over TLS is not trusted with a self-signed certificate, unless that is named', async () => {
    const certificate = await selfSigned();
    const server = await serveBytes(complete(wav), certificate);
    const box = new Sandbox();
    const args = ['hi', '-o', 'out.wav'];
    const distrusted = await box.run(args, { env: named(server.url, { TTS_RETRIES: '2' }) });
    expectFailure(
      distrusted,
      6,
      /certificate of 127\.0\.0\.1:\d+ cannot be trusted[\s\S]*NODE_EXTRA_CA_CERTS/,
    );
    expect(server.requests).toHaveLength(0);
    const env = named(server.url, { NODE_EXTRA_CA_CERTS: certificate.certFile });
    expect(await box.tts(args, { env })).toMatchObject({ status: 0, stderr: '' });
    const plain = await box.run(args, { env: named(server.url.replace('https', 'http')) });
    expect([6, 7]).toContain(plain.status);
    expect(plain.stderr).toMatch(/^tts: [^\n]+\nhint: [^\n]+\n$/);
  });

  it('over TLS to a server that speaks none has a hint', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'));
    });
    const env = named(`https://127.0.0.1:${await listen(server)}`);
    expectFailure(await new Sandbox().run(['hi'], { env }), 6, /does not speak TLS[\s\S]*hint: .*http:\/\//);
  });

  it('beyond the number of files that may be open says how to allow more', async () => {
    const server = await serveBytes(async (wire, request, number) => {
      await sleep(70);
      await complete(wav)(wire, request, number);
    });
    const box = new Sandbox();
    box.file('long.txt', 'There is a sentence here.\n\n'.repeat(100));
    const line = 'ulimit -n 40; tts -f long.txt --max-chars 30 --concurrency 64 -o long.wav';
    const run = await box.shell(line, { env: named(server.url) });
    expectFailure(run, 6, /too many files are open \(EMFILE\); .*\nhint: allow more \(ulimit -n\)/);
    expect(box.list()).toEqual(['long.txt']);
  });
});

/** Complete, says the contract: the body ended as HTTP says, real sizes are met, and there is a sample. */
const INCOMPLETE: readonly (readonly [string, Script, RegExp])[] = [
  ['shorter than its length, ended', begun({ 'Content-Length': wav.length }, half, 'end'), /broke off/],
  ['shorter than its length, reset', begun({ 'Content-Length': wav.length }, half, 'reset'), /broke off/],
  ['headers alone', begun({ 'Content-Length': wav.length }, 'end'), /broke off/],
  ['chunked without its last chunk', begun(chunked, httpChunk(open), 'end'), /broke off/],
  ['chunked and reset', begun(chunked, httpChunk(open), 'reset'), /broke off/],
  ['cut within a chunk', begun(chunked, httpChunk(wav).subarray(0, 1000), 'end'), /broke off/],
  ['a chunk with a broken size', begun(chunked, httpChunk(half), 'zz\r\n'), /broke off/],
  ['shorter than its WAV', complete(half), /broke off: \d+ of 40000 bytes/],
  ['a stream shorter than its WAV', streamed(half), /broke off: \d+ of 40000 bytes/],
  ['without a length, reset', begun({ Connection: 'close' }, open, 'reset'), /broke off/],
  ['cut within the header of the WAV', complete(wav.subarray(0, 30)), /ends within its header/],
  ['a WAV without a sample', complete(plainWav(Buffer.alloc(0))), /without a single sample/],
  ['a stream without a sample', streamed(plainWav(Buffer.alloc(0), 0xffffffff)), /without a single sample/],
  ['less than one frame', complete(plainWav(sound(1))), /without a single sample/],
];

describe('audio that is not complete', () => {
  it.each(INCOMPLETE)('is asked for again, and then no file: %s', async (_, script, message) => {
    const { server } = await failing(script, 7, message);
    expect((await new Sandbox().run(['hi'], { env: named(server.url) })).status).toBe(7);
    await spoken(inTurn(script, complete(wav)), { retries: 1 });
  });

  it('is none where the body ends with its connection and the sizes are met', async () => {
    await spoken(begun({ Connection: 'close' }, wav, 'end'));
  });

  it.each(['reset', 'end'] as const)(
    'is told by an end in order alone, all at once: %s',
    async (farewell) => {
      const server = await serveBytes(async (wire) => {
        await wire.write(head(200, { 'Content-Type': 'audio/wav' }));
        await wire.write(plainWav(sound(600_000), 0xffff_ffff));
        // A reset after bytes that were not read yet looks like an end.
        await sleep(500);
        wire[farewell]();
      });
      const args = ['hi', '-o', 'out.wav'];
      const runs = Array.from({ length: 6 }, () => new Sandbox().tts(args, { env: named(server.url) }));
      for (const run of await Promise.all(runs))
        if (farewell === 'end') expect(run).toMatchObject({ status: 0, stderr: '' });
        else expectFailure(run, 7, /broke off before its end/);
    },
  );
});

describe('a stream that breaks', () => {
  const stream = ['--stream'];
  const breaking = (at: number) => begun(chunked, httpChunk(open.subarray(0, at)), 'reset');

  it.each([45, 46, 1000, 20_001, open.length - 1])('goes on at the frame where it broke: %i', async (at) => {
    const server = await serveBytes(inTurn(breaking(at), streamed(open, 4096)));
    const run = await new Sandbox().run(['hi', ...stream], { env: named(server.url, { TTS_RETRIES: '3' }) });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(parseWav(run.stdout).pcm).toEqual(pcm);
    expect(server.requests).toHaveLength(2);
  });

  it('goes on in a file as well, more than once', async () => {
    const script = inTurn(breaking(1000), breaking(501), breaking(30_000), streamed(open, 4096));
    await spoken(script, { args: stream, retries: 3 });
  });

  it('fails where the service goes on in another format, or has less to say', async () => {
    const other = plainWav(pcm, 0xffffffff, { ...speechFormat, sampleRate: 8000 });
    const asked = { args: stream, retries: 1 };
    await failing(inTurn(breaking(1000), streamed(other)), 7, /another format/, asked);
    const less = streamed(plainWav(pcm.subarray(0, 400), 0));
    await failing(inTurn(breaking(20_000), less), 7, /less audio/, asked);
  });

  it('does not begin again in a pipe that has its first half', async () => {
    const server = await serveBytes(breaking(20_044));
    const run = await new Sandbox().run(['hi', ...stream], { env: named(server.url, { TTS_RETRIES: '1' }) });
    expect(run.status).toBe(7);
    expect(run.stdout.subarray(44)).toEqual(pcm.subarray(0, 20_000));
  });
});

describe('a 200 that is not audio', () => {
  const mulaw = riff([chunk('fmt ', fmt(speechFormat, { tag: 7, bits: 8 })), chunk('data', sound(100))]);
  const second = plainWav(sound(200), undefined, { ...speechFormat, sampleRate: 8000 });

  it.each<[string, Script, RegExp]>([
    ['JSON', answer(200, '{"error":"no credit left"}'), /no credit left/],
    [
      'HTML',
      answer(200, '<html><head><title>Sign in</title></head><body>Please <b>sign in</b></body>'),
      /Sign in: Please sign in/,
    ],
    ['plain text', answer(200, 'busy\nright now'), /busy right now/],
    ['MP3 with ID3', answer(200, 'ID3\x04', { 'Content-Type': 'audio/wav' }), /MP3 instead of a WAV/],
    ['bare MP3', answer(200, Buffer.from([0xff, 0xfb, 0x90, 0x64, 0, 0, 0, 0])), /MP3 instead of a WAV/],
    ['Ogg', answer(200, 'OggS\0\x02'), /Ogg instead of a WAV/],
    ['other bytes', answer(200, Buffer.from([1, 2, 3, 4, 0, 5])), /begins with the bytes 010203040005/],
    ['nothing', answer(200, ''), /empty/],
    ['nothing, with 204', answer(204), /sent no audio \(status 204\)/],
    ['a WAV with a codec', complete(mulaw), /mu-law/],
    ['two formats in one body', complete(Buffer.concat([wav, second])), /22050 Hz.*8000 Hz/],
  ])('is an error that quotes what came: %s', async (_, script, message) => {
    await failing(script, 7, message);
  });

  it.each([
    [
      '{"error":{"code":"QUOTA_EXCEEDED","message":"None are left"}}',
      4,
      /requires payment .*None are left/,
      1,
    ],
    ['{"success":false,"error":"RATE_LIMITED"}', 4, /takes no more requests for now/, 2],
    ['{"error":{"code":"INVALID_API_KEY"}}', 3, /does not accept the key/, 1],
    ['{"error":"we rate your quota text"}', 7, /no audio that can be used/, 1],
  ])('counts as the error that it tells: %s', async (body, status, message, tries) => {
    const { requests } = await failing(answer(200, body), status, message, { retries: 1 });
    expect(requests).toHaveLength(tries);
  });

  it('is also a part in another format than the first, with both in the message', async () => {
    const server = await serveBytes(inTurn(complete(wav), complete(second)));
    const args = ['One.\n\nTwo.', '--max-chars', '5', '--concurrency', '1', '-o', 'out.wav'];
    const box = new Sandbox();
    const run = await box.run(args, { env: named(server.url) });
    expectFailure(run, 7, /part 2 .* 8000 Hz.*22050 Hz.*\nhint: .*--sample-rate/);
    expect(box.list()).toEqual([]);
  });

  it('is not told by its Content-Type', async () => {
    await spoken(complete(wav, { 'Content-Type': 'application/octet-stream' }));
  });
});

describe('the words of an error', () => {
  it.each([
    [
      '{"error":{"code":"bad_speaker","message":"Speaker 7 is unknown"}}',
      'Speaker 7 is unknown (bad_speaker)',
    ],
    ['{"error":"Speaker 7 is unknown"}', 'Speaker 7 is unknown'],
    ['{"message":"Speaker 7 is unknown"}', 'Speaker 7 is unknown'],
    ['{"detail":"Speaker 7 is unknown"}', 'Speaker 7 is unknown'],
    [
      '{"detail":[{"loc":["body","speaker_no"],"msg":"too large"},{"loc":["body","config",0],"msg":"unknown"}]}',
      'body.speaker_no: too large; body.config.0: unknown',
    ],
    ['Speaker 7\r\n  is unknown\n', 'Speaker 7 is unknown'],
    [
      '<html><head><title>502 Bad Gateway</title><style>a{}</style></head><body><h1>502 Bad Gateway</h1><hr>nginx &amp; co',
      '502 Bad Gateway nginx & co',
    ],
    ['{"reason":"odd"}', '{"reason":"odd"}'],
    ['{"message":"a\\u001b[31mred\\u001b[0m\\u0007\\u202eb"}', 'a [31mred [0m b'],
  ])('are one readable sentence: %s', async (body, expected) => {
    const { run } = await failing(answer(422, body), 7, /^tts: .*\(status 422: /);
    expect(run.stderr).toContain(`(status 422: ${expected})\n`);
  });

  it('may be missing, and bytes are not quoted', async () => {
    await failing(answer(422), 7, /\(status 422\)\nhint: check the base URL/);
    await failing(answer(500, wav), 7, /failed \(status 500\)\n/);
  });

  it.each([
    [413, 'sorry', true],
    [400, 'text too long: maximum 300 characters', true],
    [422, 'String should have at most 300 characters', true],
    [400, 'instructions too long', false],
    [400, 'monthly limit of 10000 characters reached', false],
    [504, 'upstream took too long to read the text', false],
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

  it.each<[string, Script, number, RegExp]>([
    [
      'that drip',
      dripping(`${head(400, { 'Content-Length': 10_000 })}no`, '.', 200),
      7,
      /status 400: no\.+…\)/,
    ],
    [
      'that stall',
      (wire) => wire.write(`${head(401, { 'Content-Length': 99 })}{"message":`),
      3,
      /status 401/,
    ],
    [
      'that stall compressed',
      async (wire) => {
        await wire.write(head(401, { 'Content-Length': 99, 'Content-Encoding': 'gzip' }));
        await wire.write(gzipSync('{"message":"no such key"}').subarray(0, 12));
      },
      3,
      /status 401/,
    ],
  ])('do not hold up the error: %s', async (_, script, status, message) => {
    const start = performance.now();
    await failing(script, status, message);
    expect(performance.now() - start).toBeLessThan(15_000);
  });

  it('that stall do not keep the connection from the next try', async () => {
    const stalling: Script = (wire) => wire.write(head(503, { 'Content-Length': 1000, 'Retry-After': 0 }));
    await spoken(inTurn(stalling, complete(wav)), { args: ['--concurrency', '1'], retries: 1 });
  });
});

describe('an error', () => {
  it('is one JSON object on stderr with --json, also with -v, and also of the command line', async () => {
    for (const args of [['--json'], ['--json', '-v']]) {
      const { run } = await speak(answer(401, '{"message":"wrong \\"key\\""}'), { args });
      expect(run.status).toBe(3);
      expect(run.stderr.split('\n')).toHaveLength(2);
      const { error } = JSON.parse(run.stderr);
      expect(error).toMatchObject({ exitCode: 3, hint: expect.stringMatching(/TTS_API_KEY/) });
      expect(error.message).toContain('wrong "key"');
    }
    const typed = await new Sandbox().run(['--json', '--sped', 'hi']);
    expect(JSON.parse(typed.stderr).error).toMatchObject({ message: expect.stringMatching(/--sped/) });
  });

  it('is in JSON or in words, as was said last', async () => {
    const box = new Sandbox();
    expectFailure(await box.run(['--json', '--no-json', '-f', 'nofile']), 2, /cannot read nofile/);
    const inJson = await box.run(['--no-json', '--json', '-o', '/', '--', '--no-json']);
    expect(JSON.parse(inJson.stderr).error.exitCode).toBe(8);
  });

  it('has a stack trace only with -v, and is told with -q as well', async () => {
    const env = named('http://127.0.0.1:1');
    expectFailure(await new Sandbox().run(['hi', '-q'], { env }), 6, /127\.0\.0\.1:1/);
    expect((await new Sandbox().run(['hi', '-v'], { env })).stderr).toMatch(/\n\s+at /);
  });

  it('is an interruption where Ctrl-C comes while its words drip', async () => {
    const server = await serveBytes((wire) =>
      wire.write(`${head(403, { 'Content-Length': 100 })}{"message":`),
    );
    const run = new Sandbox().start(['hi', '-v'], { env: named(server.url) });
    let said = '';
    run.child.stderr?.on('data', (piece) => {
      said += piece;
    });
    await expect.poll(() => said).toMatch(/\ntts: segment 1: status 403 after /);
    const { ended } = await run.endBy('SIGINT');
    expect(ended).toMatchObject({ status: 130, stderr: expect.stringMatching(/\ntts: interrupted\n$/) });
  });

  it.each([
    ['1', 'tts: interrupted\nhint: the same command goes on: complete segments are in the cache\n'],
    ['0', /^tts: interrupted\nhint: the cache has nothing of this voice, .*--split chapters.*\n$/],
  ])('by Ctrl-C in a text tells what is kept: cache %s', async (TTS_CACHE, message) => {
    const server = await serveBytes(inTurn(complete(wav), silent));
    const box = new Sandbox();
    const args = ['One.\n\nTwo.', '--max-chars', '5', '--concurrency', '1', '-o', 'out.wav'];
    const run = box.start(args, { env: named(server.url, { TTS_CACHE }) });
    await expect.poll(() => server.requests.length).toBe(2);
    const { ended } = await run.endBy('SIGINT');
    expect(ended).toMatchObject({ status: 130, stderr: expect.stringMatching(message) });
    expect(box.list()).toEqual([]);
  });
});

/** Milliseconds between the two requests of a run whose first answer has these headers. */
async function delayAfter(headers: Headers): Promise<number> {
  const arrivals: number[] = [];
  await spoken(
    (wire, request, number) => {
      arrivals.push(performance.now());
      return inTurn(answer(503, '', headers), complete(wav))(wire, request, number);
    },
    { retries: 3 },
  );
  expect(arrivals).toHaveLength(2);
  return (arrivals[1] ?? 0) - (arrivals[0] ?? 0);
}

describe('another try', () => {
  it('is made as often as was said, and no more', async () => {
    const script = answer(429, 'slow down', { 'Retry-After': 0 });
    for (const retries of [0, 2]) {
      const { requests } = await failing(script, 4, /slow down/, { retries });
      expect(requests).toHaveLength(retries + 1);
    }
  });

  it('sends the same request, and is told with -v', async () => {
    const script = inTurn(answer(500, 'oops', { 'Retry-After': 0 }), complete(wav));
    const { run, requests } = await speak(script, { args: ['--stream', '-v'], retries: 1 });
    const [first, second] = requests;
    expect(second).toMatchObject({ method: 'POST', headers: first?.headers, body: first?.body });
    expect(run.stderr).toMatch(/status 500[\s\S]*oops[\s\S]*another try[\s\S]*status 200/);
  });

  it.each<[string, () => Headers, number]>([
    ['seconds', () => ({ 'Retry-After': 2 }), 1950],
    ['a date', () => ({ 'Retry-After': new Date(Date.now() + 3000).toUTCString() }), 1000],
    [
      'a date by the clock of the service',
      () => {
        const theirs = Date.now() - 3_600_000;
        return { Date: new Date(theirs).toUTCString(), 'Retry-After': new Date(theirs + 2000).toUTCString() };
      },
      1900,
    ],
    ['nothing', () => ({ 'Retry-After': '' }), 30],
    ['no time', () => ({ 'Retry-After': 'soon' }), 30],
    ['less than nothing', () => ({ 'Retry-After': '-5' }), 30],
    ['the past', () => ({ 'Retry-After': new Date(0).toUTCString() }), 30],
  ])('waits as the service says, and never comes at once: %s', async (_, headers, least) => {
    const delay = await delayAfter(headers());
    expect(delay).toBeGreaterThanOrEqual(least);
    expect(delay).toBeLessThan(least + 7000);
  });

  it('is not made where the service asks for a wait of days', async () => {
    const script = answer(429, 'come back tomorrow', { 'Retry-After': 86_400_000 });
    const { requests } = await failing(script, 4, /come back tomorrow/, { retries: 3 });
    expect(requests).toHaveLength(1);
  });

  it('ends at Ctrl-C while it waits', async () => {
    const server = await serveBytes(answer(503, '', { 'Retry-After': 600 }));
    const box = new Sandbox();
    const run = box.start(['hi', '-o', 'out.wav'], { env: named(server.url, { TTS_RETRIES: '3' }) });
    await expect.poll(() => server.requests.length).toBe(1);
    expect((await run.endBy('SIGINT')).ended.status).toBe(130);
    expect(box.list()).toEqual([]);
  });

  it('of a key that is refused is not made with the other parts of a long text', async () => {
    const server = await serveBytes(async (wire, request, number) => {
      if (number > 1) return answer(401)(wire, request, number);
      await sleep(700);
      return complete(wav)(wire, request, number);
    });
    const args = ['--max-chars', '12', '--concurrency', '2', 'A sentence. '.repeat(20), '-o', 'out.wav'];
    expectFailure(await new Sandbox().run(args, { env: named(server.url) }), 3, /does not accept the key/);
    expect(server.requests).toHaveLength(2);
  });
});

describe('a timeout', () => {
  const oneByte = 'HTTP/1.1 200 O';
  it.each<[string, Script, RegExp]>([
    ['without a word', silent, /no answer from 127\.0\.0\.1:\d+ within 0\.3 s/],
    ['in the head', (wire) => wire.write(oneByte), /no answer from \S+ within 0\.3 s/],
    ['after an interim answer', (wire) => wire.write(head(102)), /no answer from \S+ within 0\.3 s/],
    ['with interim answers for ever', dripping('', head(102), 100), /no answer from \S+ within 0\.3 s/],
    [
      'with a head that drips',
      dripping('HTTP/1.1 200 OK\r\nX: ', '.', 30),
      /no answer from \S+ within 0\.3 s/,
    ],
    ['after the head', begun({ 'Content-Length': wav.length }), /no byte from \S+ for 0\.3 s/],
    ['in the sound', begun({ 'Content-Length': wav.length }, half), /for 0\.3 s/],
  ])('ends a run with 5, and is a reason to try again: %s', async (_, script, message) => {
    await failing(script, 5, message, { args: ['--timeout', '0.3'] });
    const env = { TTS_TIMEOUT: '0.3' };
    await spoken(inTurn(script, complete(wav)), { env, retries: 1 });
  });

  it('ends a run where no connection comes about', async () => {
    // TEST-NET-1 of RFC 5737: nobody answers there, or the system says at once that there is no way.
    const run = await new Sandbox().run(['hi', '--timeout', '0.5'], { env: named('https://192.0.2.1') });
    expect([5, 6]).toContain(run.status);
  });

  it('is no cap on a service that keeps speaking, or says that it is at work', async () => {
    const slowly: Script = async (wire) => {
      for (let count = 0; count < 3; count++) {
        await wire.write(head(102));
        await sleep(600);
      }
      await wire.write(head(200, { 'Content-Length': wav.length }));
      for (let at = 0; at < wav.length; at += 8000) {
        await sleep(300);
        await wire.write(wav.subarray(at, at + 8000));
      }
    };
    await spoken(slowly, { args: ['--timeout', '1'] });
  });

  it('does not take a slow reader for a silent service', async () => {
    const server = await serveBytes(complete(plainWav(sound(8_000_000))));
    const line = 'tts hi --timeout 0.5 | (sleep 2; cat > late.wav); exit $PIPESTATUS';
    const run = await new Sandbox().shell(line, { env: named(server.url) });
    expect(run).toMatchObject({ status: 0, stderr: '' });
  });
});

describe('a slow reader', () => {
  /** Some of these numbers of pieces fill what the program holds for its reader, up to the last byte. */
  const PIECES = [9, 25, 41];
  const PIECE_BYTES = 65_536;

  it.each([
    ['and with it the body', { Connection: 'close' }, false],
    ['after a body of known length', { Connection: 'close' }, true],
    ['though it could have been kept', {}, true],
  ])('gets all of a connection that ends while it pauses: %s', async (_, headers, isLengthKnown) => {
    const runs = PIECES.map(async (pieces) => {
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
      const line = 'set -o pipefail; tts hi | (sleep 2; cat > out.wav)';
      expect(await box.shell(line, { env: named(server.url) })).toMatchObject({ status: 0, stderr: '' });
      expect(box.read('out.wav').subarray(44).equals(body.subarray(44))).toBe(true);
    });
    await Promise.all(runs);
  });

  it('gets all of a compressed answer that is torn while it pauses', async () => {
    const long = plainWav(Buffer.alloc(10 * 2 ** 20, 1));
    const whole = gzipSync(long);
    const coding = { 'Content-Encoding': 'gzip' };
    const torn = begun({ 'Content-Length': whole.length, ...coding }, whole.subarray(0, -8), 'end');
    const server = await serveBytes(inTurn(torn, complete(whole, coding)));
    const box = new Sandbox();
    const line = 'set -o pipefail; tts hi | (sleep 2; cat > out.wav)';
    const run = await box.shell(line, { env: named(server.url, { TTS_RETRIES: '1' }) });
    expect(run).toMatchObject({ status: 0 });
    expect(box.read('out.wav').subarray(44).equals(long.subarray(44))).toBe(true);
    expect(server.requests).toHaveLength(2);
  });
});

describe('a compressed answer', () => {
  it.each<[string, Buffer]>([
    ['gzip', gzipSync(wav)],
    ['x-gzip', gzipSync(wav)],
    ['GZIP', gzipSync(wav)],
    ['deflate', deflateSync(wav)],
    ['deflate', deflateRawSync(wav)],
    ['br', brotliCompressSync(wav)],
    ['gzip, br', brotliCompressSync(gzipSync(wav))],
    ['deflate\r\nContent-Encoding: gzip', gzipSync(deflateSync(wav))],
    ['identity, gzip', gzipSync(wav)],
  ])('is decompressed, and is not complete where it is torn: %s', async (coding, bytes) => {
    const headers = { 'Content-Encoding': coding };
    await spoken(complete(bytes, headers));
    await failing(complete(bytes.subarray(0, -20), headers), 7, /broke off/);
  });

  it('that is damaged, or of an unknown coding, is an error', async () => {
    await failing(complete(Buffer.alloc(500, 'x'), { 'Content-Encoding': 'gzip' }), 7, /answer/);
    for (const coding of ['snappy', 'gzip, snappy', Array(5).fill('gzip').join(', ')])
      await failing(
        complete(wav, { 'Content-Encoding': coding }),
        7,
        /unknown content encoding: (?:s|gzip, g)/,
      );
  });

  it.each<[string, Buffer | string, number, RegExp]>([
    ['gzip', gzipSync('{"message":"no such speaker"}'), 422, /422: no such speaker/],
    ['br', brotliCompressSync('{"message":"no such speaker"}'), 422, /422: no such speaker/],
    ['snappy', 'xxxx', 422, /status 422/],
    ['gzip', gzipSync('no').subarray(0, 8), 422, /status 422/],
  ])('with an error in it is read, or keeps its status: %s %#', async (coding, bytes, status, message) => {
    await failing(answer(status, bytes, { 'Content-Encoding': coding }), 7, message);
  });
});

describe('a connection that the service ends after each answer, without notice', () => {
  const stdin = 'This is a sentence. '.repeat(40);
  const hearing = (script: Script, retries: number, ...more: string[]) =>
    serveBytes(script).then(async (server) => {
      const args = ['--max-chars', '40', '-o', 'out.wav', '--json', ...more];
      const env = named(server.url, { TTS_RETRIES: `${retries}` });
      return { server, run: await new Sandbox().run(args, { env, stdin }) };
    });

  it.each(['1', '4'])('is no failure, by an end or a reset, with %s at once', async (concurrency) => {
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
      const { run } = await hearing(script, 3, '--concurrency', concurrency);
      expect(run).toMatchObject({ status: 0, stderr: '' });
    }
  });

  it('counts as a request each time, and is a failure without a further try', async () => {
    const once: Script = async (wire, request, number) => {
      if (number === 2) return wire.reset();
      await complete(wav)(wire, request, number);
    };
    const { server, run } = await hearing(once, 3, '--concurrency', '1');
    expect(JSON.parse(run.stdout.toString()).requests).toBe(server.requests.length);
    const { server: other, run: failed } = await hearing(once, 0, '--concurrency', '1');
    expect([failed.status, other.requests.length]).toEqual([6, 2]);
  });
});

describe('a proxy', () => {
  const toFile = ['hi', '-o', 'out.wav'];

  it('is sent the request in absolute form for http, wherever it is named', async () => {
    const proxy = await startProxy();
    const server = await serveBytes(complete(wav));
    for (const [env, args] of [
      [{ HTTP_PROXY: proxy.url }, []],
      [{ http_proxy: proxy.url }, []],
      [{ HTTP_PROXY: `127.0.0.1:${proxy.port}` }, []],
      [{ HTTP_PROXY: 'http://127.0.0.1:1' }, ['--proxy', proxy.url]],
    ] as const) {
      const run = await new Sandbox().run([...toFile, ...args], { env: named(server.url, env) });
      expect(run).toMatchObject({ status: 0, stderr: '' });
    }
    expect(proxy.asked).toEqual(Array(4).fill(`POST ${server.url}/tts`));
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/tts' });
    expect(server.requests[0]?.header('x-api-key')).toBe(KEY);
  });

  it('is asked for a tunnel for https, in which it cannot read the key', async () => {
    const proxy = await startProxy();
    const certificate = await selfSigned();
    const server = await serveBytes(complete(wav), certificate);
    const env = named(server.url, { NODE_EXTRA_CA_CERTS: certificate.certFile, HTTPS_PROXY: proxy.url });
    expect(await new Sandbox().run(toFile, { env })).toMatchObject({ status: 0, stderr: '' });
    expect(proxy.asked).toEqual([`CONNECT 127.0.0.1:${server.port}`]);
    expect(proxy.tunnelled().length).toBeGreaterThan(100);
    expect(proxy.tunnelled().includes(KEY)).toBe(false);
    expect(server.requests[0]?.header('x-api-key')).toBe(KEY);
  });

  it.each([
    ['anna:p4ssw0rd@', 'anna:p4ssw0rd'],
    ['anna@', 'anna:'],
    ['anna:100%@', 'anna:100%'],
    ['an%40na:p%C3%A4ss@', 'an@na:päss'],
  ])('gets the user and password of %s, which are not shown', async (inUrl, meant) => {
    const proxy = await startProxy();
    const env = { HTTP_PROXY: proxy.url.replace('//', `//${inUrl}`) };
    const { run } = await speak(complete(wav), { args: ['-v'], env });
    expect(run.status).toBe(0);
    expect(run.stderr).not.toContain('p4ssw0rd');
    expect(proxy.credentials).toEqual([`Basic ${Buffer.from(meant).toString('base64')}`]);
  });

  it.each([
    ['127.0.0.1', 0],
    ['*', 0],
    ['example.com,127.0.0.1', 0],
    ['127.0.0.1:PORT', 0],
    ['example.com,127.0.0.2', 1],
  ])('is passed by for hosts in NO_PROXY: %s', async (except, asked) => {
    const proxy = await startProxy();
    const server = await serveBytes(complete(wav));
    for (const name of ['NO_PROXY', 'no_proxy']) {
      const hosts = { [name]: except.replace('PORT', String(server.port)) };
      const env = named(server.url, { HTTP_PROXY: proxy.url, ...hosts });
      expect(await new Sandbox().run(toFile, { env })).toMatchObject({ status: 0, stderr: '' });
    }
    expect(proxy.asked).toHaveLength(2 * asked);
  });

  it('that is for https only is not used for http', async () => {
    const proxy = await startProxy();
    await spoken(complete(wav), { env: { HTTPS_PROXY: proxy.url } });
    expect(proxy.asked).toEqual([]);
  });

  it('beyond the own network gets no key over plain http, though the service is near', async () => {
    const env = named('http://tts.local/api', { HTTP_PROXY: 'http://proxy.example.com:3128' });
    const run = await new Sandbox().run(toFile, { env });
    expectFailure(run, 2, /not sent over plain http through the proxy proxy\.example\.com:3128/);
    const dry = [...toFile, '--dry-run'];
    const free = await new Sandbox().run(dry, { env: { ...env, NO_PROXY: 'tts.local' } });
    const meant = await new Sandbox().run([...dry, '--allow-insecure-http'], { env });
    expect([free.status, meant.status]).toEqual([0, 0]);
  });

  it.each([
    [
      'http://127.0.0.1:1',
      'http://example.com',
      /nothing listens at the proxy 127\.0\.0\.1:1\nhint: check --proxy/,
    ],
    ['https://127.0.0.1:1', 'https://example.com:1', /nothing listens at the proxy 127\.0\.0\.1:1\n/],
    [
      'http://nowhere.invalid',
      'https://example.com',
      /the name of the proxy nowhere\.invalid cannot be resolved/,
    ],
  ])('%s that cannot be reached is named, and not the service %s', async (proxy, service, message) => {
    const args = [...toFile, '--proxy', proxy, '--allow-insecure-http'];
    expectFailure(await new Sandbox().run(args, { env: named(service) }), 6, message);
  });

  it.each([
    [{ refuse: 403 }, 'https', /proxy.*403/, 1],
    [{ refuse: 407 }, 'https', /proxy.*407[\s\S]*user:password/, 1],
    [{ refuse: 407 }, 'http', /proxy.*407[\s\S]*user:password/, 1],
    [{ refuse: 503 }, 'https', /status 503/, 2],
    [
      { hangUp: true },
      'https',
      /the proxy \S+ closed the connection without an answer\nhint: check --proxy/,
      2,
    ],
  ])(
    'that does not let pass is an error that says so: %j over %s',
    async (options, scheme, message, tries) => {
      const proxy = await startProxy(options);
      const args = [...toFile, '--allow-insecure-http', '--proxy', proxy.url];
      const env = named(`${scheme}://example.com`, { TTS_RETRIES: '1' });
      expectFailure(await new Sandbox().run(args, { env }), 6, message);
      expect(proxy.asked).toHaveLength(tries);
    },
  );

  it.each(['SSH-2.0-OpenSSH\r\n', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`])(
    'that does not speak HTTP is not taken for the service: %#',
    async (bytes) => {
      const other = createServer(
        (socket) => void socket.on('error', () => {}).once('data', () => socket.write(bytes)),
      );
      const args = [...toFile, '--proxy', `http://127.0.0.1:${await listen(other)}`];
      const run = await new Sandbox().run(args, { env: named('https://example.com') });
      expectFailure(run, 6, /the proxy \S+ sent an invalid HTTP answer\nhint: check --proxy/);
    },
  );

  it('may be spoken to over TLS, and has to prove who it is', async () => {
    const certificate = await selfSigned();
    const proxy = await startProxy({ certificate });
    for (const server of [await serveBytes(complete(wav)), await serveBytes(complete(wav), certificate)]) {
      const args = [...toFile, '--proxy', proxy.url];
      const env = named(server.url, { NODE_EXTRA_CA_CERTS: certificate.certFile });
      expect(await new Sandbox().run(args, { env })).toMatchObject({ status: 0, stderr: '' });
      expect(proxy.asked.pop()).toBe(`CONNECT ${new URL(server.url).host}`);
      const strange = await new Sandbox().run(args, { env: named(server.url) });
      expectFailure(strange, 6, /certificate of the proxy 127\.0\.0\.1:\d+ (?:or of \S+ )?cannot be trusted/);
    }
  });

  it.each([
    ['ftp://me:hidden-word@proxy', '"ftp://***@proxy"'],
    ['me:hidden-word@proxy:x', '"***@proxy***"'],
    ['http://proxy:hidden-word', '"http://proxy***"'],
    ['http://proxy:80/hidden-word', '"http://proxy***"'],
    ['socks5://127.0.0.1:1080', 'must be a URL that begins with http:// or https://'],
    ['http://', '--proxy'],
    ['http://127.0.0.1:1?y', '--proxy'],
    ['http://127.0.0.1:1#z', '--proxy'],
  ])('is refused where it is %s, without its password', async (url, shown) => {
    const env = named('http://127.0.0.1:1');
    const typed = await new Sandbox().run([...toFile, '--proxy', url], { env });
    expectFailure(typed, 2, /--proxy/);
    const set = await new Sandbox().run(toFile, { env: { ...env, HTTP_PROXY: url } });
    expectFailure(set, 2, /HTTP_PROXY/);
    expect(typed.stderr).toContain(shown);
    expect(typed.stderr + set.stderr).not.toContain('hidden-word');
  });

  it('in front of a connection that is reset makes no whole answer of a torn one', async () => {
    const close = { Connection: 'close' };
    const direct = await serveBytes(begun(close, open.subarray(0, 2044), 'reset'));
    const args = [...toFile, '--stream', '--allow-insecure-http'];
    const http = named('http://example.com', { HTTP_PROXY: direct.url });
    expectFailure(await new Sandbox().run(args, { env: http }), 7, /broke off/);
    const certificate = await selfSigned();
    const server = await serveBytes(begun(close, open.subarray(0, 20_044)), certificate);
    const { url: HTTPS_PROXY } = await startProxy({ tear: 20_000 });
    const https = named(server.url, { HTTPS_PROXY, NODE_EXTRA_CA_CERTS: certificate.certFile });
    expectFailure(await new Sandbox().run(args, { env: https }), 7, /broke off/);
  });
});
