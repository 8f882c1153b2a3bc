import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { complete } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { expectFailure, KEY, Sandbox } from '../support/run.ts';
import { userConfig, writeUserConfig } from '../support/user-config.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const URL_ = 'https://tts.example.com/api';
const wav = plainWav(sound(50));

const keysFile = (box: Sandbox) => userConfig(box, 'keys.json');
const keysIn = (box: Sandbox) => JSON.parse(readFileSync(keysFile(box), 'utf8'));
const login = (box: Sandbox, url: string, key = KEY) => box.run(['login', url], { stdin: `${key}\n` });

describe('tts login', () => {
  it('stores what comes from stdin for that base URL, for its owner alone, and never shows it', async () => {
    const box = new Sandbox();
    const run = await login(box, `${URL_}/`);
    expect(run.status).toBe(0);
    expect(`${run.stdout}${run.stderr}`).not.toContain(KEY);
    expect(keysIn(box)).toEqual({ [URL_]: KEY });
    expect(statSync(keysFile(box)).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(box.home, '.config', 'tts'))).toEqual(['keys.json']);
  });

  it('leaves out /tts, which is added to a base URL, and says so', async () => {
    const box = new Sandbox();
    expect((await login(box, `${URL_}/tts/`)).stderr).toContain(
      `the base URL is ${URL_}: /tts is added to it`,
    );
    expect(keysIn(box)).toEqual({ [URL_]: KEY });
    expect((await box.run(`logout ${URL_}/tts`)).stderr).toContain(`the key for ${URL_} is removed`);
  });

  it('loses no key where four run at once', async () => {
    const box = new Sandbox();
    const urls = Array.from({ length: 4 }, (_, i) => `https://tts${i}.example.com/`);
    const runs = urls.map((url) => box.tts(['login', url], { stdin: `${KEY}\n` }));
    expect((await Promise.all(runs)).map(({ status }) => status)).toEqual([0, 0, 0, 0]);
    expect(Object.keys(keysIn(box)).sort()).toEqual(urls);
    expect(readdirSync(join(box.home, '.config', 'tts'))).toEqual(['keys.json']);
  });

  it('tells with --json what was done, as does tts logout', async () => {
    const box = new Sandbox();
    const told = async (command: string) => {
      const run = await box.run([command, `${URL_}/`, '--json'], { stdin: KEY });
      expect(run).toMatchObject({ status: 0, stderr: '' });
      return JSON.parse(run.stdout.toString());
    };
    const where = { baseUrl: URL_, file: keysFile(box) };
    expect(await told('login')).toEqual(where);
    expect(await told('logout')).toEqual({ ...where, removed: true });
    expect(await told('logout')).toEqual({ baseUrl: URL_, removed: false });
  });

  it('leaves the config alone, which people share, and replaces the key of the same base URL', async () => {
    const box = new Sandbox();
    const config = `# mine\nretries: 2\nkeys: { ${URL_}: by-hand }\n`;
    const named = box.file('named.yaml', `baseUrl: ${URL_}\n`);
    writeUserConfig(box, config, { name: 'config.yaml', mode: 0o644 });
    writeUserConfig(box, { [`${URL_}/`]: 'old', 'https://b.example': 'b' }, { name: 'keys.json' });
    expect(await box.run(['login', '--config', named], { stdin: KEY })).toMatchObject({ status: 0 });
    expect(keysIn(box)).toEqual({ 'https://b.example': 'b', [URL_]: KEY });
    expect(readFileSync(userConfig(box, 'config.yaml'), 'utf8')).toBe(config);
    expect(box.read('named.yaml').toString()).toBe(`baseUrl: ${URL_}\n`);
    const run = await box.run(['logout', URL_]);
    expect(keysIn(box)).toEqual({ 'https://b.example': 'b' });
    expect(run.stderr).toMatch(
      /the key for .* is removed from .*keys\.json\n.*config\.yaml still holds a key for .*: remove it there\n/,
    );
  });

  it('gives a key also to a run with a config of its own, unless that brings one', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    await login(box, server.url);
    for (const own of [{}, { apiKey: 'own-key-of-a-file' }]) {
      box.file('my.json', JSON.stringify({ baseUrl: server.url, speaker: 1, ...own }));
      const run = await box.run('hi -o out.wav --no-cache --config my.json');
      expect(run).toMatchObject({ status: 0 });
    }
    expect(server.requests.map((request) => request.header('x-api-key'))).toEqual([KEY, 'own-key-of-a-file']);
  });

  it('gives the key to that base URL only', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    await login(box, `${server.url}/api`);
    const speak = (path: string) =>
      box.run(['hi', '-s', '1', '-o', 'out.wav', '--no-cache', '--base-url', server.url + path]);
    expect(await speak('/api')).toMatchObject({ status: 0, stderr: '' });
    expect(await speak('/api/')).toMatchObject({ status: 0, stderr: '' });
    expect(server.requests.map((request) => request.header('x-api-key'))).toEqual([KEY, KEY]);
    expectFailure(await speak('/api/v2'), 3, /no key/);
    expectFailure(await speak('/apix'), 3, /no key/);
    expectFailure(await speak(''), 3, /no key/);
  });

  it('gives way to a key in the environment, and goes before one for any service in the same file', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    writeUserConfig(box, { apiKey: 'for-any', baseUrl: server.url, speaker: 1 });
    await login(box, server.url);
    await box.run('hi -o out.wav --no-cache');
    await box.run('hi -o out.wav --no-cache', { env: { TTS_API_KEY: 'from-env' } });
    expect(server.requests.map((request) => request.header('x-api-key'))).toEqual([KEY, 'from-env']);
  });

  it('says that a key that others could read is not sent, unless that is meant', async () => {
    const warned = (url: string) => new Sandbox().run(['login', url], { stdin: KEY });
    const far = await warned('http://tts.example.com/api');
    expect(far.stderr).toMatch(
      /warning: others could read the key on the way to tts\.example\.com: .*--allow-insecure-http/,
    );
    for (const url of ['https://tts.example.com/api', 'http://127.0.0.1:9'])
      expect((await warned(url)).stderr).not.toContain('warning');
  });

  it('refuses what is no key, and keeps nothing', async () => {
    for (const [stdin, message] of [
      ['', /no key was given/],
      ['a\nb\n', /stdin holds no valid API key/],
      ['x'.repeat(100_000), /too long/],
    ] as const) {
      const box = new Sandbox();
      expectFailure(await box.run(['login', URL_], { stdin }), 2, message);
      expect(readdirSync(box.home)).toEqual(['work']);
    }
  });

  it('wants a base URL, and not one that only a project has named', async () => {
    const box = new Sandbox();
    expectFailure(await box.run('login', { stdin: KEY }), 2, /no base URL is set/);
    expectFailure(
      await box.run('login example.com', { stdin: KEY }),
      2,
      /tts login takes a base URL, .*; expected .*https:\/\/.*/,
    );
    box.file('.ttsrc', 'baseUrl: https://evil.example\n');
    expectFailure(await box.run('login', { stdin: KEY }), 2, /only named by baseUrl in/);
  });

  it('never shows a key that is typed in the wrong place', async () => {
    for (const args of [[URL_, KEY], [KEY, '--base-url', URL_], [`key:${KEY}`], [URL_, `--${KEY}==`]])
      for (const line of [
        ['login', ...args],
        ['logout', ...args, '--json'],
      ]) {
        const run = await new Sandbox().run(line, { stdin: '' });
        expect(run.status).toBe(2);
        expect(`${run.stdout}${run.stderr}`).not.toContain(KEY);
        expect(run.stderr).toContain('tts login URL < key-file');
      }
  });

  it.each([
    [{ 'sk-very-secret-12345': URL_ }, /^tts: keys in .* has a name that is not a URL/],
    [{ 'https://me:pa55word@x.example/?a': 'k' }, /^tts: keys in .* has a name that is not a URL/],
    [{ [URL_]: '' }, /has a value that is not a key: store it with tts login/],
  ])('tells no secret where keys and addresses are mixed up: %j', async (keys, message) => {
    const box = new Sandbox();
    box.file('my.json', JSON.stringify({ keys }));
    const run = await box.run('hi --config my.json');
    expectFailure(run, 2, message);
    expect(run.stderr).not.toMatch(/12345|pa55word/);
  });

  it('does not let a project bring keys', async () => {
    const box = new Sandbox();
    box.file('.ttsrc.json', JSON.stringify({ keys: { [URL_]: KEY } }));
    const run = await box.run('hi');
    expectFailure(run, 2, /keys may not be set in/);
    expect(run.stderr).not.toContain(KEY);
  });
});

describe('tts logout', () => {
  it('removes that key only, and says when there is none', async () => {
    const box = new Sandbox();
    await login(box, URL_);
    await login(box, 'https://b.example', 'other-key');
    expect((await box.run(['logout', URL_])).status).toBe(0);
    expect(keysIn(box)).toEqual({ 'https://b.example/': 'other-key' });
    expect((await box.run(['logout', URL_])).stderr).toMatch(
      /no key is stored for .*; there are keys for https:\/\/b\.example\/\n/,
    );
    await box.run('logout https://b.example');
    expect(keysIn(box)).toEqual({});
  });
});

describe.skipIf(!isThere('script'))('at a terminal (skipped without script)', () => {
  /** Types once the question is there. */
  async function type(box: Sandbox, keys: string) {
    const line = `stty -a > before; tts login ${URL_}; echo "status $?"; stty -a > after`;
    const running = box.startShell(`script -qec '${line}' typescript`, { stdin: 'open' });
    while (!running.stdout.readableEnded) {
      const [piece] = await once(running.stdout, 'data');
      if (String(piece).includes('Key for')) break;
    }
    running.stdin.write(keys);
    const { stdout } = await running.ended;
    expect(box.read('after').equals(box.read('before'))).toBe(true);
    return stdout.toString();
  }

  it('asks without showing what is typed, and knows Backspace', async () => {
    const box = new Sandbox();
    const screen = await type(box, 'secret-ky\x7fey\r');
    expect(screen).toContain('status 0');
    expect(screen).not.toMatch(/secret|ey\r/);
    expect(keysIn(box)).toEqual({ [URL_]: 'secret-key' });
  });

  it('takes the end of the input for no key', async () => {
    const box = new Sandbox();
    const screen = stripVTControlCharacters(await type(box, '\x04'));
    expect(screen).toMatch(/tts: no key was given\r\nhint: type it at the terminal, .*\r\nstatus 2/);
    expect(readdirSync(box.home)).toEqual(['work']);
  });

  it('ends with 130 on Ctrl-C, and leaves the terminal as it was', async () => {
    const box = new Sandbox();
    expect(await type(box, 'abc\x03')).toContain('status 130');
    expect(readdirSync(box.home)).toEqual(['work']);
  });
});
