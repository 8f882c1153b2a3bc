import { cpSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { answer, complete, head, httpChunk, inTurn, silent, streamed } from '../support/http-bytes.ts';
import { expectFailure, KEY, named, node, program, Sandbox } from '../support/run.ts';
import { chunk, fmt, plainWav, riff, sound, speechFormat } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(4000));

/** Runs once to a file that exists and once to a pipe; the file must stay as it is, with nothing next to it. */
async function failing(script: Script, args: readonly string[] = []) {
  const server = await serveBytes(script);
  const box = new Sandbox();
  box.file('out.wav', 'old');
  const env = named(server.url);
  const run = await box.run(['hi', '-o', 'out.wav', ...args], { env });
  expect(box.list()).toEqual(['out.wav']);
  expect(box.read('out.wav').toString()).toBe('old');
  const fresh = new Sandbox();
  expect((await fresh.run(['hi', '-o', 'new.wav', ...args], { env })).status).toBe(run.status);
  expect(fresh.list()).toEqual([]);
  const piped = await fresh.run(['hi', ...args], { env });
  expect(piped.status).toBe(run.status);
  expect(piped.stderr).toBe(run.stderr);
  return run;
}

describe('the exit status', () => {
  it.each([
    [400, 7],
    [401, 3],
    [402, 4],
    [403, 3],
    [404, 7],
    [405, 7],
    [408, 7],
    [409, 7],
    [413, 7],
    [418, 7],
    [422, 7],
    [425, 7],
    [429, 4],
    [451, 7],
    [500, 7],
    [501, 7],
    [502, 7],
    [503, 7],
    [504, 7],
    [599, 7],
  ])('for status %i is %i', async (status, expected) => {
    const run = await failing(answer(status, '{"error":{"code":"why","message":"Because so"}}'));
    expectFailure(run, expected, new RegExp(`status ${status}: Because so`));
  });

  it('is 4 where the account is empty, and the hint does not say to wait', async () => {
    const run = await failing(answer(402, 'pay'));
    expectFailure(run, 4, /hint: waiting does not help: .* add credit/);
  });

  it('is 6 where nothing listens, and names the address', async () => {
    const box = new Sandbox();
    const run = await box.run(['hi', '-o', 'out.wav'], { env: named('http://127.0.0.1:1') });
    expectFailure(run, 6, /127\.0\.0\.1:1/);
    expect(box.list()).toEqual([]);
  });

  it('is 6 where there is no such host', async () => {
    const run = await new Sandbox().run(['hi', '-o', 'out.wav'], { env: named('https://nobody.invalid') });
    expectFailure(run, 6, /nobody\.invalid/);
  });

  it('is 6 where the connection is reset or ended without an answer', async () => {
    expectFailure(await failing((wire) => wire.reset()), 6, /closed the connection/);
    expectFailure(await failing((wire) => wire.end()), 6, /closed the connection/);
  });

  it('is 7 where the answer is not HTTP', async () => {
    expectFailure(
      await failing((wire) => wire.write('SSH-2.0-OpenSSH_9.6\r\n')),
      7,
      /sent an invalid HTTP answer/,
    );
  });

  it('is 7 where the headers of the answer never end', async () => {
    const script: Script = (wire) => wire.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(200_000)}`);
    expectFailure(await failing(script), 7, /HTTP|header/);
  });

  it('is 3 where there is no key for the service', async () => {
    const run = await new Sandbox().run(['hi'], {
      env: { TTS_BASE_URL: 'https://example.com', TTS_SPEAKER: '1' },
    });
    expectFailure(run, 3, /no key for https:\/\/example\.com/);
  });
});

/** Starts to answer 200 with these headers, then does something else. */
function begun(
  headers: Record<string, string | number>,
  ...then: (Buffer | string | 'end' | 'reset')[]
): Script {
  return async (wire) => {
    await wire.write(head(200, { 'Content-Type': 'audio/wav', ...headers }));
    for (const step of then) {
      if (step === 'end') wire.end();
      else if (step === 'reset') wire.reset();
      else await wire.write(step);
    }
  };
}

const chunked = { 'Transfer-Encoding': 'chunked' };
const half = wav.subarray(0, wav.length / 2);
const endless = plainWav(sound(2000), 0xffffffff);

/** Complete, says the contract: the body ended as HTTP says, real sizes are met, and there is a sample. */
const incomplete: readonly (readonly [string, Script, RegExp])[] = [
  [
    'a body shorter than its Content-Length, ended',
    begun({ 'Content-Length': wav.length }, half, 'end'),
    /broke off/,
  ],
  [
    'a body shorter than its Content-Length, reset',
    begun({ 'Content-Length': wav.length }, half, 'reset'),
    /broke off/,
  ],
  ['a chunked body without its last chunk', begun(chunked, httpChunk(endless), 'end'), /broke off/],
  ['a chunked body that is reset', begun(chunked, httpChunk(endless), 'reset'), /broke off/],
  ['a chunked body cut within a chunk', begun(chunked, httpChunk(wav).subarray(0, 1000), 'end'), /broke off/],
  ['a chunk with a broken size', begun(chunked, httpChunk(half), 'zz\r\n'), /broke off/],
  ['a body that ends before the size of its WAV', complete(half), /broke off: \d+ of 4000 bytes/],
  ['a stream that ends before the size of its WAV', streamed(half), /broke off: \d+ of 4000 bytes/],
  ['a body without a length that is reset', begun({ Connection: 'close' }, endless, 'reset'), /broke off/],
  ['a WAV that ends within its header', complete(wav.subarray(0, 30)), /ends within its header/],
  ['a WAV without a single sample', complete(plainWav(Buffer.alloc(0))), /without a single sample/],
  [
    'a stream without a single sample',
    streamed(plainWav(Buffer.alloc(0), 0xffffffff)),
    /without a single sample/,
  ],
  ['less than one frame', complete(plainWav(sound(1))), /without a single sample/],
  ['headers without a body, ended', begun({ 'Content-Length': wav.length }, 'end'), /broke off/],
];

describe('audio that is not complete', () => {
  it.each(incomplete)('fails with 7 and leaves no file: %s', async (_, script, message) => {
    const server = await serveBytes(script);
    const box = new Sandbox();
    box.file('out.wav', 'old');
    const run = await box.run(['hi', '-o', 'out.wav'], { env: named(server.url) });
    expectFailure(run, 7, message);
    expect(box.list()).toEqual(['out.wav']);
    expect(box.read('out.wav').toString()).toBe('old');
    expect((await box.run(['hi'], { env: named(server.url) })).status).toBe(7);
    expect((await box.shell('tts hi > redirected.wav', { env: named(server.url) })).status).toBe(7);
  });

  it.each(incomplete)('is asked for again: %s', async (_, script) => {
    const server = await serveBytes((wire, request, number) =>
      number === 1 ? script(wire, request, number) : complete(wav)(wire, request, number),
    );
    const box = new Sandbox();
    const env = named(server.url, { TTS_RETRIES: '1' });
    expect(await box.run(['hi', '-o', 'out.wav'], { env })).toMatchObject({ status: 0, stderr: '' });
    expect(server.requests).toHaveLength(2);
    expect(box.read('out.wav').length).toBeGreaterThanOrEqual(2044);
  });

  it('is complete where the body ends with its connection and the sizes are met', async () => {
    const server = await serveBytes(begun({ Connection: 'close' }, wav, 'end'));
    const box = new Sandbox();
    expect(await box.run(['hi', '-o', 'out.wav'], { env: named(server.url) })).toMatchObject({ status: 0 });
    expect(box.read('out.wav')).toEqual(wav);
  });
});

const mulaw = riff([chunk('fmt ', fmt(speechFormat, { tag: 7, bits: 8 })), chunk('data', sound(100))]);

describe('a 200 that is not audio', () => {
  it.each([
    [
      '{"error":{"code":"QUOTA_EXCEEDED","message":"No characters are left"}}',
      4,
      /requires payment \(status 200: No characters are left/,
      1,
    ],
    ['{"code":"QUOTA"}', 4, /requires payment/, 1],
    ['{"success":false,"error":"RATE_LIMITED"}', 4, /takes no more requests for now/, 2],
    ['{"status":"UNAUTHORIZED"}', 3, /does not accept the key/, 1],
    ['{"error":{"code":"INVALID_API_KEY"}}', 3, /does not accept the key/, 1],
    ['{"error":"we rate your quota text"}', 7, /no audio that can be used/, 1],
  ])('counts as the error that it tells: %s', async (body, status, message, requests) => {
    const server = await serveBytes(answer(200, body, { 'Content-Type': 'application/json' }));
    const run = await new Sandbox().run(['hi', '-o', 'a.wav', '--retries', '1'], { env: named(server.url) });
    expectFailure(run, status, message);
    expect(server.requests).toHaveLength(requests);
  });

  it.each([
    ['JSON', answer(200, '{"error":"no credit left"}'), /no credit left/],
    [
      'HTML',
      answer(200, '<html><head><title>Sign in</title></head><body>Please <b>sign in</b></body>'),
      /Sign in: Please sign in/,
    ],
    ['plain text', answer(200, 'busy\nright now'), /busy right now/],
    ['MP3 with ID3', answer(200, Buffer.from('ID3\x04\0\0\0\0\0\0')), /MP3 instead of a WAV/],
    ['bare MP3', answer(200, Buffer.from([0xff, 0xfb, 0x90, 0x64, 0, 0, 0, 0])), /MP3 instead of a WAV/],
    ['Ogg', answer(200, 'OggS\0\x02'), /Ogg instead of a WAV/],
    ['other bytes', answer(200, Buffer.from([1, 2, 3, 4, 0, 5])), /begins with the bytes 010203040005/],
    ['MP3 that calls itself audio/wav', answer(200, 'ID3\x04', { 'Content-Type': 'audio/wav' }), /MP3/],
    ['nothing', answer(200, ''), /empty/],
    ['nothing, with 204', answer(204), /sent no audio \(status 204\)/],
    ['a WAV with a codec', complete(mulaw), /mu-law/],
    [
      'two formats in one body',
      complete(Buffer.concat([wav, plainWav(sound(200), undefined, { ...speechFormat, sampleRate: 8000 })])),
      /22050 Hz.*8000 Hz/,
    ],
  ])('is an error that quotes what came: %s', async (_, script, message) => {
    expectFailure(await failing(script), 7, message);
  });

  it('does not matter to the Content-Type where the bytes are a WAV', async () => {
    const server = await serveBytes(complete(wav, { 'Content-Type': 'application/octet-stream' }));
    const box = new Sandbox();
    expect(await box.run(['hi', '-o', 'out.wav'], { env: named(server.url) })).toMatchObject({ status: 0 });
    expect(box.read('out.wav')).toEqual(wav);
  });

  it('is not asked for again where another try cannot help', async () => {
    const server = await serveBytes(answer(200, '{"error":"no credit left"}'));
    const run = await new Sandbox().run(['hi'], { env: named(server.url, { TTS_RETRIES: '3' }) });
    expectFailure(run, 7, /no credit left/);
    expect(server.requests).toHaveLength(1);
  });
});

describe('an error body', () => {
  it.each([
    [
      'code and message',
      '{"error":{"code":"bad_speaker","message":"Speaker 7 is unknown"}}',
      'Speaker 7 is unknown (bad_speaker)',
    ],
    ['an error in words', '{"error":"Speaker 7 is unknown"}', 'Speaker 7 is unknown'],
    ['a message', '{"message":"Speaker 7 is unknown"}', 'Speaker 7 is unknown'],
    ['a detail', '{"detail":"Speaker 7 is unknown"}', 'Speaker 7 is unknown'],
    [
      'the details of FastAPI',
      '{"detail":[{"loc":["body","speaker_no"],"msg":"too large","type":"x"},{"loc":["body","config",0],"msg":"unknown"}]}',
      'body.speaker_no: too large; body.config.0: unknown',
    ],
    ['text', 'Speaker 7\r\n  is unknown\n', 'Speaker 7 is unknown'],
    [
      'HTML',
      '<!DOCTYPE html><html><head><title>502 Bad Gateway</title><style>a{}</style></head><body><h1>502 Bad Gateway</h1><hr>nginx &amp; co</body></html>',
      '502 Bad Gateway nginx & co',
    ],
    ['JSON that says nothing known', '{"reason":"odd"}', '{"reason":"odd"}'],
    ['control characters', '{"message":"a\\u001b[31mred\\u001b[0m\\u0007\\u202eb"}', 'a [31mred [0m b'],
  ])('becomes one readable sentence: %s', async (_, body, expected) => {
    const server = await serveBytes(answer(422, body));
    const run = await new Sandbox().run(['hi'], { env: named(server.url) });
    expectFailure(run, 7, /^tts: .*\(status 422: /);
    expect(run.stderr).toContain(`(status 422: ${expected})\n`);
  });

  it.each([
    [413, 'sorry', true],
    [400, 'text too long: maximum 300 characters', true],
    [422, 'String should have at most 300 characters', true],
    [400, 'Text exceeds the limit of 300', true],
    [400, 'instructions too long', false],
    [400, 'monthly limit of 10000 characters reached', false],
    [504, 'upstream took too long to read the text', false],
    [409, 'the text is too long', false],
    [400, 'unknown speaker', false],
    [403, 'the limit of characters is used up', false],
  ])('says how to send less where the text was too long: %i %s', async (status, said, isTooLong) => {
    const server = await serveBytes(answer(status, JSON.stringify({ message: said })));
    const { stderr } = await new Sandbox().run(['hi'], { env: named(server.url) });
    expect(stderr.includes('hint: send less at once: --max-chars')).toBe(isTooLong);
  });

  it('may be empty', async () => {
    const server = await serveBytes(answer(422));
    const run = await new Sandbox().run(['hi'], { env: named(server.url) });
    expectFailure(run, 7, /\(status 422\)\nhint: check the base URL/);
  });

  it.each([
    ['https://other.example/api/tts?x=1', /look for the base URL below https:\/\/other\.example\n/],
    ['/v2/tts', /look for the base URL below http:\/\/127\.0\.0\.1:\d+\n/],
    ['', /names no other http\(s\) address/],
    ['/tts', /names no other http\(s\) address/],
  ])(
    'that points elsewhere is explained with the origin of the other address: %s',
    async (location, hint) => {
      const server = await serveBytes(answer(308, '', location ? { Location: location } : {}));
      expectFailure(await new Sandbox().run(['hi'], { env: named(server.url) }), 7, hint);
      expect(server.requests).toHaveLength(1);
    },
  );

  it('is cut at 500 characters, and nothing else of it is read', async () => {
    const server = await serveBytes(async (wire) => {
      await wire.write(head(400, { 'Transfer-Encoding': 'chunked' }));
      for (let sent = 0; sent < 1000; sent += 1) await wire.write(httpChunk('word '.repeat(5000)));
    });
    const run = await new Sandbox().run(['hi'], { env: named(server.url) });
    expectFailure(run, 7, /word …|word…|wor…|wo…|w…/);
    const quoted = /status 400: (.*)\)\n/.exec(run.stderr)?.[1] ?? '';
    expect(quoted.length).toBeGreaterThan(450);
    expect(quoted.length).toBeLessThanOrEqual(500);
  });

  it('that hangs does not hide its status for longer than the timeout', async () => {
    const server = await serveBytes((wire) =>
      wire.write(`${head(403, { 'Content-Length': 100 })}{"message":`),
    );
    const run = await new Sandbox().run(['hi', '--timeout', '0.3'], { env: named(server.url) });
    expectFailure(run, 3, /status 403/);
  });
});

describe('Ctrl-C', () => {
  it('while the words of an error drip is an interruption, not that error', async () => {
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
    ['1', 'tts: interrupted; 1 of 2 segments are kept\nhint: the same command goes on with the others\n'],
    ['0', /^tts: interrupted; nothing is kept\nhint: what this voice speaks is not kept; .*\n$/],
  ])('in the middle of a text is told with what is kept: cache %s', async (TTS_CACHE, message) => {
    const server = await serveBytes(inTurn(complete(wav), silent));
    const box = new Sandbox();
    const args = ['One.\n\nTwo.', '--max-chars', '5', '--concurrency', '1', '-o', 'out.wav'];
    const run = box.start(args, { env: named(server.url, { TTS_CACHE }) });
    await expect.poll(() => server.requests.length).toBe(2);
    const { ended } = await run.endBy('SIGINT');
    expect(ended.status).toBe(130);
    expect(ended.stderr).toMatch(message);
    expect(box.list()).toEqual([]);
  });
});

describe('an error', () => {
  it('is one JSON object on stderr with --json, also with -v', async () => {
    const server = await serveBytes(answer(401, '{"message":"wrong \\"key\\""}'));
    for (const args of [['--json'], ['--json', '-v']]) {
      const run = await new Sandbox().run(['hi', ...args], { env: named(server.url) });
      expect(run.status).toBe(3);
      expect(run.stderr.split('\n')).toHaveLength(2);
      const { error } = JSON.parse(run.stderr);
      expect(error.message).toContain('wrong "key"');
      expect(error.exitCode).toBe(3);
      expect(error.hint).toMatch(/TTS_API_KEY/);
      expect(run.stderr).not.toContain(KEY);
    }
  });

  it('is in JSON or in words, as was said last', async () => {
    const box = new Sandbox();
    const inWords = await box.run(['--json', '--no-json', '-f', 'nofile']);
    expectFailure(inWords, 2, /cannot read nofile/);
    const inJson = await box.run(['--no-json', '--json', '-o', '/', '--', '--no-json']);
    expect(JSON.parse(inJson.stderr).error.exitCode).toBe(8);
  });

  it('in the command line itself is JSON too', async () => {
    const run = await new Sandbox().run(['--json', '--sped', 'hi']);
    expect(run.status).toBe(2);
    expect(JSON.parse(run.stderr).error.message).toMatch(/--sped/);
  });

  it('has a stack trace only with -v', async () => {
    const box = new Sandbox();
    const env = named('http://127.0.0.1:1');
    expect((await box.run(['hi'], { env })).stderr).not.toMatch(/\n\s+at /);
    expect((await box.run(['hi', '-v'], { env })).stderr).toMatch(/\n\s+at /);
  });

  it('is told with -q as well', async () => {
    const run = await new Sandbox().run(['hi', '-q'], { env: named('http://127.0.0.1:1') });
    expectFailure(run, 6, /127\.0\.0\.1:1/);
  });
});

it.each([
  ['speaking-', 'hi'],
  ['main.cjs', 'hi'],
  ['main.cjs', '--version'],
])('A program without %s says that it is not all there.', async (missing, asked) => {
  const box = new Sandbox();
  for (const folder of ['bin', 'dist'])
    cpSync(join(dirname(program), '..', folder), box.path(folder), { recursive: true });
  for (const name of readdirSync(box.path('dist')))
    if (name.startsWith(missing)) rmSync(box.path(join('dist', name)));
  const run = await box.shell(`'${node}' bin/tts.cjs ${asked}`);
  expectFailure(
    run,
    1,
    /^tts: the program cannot be loaded: .+\nhint: install it again, or npm run build\n$/,
  );
  expect(run.stderr).toContain(missing);
});
