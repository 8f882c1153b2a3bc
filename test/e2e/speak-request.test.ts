import { describe, expect, it } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { epubOf } from '../support/epub.ts';
import { answer, complete, head, inTurn } from '../support/http-bytes.ts';
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
    const text = 'hello';
    const speaker_no = 7;
    expect(await bodyOf([text, '--stream'])).toEqual({
      text,
      speaker_no,
      config: { use_streaming_response: true },
    });
    expect(await bodyOf([text, '--no-stream'])).toEqual({
      text,
      speaker_no,
      config: { use_streaming_response: false },
    });
    expect(await bodyOf([text, '-r', '16000'])).toEqual({
      text,
      speaker_no,
      config: { sample_rate: 16_000 },
    });
    const odd = 'Ünïcödé “quotes” \\ backslash\ttab 你好 👩‍👩‍👧 and a <tag> & more';
    expect(await bodyOf([odd, '-i', odd])).toEqual({ text: odd, speaker_no, config: { instructions: odd } });
    for (const no of [-1, -181, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER])
      expect(await bodyOf([text, '-s', String(no)])).toEqual({ text, speaker_no: no });
    const callback_url = 'https://example.com/done?id=1';
    expect(await bodyOf([text, '--callback-url', callback_url])).toEqual({ text, speaker_no, callback_url });
    const all = await bodyOf([text, '-s0', '--stream', '-r8000', '-ix', '--callback-url', callback_url]);
    expect(all).toEqual({
      text,
      speaker_no: 0,
      config: { use_streaming_response: true, sample_rate: 8000, instructions: 'x' },
      callback_url,
    });
  });

  it.each([
    [{ TTS_STREAM: '1' }, true],
    [{ TTS_STREAM: 'true' }, true],
    [{ TTS_STREAM: '0' }, false],
    [{ TTS_STREAM: 'off' }, false],
  ])('takes whether to stream from the environment: %o', async (env, use_streaming_response) => {
    expect(await bodyOf(['hi'], env)).toMatchObject({ config: { use_streaming_response } });
  });

  it.each([
    ['/api', '/api/tts'],
    ['/api/', '/api/tts'],
    ['/a/b//', '/a/b/tts'],
    ['/', '/tts'],
    ['/api%20v1', '/api%20v1/tts'],
  ])('keeps the path of a base URL that ends in %s', async (path, expected) => {
    const { requests } = await requestsOf(['hi'], {}, path);
    expect(requests.map((request) => request.path)).toEqual([expected]);
  });

  it('explains a base URL that ends in /tts when the service answers 404', async () => {
    const server = await serveBytes(answer(404, '{"detail":"Not Found"}'));
    const run = await new Sandbox().run(['hi', '-o', 'out.wav'], { env: named(`${server.url}/api/tts`) });
    expectFailure(run, 7, /\/api\/tts\/tts.*Not Found/);
    expect(run.stderr).toMatch(/hint: the base URL ends in \/tts already/);
    expect(server.requests[0]?.path).toBe('/api/tts/tts');
  });

  it('reads a base URL that ends in /tts as it stands where the service is there', async () => {
    const { requests } = await requestsOf(['hi'], {}, '/tts');
    expect(requests.map(({ path }) => path)).toEqual(['/tts/tts']);
  });

  it.each([
    'ftp://example.com',
    'example.com',
    'https://user:pass@example.com',
    'https://example.com/?a=b',
    'https://example.com/#x',
  ])('refuses the base URL %s before anything is sent', async (url) => {
    const run = await new Sandbox().run(['hi', '-o', 'out.wav'], { env: named(url) });
    expectFailure(run, 2, /TTS_BASE_URL must be a URL/);
  });
});

describe('a callback URL', () => {
  const args = ['hi', '-o', 'out.wav', '--callback-url', 'https://example.com/done'];

  it.each([
    ['202 with JSON', answer(202, '{"id":"x"}', { 'Content-Type': 'application/json' })],
    ['204', answer(204)],
    ['200 with nothing', answer(200)],
  ])('makes %s a success that says where the audio goes, and no file', async (_, script) => {
    const server = await serveBytes(script);
    const box = new Sandbox();
    box.file('out.wav', 'old');
    const run = await box.run(args, { env: named(server.url) });
    expect(run.status).toBe(0);
    expect(run.stdout).toHaveLength(0);
    expect(run.stderr).toBe(
      'tts: out.wav is not written: the service sends the audio to https://example.com/done\n',
    );
    expect(box.read('out.wav').toString()).toBe('old');
    expect(box.list()).toEqual(['out.wav']);
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

  it('is told of where an answer that broke off is followed by one without audio', async () => {
    const torn: Script = async (wire) => {
      await wire.write(head(200, { 'Content-Type': 'audio/wav', 'Content-Length': wav.length }));
      await wire.write(wav.subarray(0, -2));
      wire.end();
    };
    const server = await serveBytes(inTurn(torn, answer(202)));
    const box = new Sandbox();
    const run = await box.run(args, { env: named(server.url, { TTS_RETRIES: '1' }) });
    expectFailure(run, 7, /broke off, and on retry it sends the audio elsewhere/);
    expect(box.list()).toEqual([]);
  });

  it('leaves audio in the answer to be handled as always', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    const run = await box.run(args, { env: named(server.url) });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('out.wav')).toEqual(wav);
  });

  it('sends a long text as one request, unsplit', async () => {
    const server = await serveBytes(answer(202));
    const text = 'A sentence of some length, over and over again. '.repeat(200).trim();
    const run = await new Sandbox().run(['--callback-url', 'https://example.com/done'], {
      env: named(server.url),
      stdin: text,
    });
    expect(run.status).toBe(0);
    expect(server.requests.map(({ json }) => json)).toMatchObject([{ text }]);
  });

  it.each([
    [[], 'One.\n\nTwo.\n\nThree.'],
    [['--chapters', '2-3'], 'Two.\n\nThree.'],
  ])('sends a book as one request with all its chapters: %j', async (options, text) => {
    const server = await serveBytes(answer(202));
    const box = new Sandbox();
    const names = ['One', 'Two', 'Three'];
    const documents = Object.fromEntries(names.map((name) => [`${name}.xhtml`, `<p>${name}.</p>`]));
    const nav = names.map((name) => `<li><a href="${name}.xhtml">${name}</a></li>`).join('');
    box.file('novel.epub', epubOf({ documents, nav }));
    const run = await box.run(
      ['-f', 'novel.epub', ...options, '--callback-url', 'https://example.com/done'],
      { env: named(server.url) },
    );
    expect(run.status).toBe(0);
    expect(server.requests.map(({ json }) => json)).toMatchObject([{ text }]);
  });

  it('waits for the end of a text that is still being written', async () => {
    const server = await serveBytes(answer(202));
    const written = '(echo "One sentence. Two sentences."; sleep 0.8; echo "And a third one.")';
    const run = await new Sandbox().shell(`${written} | tts --callback-url https://example.com/done`, {
      env: named(server.url),
    });
    expect(run.status).toBe(0);
    const text = 'One sentence. Two sentences.\nAnd a third one.';
    expect(server.requests.map(({ json }) => json)).toMatchObject([{ text }]);
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
