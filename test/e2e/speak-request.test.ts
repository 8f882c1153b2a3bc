import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { epubOf } from '../support/epub.ts';
import { answer, complete, head } from '../support/http-bytes.ts';
import { machineWith } from '../support/machine.ts';
import { expectFailure, KEY, named, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(200));

/** The requests that a run makes. */
async function requestsOf(args: readonly string[], env: Record<string, string> = {}, path = '') {
  const server = await serveBytes(complete(wav));
  const run = await new Sandbox().run([...args, '-o', 'out.wav'], {
    env: named(server.url + path, env),
  });
  expect(run).toMatchObject({ status: 0, stderr: '' });
  return server;
}

async function bodyOf(args: readonly string[], env: Record<string, string> = {}): Promise<unknown> {
  const { requests } = await requestsOf(args, env);
  expect(requests).toHaveLength(1);
  return requests[0]?.json;
}

describe('the request', () => {
  it('is POST {base_url}/tts with the key, the type of its body, and no header that says more', async () => {
    const { requests, port } = await requestsOf(['hello', 'world']);
    expect(requests).toHaveLength(1);
    const [{ method, path, headers, body } = requests[0] as (typeof requests)[0]] = requests;
    expect({ method, path, body: body.toString() }).toEqual({
      method: 'POST',
      path: '/tts',
      body: '{"text":"hello world","speaker_no":7}',
    });
    const meaning = headers.filter(([name]) => name.toLowerCase() !== 'connection');
    expect(Object.fromEntries(meaning)).toEqual({
      host: `127.0.0.1:${port}`,
      'X-API-KEY': KEY,
      'Content-Type': 'application/json',
      'content-length': String(body.length),
    });
  });

  it('holds a field only where somebody set it, and then exactly as it was set', async () => {
    const odd = 'Ünïcödé “quotes” \\ backslash\ttab 你好 👩‍👩‍👧 and a <tag> & more';
    const hi = { text: 'hi', speaker_no: 7 };
    const callback_url = 'https://example.com/done?id=1';
    for (const [args, body, env] of [
      [['hi', '--stream'], { ...hi, config: { use_streaming_response: true } }],
      [['hi', '--no-stream'], { ...hi, config: { use_streaming_response: false } }],
      [['hi'], { ...hi, config: { use_streaming_response: false } }, { TTS_STREAM: 'off' }],
      [['hi', '-r', '16000'], { ...hi, config: { sample_rate: 16_000 } }],
      [[odd, '-i', odd], { text: odd, speaker_no: 7, config: { instructions: odd } }],
      [['hi', '-s', `${Number.MIN_SAFE_INTEGER}`], { text: 'hi', speaker_no: Number.MIN_SAFE_INTEGER }],
      [['hi', '-s0', '--callback-url', callback_url], { text: 'hi', speaker_no: 0, callback_url }],
    ] as const)
      expect(await bodyOf(args, env)).toEqual(body);
  });

  it('keeps the path of a base URL', async () => {
    for (const [path, expected] of [
      ['/api/', '/api/tts'],
      ['/a/b//', '/a/b/tts'],
      ['/api%20v1', '/api%20v1/tts'],
    ] as const) {
      const { requests } = await requestsOf(['hi'], {}, path);
      expect(requests.map((request) => request.path)).toEqual([expected]);
    }
  });

  it('explains a base URL that ends in /tts when the service answers 404', async () => {
    const server = await serveBytes(answer(404, '{"detail":"Not Found; there are /tts and /speakers"}'));
    const run = await new Sandbox().run('hi -o out.wav', { env: named(`${server.url}/api/tts`) });
    expectFailure(run, 7, /there is nothing at .*\/api\/tts\/tts.*Not Found/);
    expect(run.stderr).toMatch(/hint: the base URL ends in \/tts already/);
    expect(server.requests[0]?.path).toBe('/api/tts/tts');
  });

  it('goes to no base URL but a complete one of http', async () => {
    for (const url of [
      'ftp://example.com',
      'example.com',
      'https://user:pass@example.com',
      'https://a.example/?a',
    ]) {
      const run = await new Sandbox().run('hi -o out.wav', { env: named(url) });
      expectFailure(run, 2, /TTS_BASE_URL must be a URL/);
    }
  });
});

describe('a callback URL', () => {
  const args = ['hi', '-o', 'out.wav', '--callback-url', 'https://example.com/done'];

  it('makes a 202, and any 2xx without audio, a success that says where the audio goes, and no file', async () => {
    for (const script of [answer(202, '{"id":"x"}', { 'Content-Type': 'application/json' }), answer(200)]) {
      const { box, run } = await machineWith(script);
      box.file('out.wav', 'old');
      expect(await run(args)).toMatchObject({
        status: 0,
        stdout: Buffer.alloc(0),
        stderr: 'tts: out.wav is not written: the service sends the audio to https://example.com/done\n',
      });
      expect(box.read('out.wav').toString()).toBe('old');
      expect(box.list()).toEqual(['out.wav']);
    }
  });

  it('is told without its password', async () => {
    const server = await serveBytes(answer(202));
    const url = 'https://me:s3cr3t@example.com/done?job=42';
    const run = await new Sandbox().run(['hi', '--callback-url', url], { env: named(server.url) });
    expect(run.stderr).toBe('tts: the service sends the audio to https://me:***@example.com/done?job=42\n');
    expect(server.requests[0]?.json).toMatchObject({ callback_url: url });
  });

  const cut = head(202, { 'Content-Length': 60 });
  it.each([
    ['breaks off in its words', `${cut}{"request_id":"abc","status"`, true],
    ['stalls before them', cut, false],
  ])('is asked for once where a 202 %s: it was accepted', async (_, bytes, ends) => {
    const server = await serveBytes(async (wire) => {
      await wire.write(bytes);
      if (ends) wire.end();
    });
    const run = await new Sandbox().run([...args, '--timeout', '1'], { env: named(server.url) });
    expect(run.status).toBe(0);
    expect(server.requests).toHaveLength(1);
  });

  it('needs no place for a sound, as long as none comes', async () => {
    const line = 'tts hi --callback-url https://example.com/done >&-';
    const accepted = await serveBytes(answer(202));
    const run = await new Sandbox().shell(line, { env: named(accepted.url) });
    expect(run).toMatchObject({ status: 0, stderr: expect.stringContaining('https://example.com/done') });
    const spoken = await serveBytes(complete(wav));
    expectFailure(await new Sandbox().shell(line, { env: named(spoken.url) }), 8, /stdout/);
    const played = `${line.replace('>&-', '')} --play --player nosuch`;
    expectFailure(await new Sandbox().shell(played, { env: named(spoken.url) }), 8, /nosuch/);
    expect(spoken.requests).toHaveLength(1);
  });

  it('leaves audio in the answer to be handled as always', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    const run = await box.run(args, { env: named(server.url) });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('out.wav')).toEqual(wav);
  });

  it('sends a long text, or a book with its chapters, as one request, unsplit', async () => {
    const { box, run, texts } = await machineWith(answer(202));
    const text = 'A sentence of some length, over and over again. '.repeat(200).trim();
    expect(await run('--callback-url https://example.com/done', { stdin: text })).toMatchObject({
      status: 0,
    });
    const names = ['One', 'Two', 'Three'];
    const documents = Object.fromEntries(names.map((name) => [`${name}.xhtml`, `<p>${name}.</p>`]));
    const nav = names.map((name) => `<li><a href="${name}.xhtml">${name}</a></li>`).join('');
    box.file('novel.epub', epubOf({ documents, nav }));
    for (const line of ['-f novel.epub', '-f novel.epub --chapters 2-3'])
      expect((await run(`${line} --callback-url https://example.com/done`)).status).toBe(0);
    expect(texts()).toEqual([text, 'One.\n\nTwo.\n\nThree.', 'Two.\n\nThree.']);
  });

  it('does not make a refusal or a broken WAV a success', async () => {
    const refusing = await serveBytes(answer(422, '{"message":"no such speaker"}'));
    expectFailure(await new Sandbox().run(args, { env: named(refusing.url) }), 7, /no such speaker/);
    const breaking = await serveBytes(complete(wav.subarray(0, 100)));
    expectFailure(await new Sandbox().run(args, { env: named(breaking.url) }), 7, /broke off/);
  });

  it.each(['', 'example.com', 'ftp://example.com/x'])('is refused where it is %j', async (url) => {
    const server = await serveBytes(complete(wav));
    const run = await new Sandbox().run(['hi', '--callback-url', url], { env: named(server.url) });
    expectFailure(run, 2, /--callback-url/);
    expect(server.requests).toHaveLength(0);
  });
});
