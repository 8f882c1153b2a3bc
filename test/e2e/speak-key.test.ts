import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { answer, complete, head, httpChunk } from '../support/http-bytes.ts';
import { startProxy } from '../support/proxy.ts';
import { type Ended, expectFailure, KEY, named, Sandbox } from '../support/run.ts';
import { writeUserConfig } from '../support/user-config.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(200));
/** Nobody answers there; a run that gets so far as to try ends with 6. */
const PUBLIC = 'https://speech.invalid/api';

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

const key = { TTS_API_KEY: KEY };

describe('a base URL that a project names', () => {
  const project = { baseUrl: PUBLIC };

  it.each([
    ['the environment', { env: key }],
    ['an option', { args: ['--api-key', KEY] }],
    ['the user config', { user: { apiKey: KEY } }],
  ])('gets no key from %s, and the message says how to allow it', async (_, setup) => {
    const refused = await run({ project, ...setup });
    expectFailure(refused, 2, /key .* is not sent to https:\/\/speech\.invalid\/api/);
    expect(refused.stderr).toMatch(/hint: .*"trustedBaseUrls": \["https:\/\/speech\.invalid\/api"\]/);
    expect(refused.stderr).not.toContain(KEY);
  });

  it('gets no key from a file that the environment names', async () => {
    const box = new Sandbox();
    writeFileSync(join(box.home, 'key'), `${KEY}\n`);
    expectFailure(
      await run({ project, env: { TTS_API_KEY_FILE: join(box.home, 'key') } }, box),
      2,
      /is not sent/,
    );
  });

  it('gets the key of the project itself', async () => {
    const { status, stderr } = await run({ project: { ...project, apiKey: KEY } });
    expect(status).toBe(6);
    expect(stderr).toMatch(/the name of speech\.invalid cannot be resolved/);
  });

  it('is told of before a text goes there with a key from the same place, but not with -q', async () => {
    const setup = { project: { ...project, apiKey: KEY, speakers: { anna: 1 } } };
    const note = /^tts: the text goes to speech\.invalid, as set by baseUrl in .*\.ttsrc\.json\n/;
    expect((await run(setup)).stderr).toMatch(note);
    expectFailure(await run({ ...setup, args: ['-q'] }), 6, /speech\.invalid/);
  });

  it('is told of too where the user names it, and a project the key: its owner may see what was spoken', async () => {
    const note = /^tts: the text goes to speech\.invalid with the key from apiKey in .*\.ttsrc\.json\n/;
    const setup = { project: { apiKey: KEY } };
    expect((await run({ ...setup, user: { baseUrl: PUBLIC } })).stderr).toMatch(note);
    expectFailure(await run({ user: { apiKey: KEY, baseUrl: PUBLIC } }), 6, /speech\.invalid/);
  });

  it.each([
    [PUBLIC],
    ['https://speech.invalid'],
    ['https://speech.invalid/'],
    ['https://SPEECH.invalid:443/api/'],
  ])('gets any key where the user trusts %s', async (trusted) => {
    expectFailure(
      await run({ project, env: key, user: { trustedBaseUrls: [trusted] } }),
      6,
      /speech\.invalid/,
    );
  });

  it.each([
    'https://speech.invalid/ap',
    'https://speech.invalid/api/v2',
    'http://speech.invalid/api',
    'https://speech.invalid:8443/api',
    'https://invalid/api',
    'https://x.speech.invalid/api',
  ])('gets no key where the user trusts only %s', async (trusted) => {
    expectFailure(await run({ project, env: key, user: { trustedBaseUrls: [trusted] } }), 2, /is not sent/);
  });

  it.each(['..%2fevil', '%2E%2E%5Cevil', '..;/evil'])('gets no key through a step up: %s', async (step) => {
    const above = { baseUrl: `${PUBLIC}/${step}` };
    const user = { trustedBaseUrls: [PUBLIC] };
    expectFailure(await run({ project: above, env: key, user }), 2, /is not sent/);
  });

  it('gets no key where only a name server would say that it is on this machine', async () => {
    const below = { baseUrl: 'http://evil.localhost:9' };
    expectFailure(await run({ project: below, env: key }), 2, /is not sent to http:\/\/evil\.localhost/);
  });

  it('is reached directly where it is on this machine, which for a proxy is another', async () => {
    const server = await serveBytes(complete(wav));
    const proxy = await startProxy();
    const project = { baseUrl: server.url, apiKey: KEY };
    expect(await run({ project, env: { HTTP_PROXY: proxy.url } })).toMatchObject({ status: 0 });
    expect([server.requests.length, proxy.asked.length]).toEqual([1, 0]);
  });

  it.each(['127.0.0.1', 'localhost'])(
    'gets no key of the user even on this machine, where others may listen: %s',
    async (host) => {
      const server = await serveBytes(complete(wav));
      const baseUrl = `http://${host}:${server.port}`;
      expectFailure(
        await run({ project: { baseUrl }, env: key }),
        2,
        /is not sent.*\nhint: .*trustedBaseUrls/,
      );
      expect(server.requests).toEqual([]);
      const user = { trustedBaseUrls: [baseUrl] };
      expect(await run({ project: { baseUrl }, user, env: key })).toMatchObject({ status: 0 });
      expect(server.requests[0]?.header('X-API-KEY')).toBe(KEY);
      const own = await run({ project: { baseUrl, apiKey: 'theirs' } });
      expect(own).toMatchObject({ status: 0 });
      expect(server.requests[1]?.header('X-API-KEY')).toBe('theirs');
    },
  );

  it('gets any key where an option, the environment or the user names it too', async () => {
    for (const setup of [
      { env: { ...key, TTS_BASE_URL: PUBLIC } },
      { env: key, args: ['--base-url', PUBLIC] },
    ])
      expectFailure(await run({ project, ...setup }), 6, /speech\.invalid/);
    expectFailure(await run({ env: key, user: { baseUrl: PUBLIC } }), 6, /speech\.invalid/);
  });
});

describe('what a project may not say', () => {
  it.each([
    ['trustedBaseUrls', [PUBLIC]],
    ['allowInsecureHttp', true],
    ['cacheSize', '100 KB'],
  ])('is %s', async (name, value) => {
    expectFailure(
      await run({ project: { [name]: value }, env: named(PUBLIC) }),
      2,
      new RegExp(`${name} may not be set in .*ttsrc`),
    );
  });

  it('is a file outside of it that holds a key', async () => {
    const box = new Sandbox();
    writeFileSync(join(box.home, 'secret'), KEY);
    symlinkSync(join(box.home, 'secret'), box.path('link'));
    const baseUrl = 'http://127.0.0.1:1';
    for (const apiKeyFile of ['../secret', join(box.home, 'secret'), '~/secret', 'link']) {
      const refused = await run({ project: { baseUrl, apiKeyFile } }, box);
      expectFailure(refused, 2, /apiKeyFile in .* lies outside/);
      expect(refused.stderr).not.toContain(KEY);
    }
    box.file('inside', `${KEY}\n`);
    const inside = await run({ project: { baseUrl, apiKeyFile: 'inside' } }, box);
    expect(inside).toMatchObject({ status: 6, stderr: expect.stringContaining('127.0.0.1:1') });
  });

  it('is a lexicon outside of it: its lines would be sent as text', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    writeFileSync(join(box.home, '.env'), 'hi=s3cr3t\n');
    symlinkSync(join(box.home, '.env'), box.path('link'));
    const project = { baseUrl: server.url, apiKey: 'theirs' };
    for (const lexicon of ['../.env', join(box.home, '.env'), '~/.env', 'link', '/dev/stdin', 'nowhere'])
      expectFailure(
        await run({ project: { ...project, lexicon } }, box),
        2,
        /lexicon in .* lies outside|there is no .* \(lexicon in/,
      );
    expect(server.requests).toHaveLength(0);
    box.file('names', 'hi=hello\n');
    expect(await run({ project: { ...project, lexicon: 'names' } }, box)).toMatchObject({ status: 0 });
    const own = { project: { ...project, lexicon: '/etc/passwd' }, args: ['--lexicon', '../.env'] };
    expect(await run(own, box)).toMatchObject({ status: 0 });
    expect(server.requests.map(({ json }) => json)).toMatchObject([{ text: 'hello' }, { text: 's3cr3t' }]);
  });

  it.each(['lexicon', 'apiKeyFile'])(
    'is a pipe as its %s, through which nothing may ever come',
    async (name) => {
      const box = new Sandbox();
      await box.shell('mkfifo pipe');
      const project = { baseUrl: 'http://127.0.0.1:1', [name]: 'pipe' };
      expectFailure(
        await run({ project, args: ['--base-url', 'http://127.0.0.1:1'] }, box),
        2,
        /is not a regular file/,
      );
    },
  );

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
    const refused = await run({ project: { proxy: proxy.url }, env: named(server.url) });
    expectFailure(refused, 2, /proxy/);
    expect(proxy.asked).toEqual([]);
    const overruled = { project: { proxy: 'http://127.0.0.1:1' }, env: named(server.url) };
    expect(await run({ ...overruled, args: ['--proxy', proxy.url] })).toMatchObject({ status: 0 });
    const byEnvironment = { ...overruled, env: { ...overruled.env, HTTP_PROXY: proxy.url } };
    expect(await run(byEnvironment)).toMatchObject({ status: 0 });
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
    expectFailure(refused, 2, /not sent over plain http/);
    expect(refused.stderr).toMatch(/hint: .*--allow-insecure-http/);
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
  it('that is refused is not tried on with the rest of a long text', async () => {
    const server = await serveBytes(async (wire, request, number) => {
      if (number > 1) return answer(401)(wire, request, number);
      await sleep(700);
      return complete(wav)(wire, request, number);
    });
    const text = 'A sentence. '.repeat(20);
    const args = ['--max-chars', '12', '--concurrency', '2', text, '-o', 'out.wav'];
    expectFailure(await new Sandbox().run(args, { env: named(server.url) }), 3, /does not accept the key/);
    expect(server.requests).toHaveLength(2);
  });

  it('comes from an option, the environment, a file, or config, the strongest first', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    box.file('key-file', '  from-file \n');
    const user = { baseUrl: server.url, apiKey: 'from-user' };
    const steps: Setup[] = [
      { user },
      { user: { ...user, apiKey: undefined, apiKeyFile: box.path('key-file') } },
      { user, env: { TTS_API_KEY_FILE: 'key-file' } },
      { user, env: { TTS_API_KEY: 'from-environment' } },
      {
        user,
        env: { TTS_API_KEY: 'from-environment', TTS_API_KEY_FILE: 'key-file' },
        args: ['--api-key', 'from-option'],
      },
    ];
    for (const step of steps) expect(await run(step, box)).toMatchObject({ status: 0, stderr: '' });
    expect(server.requests.map((request) => request.header('x-api-key'))).toEqual([
      'from-user',
      'from-file',
      'from-file',
      'from-environment',
      'from-option',
    ]);
  });

  it.each(['two words', 'líne', 'a\nb'])('that no header can carry is refused unseen: %j', async (value) => {
    const refused = await run({ env: { ...named('http://127.0.0.1:1'), TTS_API_KEY: value } });
    expectFailure(refused, 2, /TTS_API_KEY holds no valid API key/);
    expect(refused.stderr).not.toContain(value);
  });

  it('of any length is never shown, and refused where no header could carry it', async () => {
    const server = await serveBytes(answer(500, JSON.stringify({ message: 'failed' })));
    const box = new Sandbox();
    for (const [length, status] of [
      [8192, 7],
      [8193, 2],
      [100_000, 2],
    ] as const) {
      const file = box.file('key', 'x'.repeat(length));
      const { TTS_API_KEY: _, ...env } = named(server.url, { TTS_API_KEY_FILE: file });
      const run = await box.run(['hi', '-v', '-o', 'out.wav'], { env });
      expect(run.status).toBe(status);
      expect(run.stderr).not.toContain('xxxx');
    }
    expect(server.requests).toHaveLength(1);
  });

  it('may come through a pipe, which ends', async () => {
    const server = await serveBytes(complete(wav));
    const { TTS_API_KEY: _, ...env } = named(server.url);
    const box = new Sandbox();
    const run = await box.shell(`TTS_API_KEY_FILE=<(echo ${KEY}) tts hi -o out.wav`, { env });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(server.requests[0]?.header('x-api-key')).toBe(KEY);
    const endless = await box.shell('TTS_API_KEY_FILE=<(yes) tts hi', { env });
    expectFailure(endless, 2, /is too long to be a key/);
    const noText = await box.run(['hi'], { env: { ...env, TTS_API_KEY_FILE: '/dev/zero' } });
    expectFailure(noText, 2, /\/dev\/zero is not text/);
  });

  it('is missing where its file is empty', async () => {
    const { TTS_API_KEY: _, ...env } = named('http://127.0.0.1:1', { TTS_API_KEY_FILE: 'key' });
    const box = new Sandbox();
    box.file('key', '\n');
    expectFailure(await box.run(['hi'], { env }), 2, /there is no key in TTS_API_KEY_FILE/);
  });

  it('may be in a file of any Unicode encoding', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    const file = box.file('key', Buffer.from(`\ufeff${KEY}\r\n`, 'utf16le'));
    const { TTS_API_KEY: _, ...env } = named(server.url, { TTS_API_KEY_FILE: file });
    expect(await box.run(['hi', '-o', 'out.wav'], { env })).toMatchObject({ status: 0, stderr: '' });
    expect(server.requests[0]?.header('x-api-key')).toBe(KEY);
  });

  it('whose file is missing is refused', async () => {
    const { TTS_API_KEY: _, ...env } = named('http://127.0.0.1:1');
    expectFailure(
      await run({ env: { ...env, TTS_API_KEY_FILE: 'nowhere' } }),
      2,
      /key file .*nowhere.*TTS_API_KEY_FILE/,
    );
  });

  it('in a user config that others can read gives a warning, which names the file and not the key', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    const path = writeUserConfig(box, { baseUrl: server.url, apiKey: KEY, speaker: 1 }, { mode: 0o644 });
    const warned = await box.run(['hi', '-o', 'out.wav']);
    expect(warned.status).toBe(0);
    expect(warned.stderr).toMatch(/^tts: warning: [^\n]+\n$/);
    expect(warned.stderr).toContain(path);
    expect(warned.stderr).not.toContain(KEY);
    chmodSync(path, 0o600);
    expect((await box.run(['again', '-o', 'out.wav'])).stderr).toBe('');
    writeUserConfig(box, { baseUrl: server.url, speaker: 1 }, { mode: 0o644 });
    expect((await box.run(['once more', '-o', 'out.wav'], { env: key })).stderr).toBe('');
  });

  it('in such a config is warned of with --json too, as a part of the result or the error', async () => {
    const server = await serveBytes((wire, request, number) =>
      (number === 1 ? complete(wav) : answer(401, 'no'))(wire, request, number),
    );
    const box = new Sandbox();
    const path = writeUserConfig(box, { baseUrl: server.url, apiKey: KEY, speaker: 1 }, { mode: 0o644 });
    const warnings = [expect.stringContaining(path)];
    const spoken = await box.run(['hi', '-o', 'out.wav', '--json', '--no-cache']);
    expect(JSON.parse(spoken.stdout.toString())).toMatchObject({ output: 'out.wav', warnings });
    const refused = await box.run(['hi', '-o', 'out.wav', '--json', '--no-cache']);
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { exitCode: 3 }, warnings });
  });

  it('without a base URL is an error: somebody meant a real service', async () => {
    for (const setup of [{ env: key }, { args: ['--api-key', KEY] }, { user: { apiKey: KEY } }])
      expectFailure(await run(setup), 2, /no base URL/);
  });
});

function expectHidden({ status, stderr }: Ended): void {
  expect(status).toBe(2);
  expect(stderr).not.toContain(KEY);
}

describe('no output shows the key', () => {
  it.each([
    [['--api-key', KEY, '--format', KEY]],
    [['--base-url', KEY, `--api-key=${KEY}`]],
    [['--api-key', KEY, '--config', KEY]],
    [[`-k${KEY}`]],
    [[`--api-key ${KEY}`]],
    [[`--api-key:${KEY}`]],
    [[`--apikey${KEY}`]],
    [[`--secret:${KEY}`]],
  ])('that was typed for something else as well, or in a wrong way: %j', async (args) => {
    expectHidden(await new Sandbox().run(['hi', ...args]));
  });

  it.each([
    ['apiKey', { apiKey: KEY, maxChars: KEY }],
    ['keys', { keys: { 'https://a.example': KEY }, maxChars: KEY }],
  ])('that stands in a config in which something else is wrong: %s', async (_, config) => {
    const box = new Sandbox();
    writeUserConfig(box, config);
    expectHidden(await box.run(['hi']));
    expectHidden(await box.run(['hi', '--config', join(box.home, '.config/tts/config.json')]));
    writeUserConfig(box, { ...config, maxChars: 100 });
    expectHidden(await box.run(['hi', '--timeout', KEY]));
  });

  it('whose file was taken for another', async () => {
    const box = new Sandbox();
    box.file('key', KEY);
    const env = { TTS_API_KEY_FILE: 'key' };
    for (const option of ['--lexicon', '--config', '--base-url'])
      expectHidden(await box.run(['hi', option, 'key'], { env }));
  });

  it('and hides no word of the text for it', async () => {
    const run = await new Sandbox().run(['-o', 'missing/word.wav', '--', '--api-key', 'word']);
    expectFailure(run, 8, /missing\/word\.wav/);
  });

  const echo = JSON.stringify({ message: `The key ${KEY} is unknown. Key: "${KEY}"`, key: KEY });
  const scripts = [
    ['a refusal', answer(401, echo)],
    ['text', answer(500, `key=${KEY}&x`)],
    ['HTML', answer(403, `<html><body>${KEY.replaceAll('-', '&#45;')} ${KEY}</body></html>`)],
    ['what is no audio', answer(200, `You sent ${KEY}`)],
    ['a redirect', answer(302, '', { Location: `https://example.com/?key=${KEY}` })],
    ['an odd coding', answer(200, 'x', { 'Content-Encoding': KEY })],
    ['not HTTP at all', (wire: { write(text: string): unknown }) => void wire.write(`${KEY}\r\n\r\n`)],
    ['a cut in its midst', answer(400, `${'x'.repeat(470)} ${KEY.repeat(20)}`)],
    ['a cut further back', answer(400, `${'x'.repeat(485)} ${KEY}`)],
    ['a cut where reading ends', answer(400, `${' '.repeat(16_384 - KEY.length + 1)}${KEY}`)],
    ['a cut where reading of no audio ends', answer(200, `${' '.repeat(1024 - KEY.length + 1)}${KEY}`)],
    ['audio', complete(wav)],
  ] as const;

  it.each(scripts)('when the service echoes it: %s', async (_, script) => {
    const server = await serveBytes(script);
    for (const args of [[], ['-v'], ['--json'], ['--json', '-v']]) {
      const box = new Sandbox();
      const { stderr, stdout } = await box.run(['hi', '-s', '1', '--retries', '1', ...args], {
        env: { ...named(server.url), TTS_RETRIES: '1' },
      });
      expect(stderr).not.toContain(KEY);
      expect(stderr).not.toContain(KEY.slice(0, 10));
      expect(stdout.includes(KEY)).toBe(false);
    }
  });

  it.each(['a"b\\c/d+e=f&g', 'abc%20def', '$&-$1-$$-key'])('however it is written: %s', async (odd) => {
    const echoed = `${JSON.stringify({ message: odd })}`;
    const server = await serveBytes(answer(401, echoed));
    const env = { ...named(server.url), TTS_API_KEY: odd };
    for (const args of [[], ['-v'], ['--json'], ['--json', '-v']]) {
      const { stderr } = await new Sandbox().run(['hi', ...args], { env });
      expect(stderr).toContain('***');
      expect(stderr).not.toContain(odd);
      expect(stderr).not.toContain(JSON.stringify(odd).slice(1, -1));
    }
  });

  it.each(['k', 'ab', 'abc', '7', ':', '"'])('however short it is: %s', async (short) => {
    const server = await serveBytes(answer(401, JSON.stringify({ message: `no [${short}] (${short})` })));
    const env = { ...named(server.url), TTS_API_KEY: short };
    for (const args of [[], ['-v']]) {
      const { stderr } = await new Sandbox().run(['hi', ...args], { env });
      expect(stderr).toMatch(/no \[\*{3}\] \(\*{3}\)/);
    }
    const { stderr } = await new Sandbox().run(['hi', '--json'], { env });
    const { message, exitCode } = JSON.parse(stderr).error;
    expect(message).toContain('no [***] (***)');
    expect(exitCode).toBe(3);
  });

  it('nor do the words suffer of which a short one is a part', async () => {
    const server = await serveBytes(answer(401, '{"message":"a bad habit, b"}'));
    const run = await new Sandbox().run(['hi'], { env: { ...named(server.url), TTS_API_KEY: 'b' } });
    expectFailure(run, 3, /a bad habit, \*\*\*\)/);
  });

  it.each([
    ['config.json', `{"apiKey":${KEY}}`],
    ['config.json', `{"apiKey":"${KEY}",}`],
    ['config.yaml', `apiKey: *${KEY}`],
    ['config.yaml', `apiKey: !${KEY} x`],
  ])('when the user config that holds it cannot be read: %s: %s', async (name, content) => {
    const box = new Sandbox();
    writeUserConfig(box, content, { name });
    for (const args of [[], ['-v'], ['--json', '-v']]) {
      const { status, stderr } = await box.run(['hi', ...args]);
      expect(status).toBe(2);
      expect(stderr).toMatch(/cannot read the settings in .*: no valid (JSON|YAML)/);
      expect(stderr).not.toContain(KEY.slice(0, 6));
    }
  });

  it.each([
    ['--base-url', KEY, 'hi'],
    ['--timeout', KEY, 'hi'],
    ['--callback-url', KEY, 'hi'],
    [`--${KEY}`, 'hi'],
  ])('nor where it stands in the place of another value: %s', async (...args) => {
    const run = await new Sandbox().run(args, { env: { TTS_API_KEY: KEY } });
    expect(run.status).toBe(2);
    expect(run.stderr).not.toContain(KEY);
  });

  it('nor the password in a base URL, which is refused', async () => {
    const run = await new Sandbox().run(['hi', '--base-url', 'http://user:pass@word@example.com/api']);
    expectFailure(run, 2, /"http:\/\/\*\*\*@example\.com\/api" is not allowed/);
  });

  it('in what -v tells of the request', async () => {
    const server = await serveBytes(async (wire) => {
      await wire.write(head(200, { 'Transfer-Encoding': 'chunked' }));
      await wire.write(httpChunk(wav));
      await wire.write(httpChunk(''));
    });
    const told = await new Sandbox().run([`say ${KEY}`, '-v', '-o', 'out.wav'], { env: named(server.url) });
    expect(told.status).toBe(0);
    expect(told.stderr).toMatch(/X-API-KEY: \*\*\*/);
    expect(told.stderr).not.toContain(KEY);
  });
});
