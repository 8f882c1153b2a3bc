import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { complete } from '../support/http-bytes.ts';
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

  it.each(['/tts', '/tts/'])('leaves out %s, which is added to a base URL, and says so', async (end) => {
    const box = new Sandbox();
    const run = await login(box, `${URL_}${end}`);
    expect(run.stderr).toContain(`the base URL is ${URL_}: /tts is added to it`);
    expect(keysIn(box)).toEqual({ [URL_]: KEY });
    expect((await box.run(['logout', `${URL_}${end}`])).stderr).toContain(`the key for ${URL_} is removed`);
  });

  it('names the keys of the same host to a run that has none for its base URL', async () => {
    const box = new Sandbox();
    await login(box, URL_);
    const run = await box.run(['hi', '-s', '1', '--base-url', 'https://tts.example.com/v2', '-o', 'a.wav']);
    expectFailure(
      run,
      3,
      /no key for https:\/\/tts\.example\.com\/v2\nhint: a key is stored for https:\/\/tts\.example\.com\/api:/,
    );
  });

  it('loses no key where six run at once', async () => {
    const box = new Sandbox();
    const urls = Array.from({ length: 6 }, (_, i) => `https://tts${i}.example.com/`);
    const runs = await Promise.all(
      urls.map((url) => box.tts(['login', url], { stdin: `${KEY}-${new URL(url).host}\n` })),
    );
    expect(runs.map(({ status }) => status)).toEqual(urls.map(() => 0));
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

  it('keeps a link to the file of keys', async () => {
    const box = new Sandbox();
    const real = box.file('secrets/tts.json', '');
    box.file('../.config/tts/.keep');
    symlinkSync(real, keysFile(box));
    expect((await login(box, URL_)).status).toBe(0);
    expect(JSON.parse(box.read('secrets/tts.json').toString())).toEqual({ [URL_]: KEY });
  });

  it('gives a key also to a run with a config of its own, unless that brings one', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    await login(box, server.url);
    for (const own of [{}, { apiKey: 'own-key-of-a-file' }]) {
      box.file('my.json', JSON.stringify({ baseUrl: server.url, speaker: 1, ...own }));
      const run = await box.run(['hi', '-o', 'out.wav', '--no-cache', '--config', 'my.json']);
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

  it('lets a project name that base URL, since its owner has named it too', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    await login(box, server.url);
    box.file('.ttsrc', `baseUrl: ${server.url}\nspeaker: 1\n`);
    expect(await box.run(['hi', '-o', 'out.wav'])).toMatchObject({ status: 0 });
  });

  it('gives way to a key in the environment, and goes before one for any service in the same file', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    writeUserConfig(box, { apiKey: 'for-any', baseUrl: server.url, speaker: 1 });
    await login(box, server.url);
    await box.run(['hi', '-o', 'out.wav', '--no-cache']);
    await box.run(['hi', '-o', 'out.wav', '--no-cache'], { env: { TTS_API_KEY: 'from-env' } });
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

  it('leaves the built-in voice in charge where no base URL is set', async () => {
    const box = new Sandbox();
    await login(box, URL_);
    expect(await box.run(['hi', '-o', 'out.wav'])).toMatchObject({ status: 0 });
  });

  it.each([
    ['nothing', '', /no key was given/],
    ['two lines', 'a\nb\n', /stdin holds no valid API key/],
    ['no end', 'x'.repeat(100_000), /too long/],
  ])('refuses %s', async (_, stdin, message) => {
    const box = new Sandbox();
    expectFailure(await box.run(['login', URL_], { stdin }), 2, message);
    expect(readdirSync(box.home)).toEqual(['work']);
  });

  it('tells where there are keys to whoever forgets one without saying which', async () => {
    const box = new Sandbox();
    await box.run(['login', URL_], { stdin: KEY });
    expectFailure(
      await box.run(['logout']),
      2,
      new RegExp(`no base URL is set\n.*keys are stored for ${URL_}`),
    );
  });

  it('wants a base URL, and not one that only a project has named', async () => {
    const box = new Sandbox();
    expectFailure(await box.run(['login'], { stdin: KEY }), 2, /no base URL is set/);
    expectFailure(
      await box.run(['login', 'example.com'], { stdin: KEY }),
      2,
      /tts login takes a base URL, .*; expected .*https:\/\/.*/,
    );
    box.file('.ttsrc', 'baseUrl: https://evil.example\n');
    expectFailure(await box.run(['login'], { stdin: KEY }), 2, /only named by baseUrl in/);
  });

  it.each([
    ['after the base URL', [URL_, KEY]],
    ['in its place', [KEY]],
    ['next to the option for it', [KEY, '--base-url', URL_]],
    ['as a URL', [`key:${KEY}`]],
    ['that looks like an option', [URL_, `-${KEY}`]],
    ['that looks like an option with a value', [URL_, `--${KEY}==`]],
  ])('never shows a key that is typed in the wrong place: %s', async (_, args) => {
    for (const command of ['login', 'logout'])
      for (const more of [[], ['--json']]) {
        const run = await new Sandbox().run([command, ...args, ...more], { stdin: '' });
        expect(run.status).toBe(2);
        expect(`${run.stdout}${run.stderr}`).not.toContain(KEY);
        expect(run.stderr).toContain('tts login URL < key-file');
      }
  });

  it('names an option that is mistyped', async () => {
    expectFailure(
      await new Sandbox().run(['login', '--base-ulr', URL_]),
      2,
      /'--base-ulr'\nhint: did you mean/,
    );
  });

  it.each([
    [{ 'sk-very-secret-12345': URL_ }, /^tts: keys in .* has a name that is not a URL/],
    [{ 'https://me:pa55word@x.example/?a': 'k' }, /^tts: keys in .* has a name that is not a URL/],
    [{ [URL_]: '' }, /has a value that is not a key: store it with tts login/],
  ])('tells no secret where keys and addresses are mixed up: %j', async (keys, message) => {
    const box = new Sandbox();
    box.file('my.json', JSON.stringify({ keys }));
    const run = await box.run(['hi', '--config', 'my.json']);
    expectFailure(run, 2, message);
    expect(run.stderr).not.toMatch(/12345|pa55word/);
  });

  it('puts no key into a pipe, and waits for none', async () => {
    const box = new Sandbox();
    mkdirSync(dirname(keysFile(box)), { recursive: true });
    execFileSync('mkfifo', [keysFile(box)]);
    expectFailure(await box.run(['login', URL_], { stdin: KEY }), 2, /no key can be kept in .*keys\.json/);
  });

  it('does not let a project bring keys', async () => {
    const box = new Sandbox();
    box.file('.ttsrc.json', JSON.stringify({ keys: { [URL_]: KEY } }));
    const run = await box.run(['hi']);
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
    await box.run(['logout', 'https://b.example']);
    expect(keysIn(box)).toEqual({});
  });
});

describe('a config file that holds a key', () => {
  it.each([
    ['apiKey', { apiKey: KEY, baseUrl: 'http://127.0.0.1:9' }],
    ['keys', { keys: { 'http://127.0.0.1:9': KEY }, baseUrl: 'http://127.0.0.1:9' }],
    ['engines', { engines: { own: { url: 'http://127.0.0.1:9', key: KEY } } }],
  ])('and can be read by others gets a warning: %s', async (_, config) => {
    const box = new Sandbox();
    const path = writeUserConfig(box, { ...config, retries: 0, speaker: 1 }, { mode: 0o644 });
    const warning = /warning: .*config\.json holds a key and can be read by others: chmod 600/;
    expect((await box.run(['hi', '-o', 'out.wav'])).stderr).toMatch(warning);
    chmodSync(path, 0o600);
    expect((await box.run(['hi', '-o', 'out.wav'])).stderr).not.toMatch(warning);
  });
});

/** `script` of util-linux gives a terminal. */
function hasScript(): boolean {
  try {
    return execFileSync('script', ['--version']).toString().includes('util-linux');
  } catch {
    return false;
  }
}

describe.skipIf(!hasScript())('at a terminal (skipped without the script of util-linux)', () => {
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

  it.each(['\x04', 'abc\x04'])('takes the end of the input for no key: %j', async (keys) => {
    const box = new Sandbox();
    const screen = stripVTControlCharacters(await type(box, keys));
    expect(screen).toMatch(/tts: no key was given\r\nhint: type it at the terminal, .*\r\nstatus 2/);
    expect(readdirSync(box.home)).toEqual(['work']);
  });

  it('ends with 130 on Ctrl-C, and leaves the terminal as it was', async () => {
    const box = new Sandbox();
    expect(await type(box, 'abc\x03')).toContain('status 130');
    expect(readdirSync(box.home)).toEqual(['work']);
  });
});
