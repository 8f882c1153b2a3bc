import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { answer, complete } from '../support/http-bytes.ts';
import { startProxy } from '../support/proxy.ts';
import { type Ended, expectFailure, KEY, named, Sandbox } from '../support/run.ts';
import { writeUserConfig } from '../support/user-config.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(200));
/** Nobody answers there; a run that gets so far as to try ends with 6. */
const PUBLIC = 'https://speech.invalid/api';
const NOWHERE = 'http://127.0.0.1:1';
const key = { TTS_API_KEY: KEY };

interface Setup {
  readonly project?: unknown;
  readonly user?: unknown;
  readonly env?: Record<string, string>;
  readonly args?: readonly string[];
}

function run({ project, user, env = {}, args = [] }: Setup, box = new Sandbox()): Promise<Ended> {
  if (project) box.file('.ttsrc.json', JSON.stringify(project));
  if (user) writeUserConfig(box, user);
  return box.run(['hi', '-s', '1', '-o', 'out.wav', '--retries', '0', '--no-cache', ...args], { env });
}

/** A service with its key in a file. */
function withKeyFile(url: string, file: string): Record<string, string> {
  const { TTS_API_KEY: _, ...env } = named(url, { TTS_API_KEY_FILE: file });
  return env;
}

describe('a base URL that a project names', () => {
  const project = { baseUrl: PUBLIC };

  it.each<[string, Setup]>([
    ['the environment', { env: key }],
    ['an option', { args: ['--api-key', KEY] }],
    ['the user config', { user: { apiKey: KEY } }],
  ])('gets no key from %s, and the message says how to allow it', async (_, setup) => {
    const refused = await run({ project, ...setup });
    expectFailure(refused, 2, /key .* is not sent to https:\/\/speech\.invalid\/api/);
    expect(refused.stderr).toMatch(/hint: .*"trustedBaseUrls": \["https:\/\/speech\.invalid\/api"\]/);
    expect(refused.stderr).not.toContain(KEY);
  });

  it('gets the key of the project itself, with a note of where the text goes, but not with -q', async () => {
    const setup = { project: { ...project, apiKey: KEY, speakers: { anna: 1 } } };
    const noted = await run(setup);
    expect(noted.stderr).toMatch(
      /^tts: the text goes to speech\.invalid, as set by baseUrl in .*\.ttsrc\.json\n/,
    );
    expect(noted.status).toBe(6);
    expectFailure(await run({ ...setup, args: ['-q'] }), 6, /speech\.invalid/);
  });

  it('is told of too where the user names it, and a project the key', async () => {
    const note = /^tts: the text goes to speech\.invalid with the key from apiKey in .*\.ttsrc\.json\n/;
    expect((await run({ project: { apiKey: KEY }, user: { baseUrl: PUBLIC } })).stderr).toMatch(note);
    expectFailure(await run({ user: { apiKey: KEY, baseUrl: PUBLIC } }), 6, /speech\.invalid/);
  });

  it.each([
    [PUBLIC, 6],
    ['https://speech.invalid/', 6],
    ['https://SPEECH.invalid:443/api/', 6],
    ['https://speech.invalid/ap', 2],
    ['https://speech.invalid/api/v2', 2],
    ['http://speech.invalid/api', 2],
    ['https://speech.invalid:8443/api', 2],
    ['https://invalid/api', 2],
    ['https://x.speech.invalid/api', 2],
  ])('gets a key only where what the user trusts holds it: %s', async (trusted, status) => {
    const { status: ended } = await run({ project, env: key, user: { trustedBaseUrls: [trusted] } });
    expect(ended).toBe(status);
  });

  it.each(['..%2fevil', '%2E%2E%5Cevil', '..;/evil'])('gets no key through a step up: %s', async (step) => {
    const setup = { project: { baseUrl: `${PUBLIC}/${step}` }, user: { trustedBaseUrls: [PUBLIC] } };
    expectFailure(await run({ ...setup, env: key }), 2, /is not sent/);
  });

  it('is reached directly where it is on this machine, which for a proxy is another', async () => {
    const server = await serveBytes(complete(wav));
    const proxy = await startProxy();
    const own = { baseUrl: server.url, apiKey: KEY };
    expect(await run({ project: own, env: { HTTP_PROXY: proxy.url } })).toMatchObject({ status: 0 });
    expect([server.requests.length, proxy.asked.length]).toEqual([1, 0]);
  });

  it.each(['127.0.0.1', 'localhost', 'evil.localhost'])(
    'gets no key of the user even on this machine, where others may listen: %s',
    async (host) => {
      const server = await serveBytes(complete(wav));
      const baseUrl = `http://${host}:${server.port}`;
      const refused = await run({ project: { baseUrl }, env: key });
      expectFailure(refused, 2, /is not sent.*\nhint: .*trustedBaseUrls/);
      expect(server.requests).toEqual([]);
      if (host === 'evil.localhost') return;
      const user = { trustedBaseUrls: [baseUrl] };
      expect(await run({ project: { baseUrl }, user, env: key })).toMatchObject({ status: 0 });
      expect(await run({ project: { baseUrl, apiKey: 'theirs' } })).toMatchObject({ status: 0 });
      expect(server.requests.map((request) => request.header('X-API-KEY'))).toEqual([KEY, 'theirs']);
    },
  );

  it.each<[string, Setup]>([
    ['the environment', { env: { ...key, TTS_BASE_URL: PUBLIC } }],
    ['an option', { env: key, args: ['--base-url', PUBLIC] }],
  ])('gets any key where %s names it too', async (_, setup) => {
    expectFailure(await run({ project, ...setup }), 6, /speech\.invalid/);
  });
});

describe('what a project may not say', () => {
  it.each([
    ['trustedBaseUrls', [PUBLIC]],
    ['allowInsecureHttp', true],
    ['cacheSize', '100 KB'],
  ])('is %s', async (name, value) => {
    const refused = await run({ project: { [name]: value }, env: named(PUBLIC) });
    expectFailure(refused, 2, new RegExp(`${name} may not be set in .*ttsrc`));
  });

  it('is a file outside of it that holds a key', async () => {
    const box = new Sandbox();
    writeFileSync(join(box.home, 'secret'), KEY);
    symlinkSync(join(box.home, 'secret'), box.path('link'));
    for (const apiKeyFile of ['../secret', join(box.home, 'secret'), '~/secret', 'link']) {
      const refused = await run({ project: { baseUrl: NOWHERE, apiKeyFile } }, box);
      expectFailure(refused, 2, /apiKeyFile in .* lies outside/);
      expect(refused.stderr).not.toContain(KEY);
    }
    box.file('inside', `${KEY}\n`);
    expect((await run({ project: { baseUrl: NOWHERE, apiKeyFile: 'inside' } }, box)).status).toBe(6);
  });

  it('is a lexicon outside of it: its lines would be sent as text', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    writeFileSync(join(box.home, '.env'), 'hi=s3cr3t\n');
    symlinkSync(join(box.home, '.env'), box.path('link'));
    const project = { baseUrl: server.url, apiKey: 'theirs' };
    const outside = /lexicon in .* lies outside|there is no .* \(lexicon in/;
    for (const lexicon of ['../.env', join(box.home, '.env'), '~/.env', 'link', '/dev/stdin', 'nowhere'])
      expectFailure(await run({ project: { ...project, lexicon } }, box), 2, outside);
    expect(server.requests).toHaveLength(0);
    box.file('names', 'hi=hello\n');
    expect(await run({ project: { ...project, lexicon: 'names' } }, box)).toMatchObject({ status: 0 });
    box.file('slow', 're:/(h+)+i/ = hello\n');
    const slow = await run({ project: { ...project, lexicon: 'slow' } }, box);
    expectFailure(slow, 2, /slow, line 1: a lexicon that the config of a project names may have no regular/);
    const own = { project: { ...project, lexicon: '/etc/passwd' }, args: ['--lexicon', '../.env'] };
    expect(await run(own, box)).toMatchObject({ status: 0 });
    expect(server.requests.map(({ json }) => json)).toMatchObject([{ text: 'hello' }, { text: 's3cr3t' }]);
  });

  it.each(['lexicon', 'apiKeyFile'])('is a pipe as its %s', async (name) => {
    const box = new Sandbox();
    await box.shell('mkfifo pipe');
    const setup = { project: { baseUrl: NOWHERE, [name]: 'pipe' }, args: ['--base-url', NOWHERE] };
    expectFailure(await run(setup, box), 2, /is not a regular file/);
  });

  it('is what the cache holds for a base URL, through a proxy that forges answers', async () => {
    const forger = await serveBytes(complete(plainWav(sound(50))));
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    const env = { TTS_BASE_URL: server.url };
    box.file('project/.ttsrc.json', JSON.stringify({ proxy: forger.url, apiKey: 'theirs' }));
    const words = ['hi', '-s', '1', '-o', 'out.wav'];
    await box.run(words, { env, cwd: 'project' });
    expect(forger.requests).toHaveLength(1);
    expect(await box.run(words, { env: { ...env, ...key } })).toMatchObject({ status: 0 });
    expect(box.read('out.wav')).toEqual(wav);
    expect(server.requests).toHaveLength(1);
  });

  it('is a proxy that would see the key in the clear', async () => {
    const proxy = await startProxy();
    const server = await serveBytes(complete(wav));
    expectFailure(await run({ project: { proxy: proxy.url }, env: named(server.url) }), 2, /proxy/);
    expect(proxy.asked).toEqual([]);
    const overruled = { project: { proxy: NOWHERE }, env: named(server.url), args: ['--proxy', proxy.url] };
    expect(await run(overruled)).toMatchObject({ status: 0 });
  });
});

describe('plain http', () => {
  it.each([
    'http://speech.invalid',
    'http://8.8.8.8',
    'http://172.32.0.1',
    'http://192.169.0.1',
    'http://[2001:db8::1]',
    'http://localhost.example.com',
    'http://10.0.0.1.example.com',
  ])('does not carry a key to %s', async (url) => {
    const refused = await run({ env: named(url) });
    expectFailure(refused, 2, /not sent over plain http.*\nhint: .*--allow-insecure-http/);
  });

  it('carries it where somebody allows that', async () => {
    const env = named('http://speech.invalid');
    expectFailure(await run({ env, args: ['--allow-insecure-http'] }), 6, /speech\.invalid/);
    expectFailure(await run({ env, user: { allowInsecureHttp: true } }), 6, /speech\.invalid/);
  });

  it.each(['http://nobody.local', 'http://printer', 'http://[::1]:1', 'http://127.9.9.9:1'])(
    'carries it within the own network: %s',
    async (url) => {
      expect((await run({ env: named(url), args: ['--timeout', '5'] })).status).toBe(6);
    },
  );
});

describe('the key', () => {
  it('comes from an option, the environment, a file, or config, the strongest first', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    box.file('key-file', Buffer.from('\ufeff  from-file \r\n', 'utf16le'));
    const user = { baseUrl: server.url, apiKey: 'from-user' };
    const env = { TTS_API_KEY: 'from-environment', TTS_API_KEY_FILE: 'key-file' };
    const steps: Setup[] = [
      { user },
      { user: { ...user, apiKey: undefined, apiKeyFile: box.path('key-file') } },
      { user, env: { TTS_API_KEY_FILE: 'key-file' } },
      { user, env: { TTS_API_KEY: 'from-environment' } },
      { user, env, args: ['--api-key', 'from-option'] },
    ];
    for (const step of steps) expect(await run(step, box)).toMatchObject({ status: 0, stderr: '' });
    const keys = ['user', 'file', 'file', 'environment', 'option'].map((place) => `from-${place}`);
    expect(server.requests.map((request) => request.header('x-api-key'))).toEqual(keys);
  });

  it('may come through a pipe, which ends', async () => {
    const server = await serveBytes(complete(wav));
    const { TTS_API_KEY: _, ...env } = named(server.url);
    const box = new Sandbox();
    const piped = await box.shell(`TTS_API_KEY_FILE=<(echo ${KEY}) tts hi -o out.wav`, { env });
    expect(piped).toMatchObject({ status: 0, stderr: '' });
    expect(server.requests[0]?.header('x-api-key')).toBe(KEY);
    const endless = await box.shell('TTS_API_KEY_FILE=<(yes) tts hi', { env });
    expectFailure(endless, 2, /is too long to be a key/);
  });

  it.each([
    ['two words', 2, /TTS_API_KEY holds no valid API key/],
    ['líne', 2, /TTS_API_KEY holds no valid API key/],
    ['a\nb', 2, /TTS_API_KEY holds no valid API key/],
    ['x'.repeat(8193), 2, /key/],
    ['x'.repeat(8192), 6, /127\.0\.0\.1:1/],
  ])('that no header can carry is refused unseen: %j', async (value, status, message) => {
    const refused = await run({ env: { ...named(NOWHERE), TTS_API_KEY: value } });
    expectFailure(refused, status, message);
    expect(refused.stderr).not.toContain(value.slice(0, 20));
  });

  it('is missing where its file is empty or not there, and is no key where it is not text', async () => {
    const box = new Sandbox();
    box.file('empty', '\n');
    for (const [file, message] of [
      ['empty', /there is no key in TTS_API_KEY_FILE/],
      ['nowhere', /key file .*nowhere.*TTS_API_KEY_FILE/],
      ['/dev/zero', /\/dev\/zero is not text/],
    ] as const)
      expectFailure(await box.run(['hi'], { env: withKeyFile(NOWHERE, file) }), 2, message);
  });

  it('that is missing for a service is an error of its own', async () => {
    const env = { TTS_BASE_URL: 'https://example.com', TTS_SPEAKER: '1' };
    expectFailure(await new Sandbox().run(['hi'], { env }), 3, /no key for https:\/\/example\.com/);
  });

  it('in a user config that others can read gives a warning, in JSON as a part of the result', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    const path = writeUserConfig(box, { baseUrl: server.url, apiKey: KEY, speaker: 1 }, { mode: 0o644 });
    const warned = await box.run(['hi', '-o', 'out.wav']);
    expect(warned).toMatchObject({ status: 0, stderr: expect.stringMatching(/^tts: warning: [^\n]+\n$/) });
    expect(warned.stderr).toContain(path);
    expect(warned.stderr).not.toContain(KEY);
    const told = await box.run(['hi', '-o', 'out.wav', '--json', '--no-cache']);
    const warnings = [expect.stringContaining(path)];
    expect(JSON.parse(told.stdout.toString())).toMatchObject({ output: 'out.wav', warnings });
    const failed = await box.run(['hi', '-o', 'out.wav', '--json', '--base-url', NOWHERE, '--retries', '0']);
    expect(JSON.parse(failed.stderr)).toMatchObject({ error: { exitCode: 6 }, warnings });
    chmodSync(path, 0o600);
    expect((await box.run(['again', '-o', 'out.wav'])).stderr).toBe('');
  });

  it.each<[string, Setup]>([
    ['the environment', { env: key }],
    ['an option', { args: ['--api-key', KEY] }],
    ['the user config', { user: { apiKey: KEY } }],
  ])('from %s without a base URL is an error: somebody meant a real service', async (_, setup) => {
    expectFailure(await run(setup), 2, /no base URL/);
  });
});

const FORMS = [[], ['-v'], ['--json'], ['--json', '-v']];

describe('no output shows the key', () => {
  it.each([
    [['--api-key', KEY, '--format', KEY]],
    [['--base-url', KEY, `--api-key=${KEY}`]],
    [['--api-key', KEY, '--config', KEY]],
    [[`-k${KEY}`]],
    [[`--api-key ${KEY}`]],
    [[`--api-key:${KEY}`]],
    [[`--apikey${KEY}`]],
    [['--timeout', KEY]],
    [['--callback-url', KEY]],
    [[`--${KEY}`]],
  ])('that was typed for something else as well, or in a wrong way: %j', async (args) => {
    const { status, stderr } = await new Sandbox().run(['hi', ...args], { env: key });
    expect([status, stderr.includes(KEY)]).toEqual([2, false]);
  });

  it.each([
    ['config.json', `{"apiKey":"${KEY}","maxChars":"${KEY}"}`],
    ['config.json', `{"keys":{"https://a.example":"${KEY}"},"maxChars":"${KEY}"}`],
    ['config.json', `{"apiKey":${KEY}}`],
    ['config.json', `{"apiKey":"${KEY}",}`],
    ['config.yaml', `apiKey: *${KEY}`],
    ['config.yaml', `apiKey: !${KEY} x`],
  ])('of a config in which something is wrong: %s: %s', async (name, content) => {
    const box = new Sandbox();
    const path = writeUserConfig(box, content, { name });
    for (const args of [...FORMS, ['--config', path]]) {
      const { status, stderr } = await box.run(['hi', ...args]);
      expect([status, stderr.includes(KEY.slice(0, 10))]).toEqual([2, false]);
    }
  });

  it('whose file was taken for another', async () => {
    const box = new Sandbox();
    box.file('key', KEY);
    for (const option of ['--lexicon', '--config', '--base-url']) {
      const { status, stderr } = await box.run(['hi', option, 'key'], { env: { TTS_API_KEY_FILE: 'key' } });
      expect([status, stderr.includes(KEY)]).toEqual([2, false]);
    }
  });

  const echo = JSON.stringify({ message: `The key ${KEY} is unknown. Key: "${KEY}"`, key: KEY });

  it.each([
    ['a refusal', answer(401, echo)],
    ['text', answer(500, `key=${KEY}&x`)],
    ['what is no audio', answer(200, `You sent ${KEY}`)],
    ['a redirect', answer(302, '', { Location: `https://example.com/?key=${KEY}` })],
    ['an odd coding', answer(200, 'x', { 'Content-Encoding': KEY })],
    ['not HTTP at all', (wire: { write(text: string): unknown }) => void wire.write(`${KEY}\r\n\r\n`)],
    ['a cut in its midst', answer(400, `${'x'.repeat(470)} ${KEY.repeat(20)}`)],
    ['a cut further back', answer(400, `${'x'.repeat(485)} ${KEY}`)],
    ['a cut where reading ends', answer(400, `${' '.repeat(16_384 - KEY.length + 1)}${KEY}`)],
    ['a cut where reading of no audio ends', answer(200, `${' '.repeat(1024 - KEY.length + 1)}${KEY}`)],
    ['audio', complete(wav)],
  ])('when the service echoes it: %s', async (_, script) => {
    const server = await serveBytes(script);
    for (const args of FORMS) {
      const words = ['hi', `say ${KEY}`, '--retries', '1', ...args];
      const { stderr, stdout } = await new Sandbox().run(words, { env: named(server.url) });
      expect(stderr).not.toContain(KEY.slice(0, 10));
      expect(stdout.includes(KEY)).toBe(false);
      if (args.join() === '-v') expect(stderr).toMatch(/X-API-KEY: \*\*\*/);
    }
  });

  it.each(['a"b\\c/d+e=f&g', 'abc%20def', '$&-$1-$$-key', 'k', 'abc', '7', ':'])(
    'however it is written: %s',
    async (odd) => {
      const server = await serveBytes(answer(401, JSON.stringify({ message: `no [${odd}] (${odd})` })));
      const env = { ...named(server.url), TTS_API_KEY: odd };
      for (const args of FORMS.slice(0, 2)) {
        const { stderr } = await new Sandbox().run(['hi', ...args], { env });
        expect(stderr).toMatch(/no \[\*{3}\] \(\*{3}\)/);
      }
      const { error } = JSON.parse((await new Sandbox().run(['hi', '--json'], { env })).stderr);
      expect(error).toMatchObject({ exitCode: 3, message: expect.stringContaining('no [***] (***)') });
    },
  );

  it('and hides no word that only holds a short one, nor a word of the text', async () => {
    const server = await serveBytes(answer(401, '{"message":"a bad habit, b"}'));
    const short = await new Sandbox().run(['hi'], { env: { ...named(server.url), TTS_API_KEY: 'b' } });
    expectFailure(short, 3, /a bad habit, \*\*\*\)/);
    const text = await new Sandbox().run(['-o', 'missing/word.wav', '--', '--api-key', 'word']);
    expectFailure(text, 8, /missing\/word\.wav/);
  });

  it('nor the password in a base URL, which is refused', async () => {
    const refused = await new Sandbox().run(['hi', '--base-url', 'http://user:pass@word@example.com/api']);
    expectFailure(refused, 2, /--base-url must be .*, and is "http:\/\/\*\*\*@example\.com\/api"/);
  });
});
