import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { answer, complete } from '../support/http-bytes.ts';
import { machineWith } from '../support/machine.ts';
import { startProxy } from '../support/proxy.ts';
import { wavOf } from '../support/row-service.ts';
import { type Ended, expectFailure, KEY, named, Sandbox } from '../support/run.ts';
import { serve } from '../support/serve.ts';
import { serveSpeech } from '../support/speech-server.ts';
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

  it.each<[number, readonly string[]]>([
    [6, [PUBLIC, 'https://speech.invalid/', 'https://SPEECH.invalid:443/api/']],
    [2, ['https://speech.invalid/ap', 'https://speech.invalid/api/v2', 'http://speech.invalid/api']],
    [2, ['https://speech.invalid:8443/api', 'https://invalid/api', 'https://x.speech.invalid/api']],
  ])('gets a key only where what the user trusts holds it: %i %j', async (status, all) => {
    for (const trusted of all) {
      const { status: ended } = await run({ project, env: key, user: { trustedBaseUrls: [trusted] } });
      expect([trusted, ended]).toEqual([trusted, status]);
    }
  });

  it('gets no key through a step up', async () => {
    for (const step of ['..%2fevil', '%2E%2E%5Cevil', '..;/evil']) {
      const setup = { project: { baseUrl: `${PUBLIC}/${step}` }, user: { trustedBaseUrls: [PUBLIC] } };
      expectFailure(await run({ ...setup, env: key }), 2, /is not sent/);
    }
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

  it('gets any key where the environment or an option names it too', async () => {
    for (const setup of [
      { env: { ...key, TTS_BASE_URL: PUBLIC } },
      { env: key, args: ['--base-url', PUBLIC] },
    ])
      expectFailure(await run({ project, ...setup }), 6, /speech\.invalid/);
  });
});

describe('what a project may not say', () => {
  it.each([
    ['trustedBaseUrls', [PUBLIC]],
    ['allowInsecureHttp', true],
    ['cacheSize', '100 KB'],
    ['player', 'touch stolen'],
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
  it('does not carry a key beyond the own network', async () => {
    for (const host of ['speech.invalid', '8.8.8.8', '172.32.0.1', '[2001:db8::1]', '10.0.0.1.example.com']) {
      const refused = await run({ env: named(`http://${host}`) });
      expectFailure(refused, 2, /not sent over plain http.*\nhint: .*--allow-insecure-http/);
    }
  });

  it('carries it where somebody allows that', async () => {
    const env = named('http://speech.invalid');
    expectFailure(await run({ env, args: ['--allow-insecure-http'] }), 6, /speech\.invalid/);
    expectFailure(await run({ env, user: { allowInsecureHttp: true } }), 6, /speech\.invalid/);
  });

  it('carries it within the own network', async () => {
    for (const url of ['http://nobody.local', 'http://printer', 'http://[::1]:1', 'http://127.9.9.9:1'])
      expect((await run({ env: named(url), args: ['--timeout', '5'] })).status).toBe(6);
  });
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

  it('that no header can carry is refused unseen', async () => {
    for (const value of ['two words', 'líne', 'a\nb', 'x'.repeat(8193)]) {
      const refused = await run({ env: { ...named(NOWHERE), TTS_API_KEY: value } });
      expectFailure(refused, 2, /TTS_API_KEY|key/);
      expect(refused.stderr).not.toContain(value.slice(0, 20));
    }
  });

  it('is missing where its file is empty or not there, and is no key where it is not text', async () => {
    const box = new Sandbox();
    box.file('empty', '\n');
    for (const [file, message] of [
      ['empty', /there is no key in TTS_API_KEY_FILE/],
      ['nowhere', /key file .*nowhere.*TTS_API_KEY_FILE/],
      ['/dev/zero', /\/dev\/zero is not text/],
    ] as const)
      expectFailure(await box.run('hi', { env: withKeyFile(NOWHERE, file) }), 2, message);
  });

  it('that is missing for a service is an error of its own', async () => {
    const env = { TTS_BASE_URL: 'https://example.com', TTS_SPEAKER: '1' };
    const box = new Sandbox();
    writeUserConfig(box, { keys: { 'https://example.com/v2': KEY, 'https://example.org': KEY } });
    const missing = await box.run('hi', { env });
    expectFailure(missing, 3, /no key for https:\/\/example\.com/);
    expect(missing.stderr).toContain('a key is stored for https://example.com/v2: use that base URL');
  });

  it('in a user config that others can read gives a warning, in JSON as a part of the result', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    const path = writeUserConfig(box, { baseUrl: server.url, apiKey: KEY, speaker: 1 }, { mode: 0o644 });
    const warned = await box.run('hi -o out.wav');
    expect(warned).toMatchObject({ status: 0, stderr: expect.stringMatching(/^tts: warning: [^\n]+\n$/) });
    expect(warned.stderr).toContain(path);
    expect(warned.stderr).not.toContain(KEY);
    const told = await box.run('hi -o out.wav --json --no-cache');
    const warnings = [expect.stringContaining(path)];
    expect(JSON.parse(told.stdout.toString())).toMatchObject({ output: 'out.wav', warnings });
    const failed = await box.run(['hi', '-o', 'out.wav', '--json', '--base-url', NOWHERE, '--retries', '0']);
    expect(JSON.parse(failed.stderr)).toMatchObject({ error: { exitCode: 6 }, warnings });
    chmodSync(path, 0o600);
    expect((await box.run('again -o out.wav')).stderr).toBe('');
  });

  it('without a base URL is an error: somebody meant a real service', async () => {
    for (const setup of [{ env: key }, { args: ['--api-key', KEY] }, { user: { apiKey: KEY } }])
      expectFailure(await run(setup), 2, /no base URL/);
  });
});

const FORMS = ['', '-v', '--json', '--json -v'];

describe('no output shows the key', () => {
  it('that was typed for something else as well, or in a wrong way', async () => {
    for (const args of [
      ['--api-key', KEY, '--format', KEY],
      ['--base-url', KEY, `--api-key=${KEY}`],
      ['--api-key', KEY, '--config', KEY],
      [`-k${KEY}`],
      [`--api-key ${KEY}`],
      [`--apikey${KEY}`],
      ['--timeout', KEY],
      [`--${KEY}`],
    ]) {
      const { status, stderr } = await new Sandbox().run(['hi', ...args], { env: key });
      expect([args, status, stderr.includes(KEY)]).toEqual([args, 2, false]);
    }
  });

  it.each([
    ['config.json', `{"apiKey":"${KEY}","maxChars":"${KEY}"}`],
    ['config.json', `{"keys":{"https://a.example":"${KEY}"},"maxChars":"${KEY}"}`],
    ['config.json', `{"apiKey":${KEY}}`],
    ['config.yaml', `apiKey: *${KEY}`],
  ])('of a config in which something is wrong: %s: %s', async (name, content) => {
    const box = new Sandbox();
    const path = writeUserConfig(box, content, { name });
    for (const args of [...FORMS, `--config ${path}`]) {
      const { status, stderr } = await box.run(`hi ${args}`);
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
    ['what is no audio', answer(200, `You sent ${KEY}`)],
    ['a redirect', answer(302, '', { Location: `https://example.com/?key=${KEY}` })],
    ['not HTTP at all', (wire: { write(text: string): unknown }) => void wire.write(`${KEY}\r\n\r\n`)],
    ['a cut in its midst', answer(400, `${'x'.repeat(470)} ${KEY.repeat(20)}`)],
    ['a cut where reading ends', answer(400, `${' '.repeat(16_384 - KEY.length + 1)}${KEY}`)],
    ['a cut where reading of no audio ends', answer(200, `${' '.repeat(1024 - KEY.length + 1)}${KEY}`)],
    ['audio', complete(wav)],
  ])('when the service echoes it: %s', async (_, script) => {
    const machine = await machineWith(script);
    for (const form of FORMS) {
      const words = ['hi', `say ${KEY}`, ...form.split(' ').filter(Boolean)];
      const { stderr, stdout } = await machine.run(words);
      expect(stderr).not.toContain(KEY.slice(0, 10));
      expect(stdout.includes(KEY)).toBe(false);
      if (form === '-v') expect(stderr).toMatch(/X-API-KEY: \*\*\*/);
    }
  });

  it('however it is written', async () => {
    for (const odd of ['a"b\\c/d+e=f&g', 'abc%20def', '$&-$1-$$-key', 'k', '7']) {
      const machine = await machineWith(answer(401, JSON.stringify({ message: `no [${odd}] (${odd})` })));
      const env = { TTS_API_KEY: odd };
      expect((await machine.run('hi -v', { env })).stderr).toMatch(/no \[\*{3}\] \(\*{3}\)/);
      const { error } = JSON.parse((await machine.run('hi --json', { env })).stderr);
      expect(error).toMatchObject({ exitCode: 3, message: expect.stringContaining('no [***] (***)') });
    }
  });

  it('and hides no word that only holds a short one, nor a word of the text', async () => {
    const server = await serveBytes(answer(401, '{"message":"a bad habit, b"}'));
    const short = await new Sandbox().run('hi', { env: { ...named(server.url), TTS_API_KEY: 'b' } });
    expectFailure(short, 3, /a bad habit, \*\*\*\)/);
    const text = await new Sandbox().run('-o missing/word.wav -- --api-key word');
    expectFailure(text, 8, /missing\/word\.wav/);
  });

  it('nor the password in a base URL, which is refused', async () => {
    const refused = await new Sandbox().run('hi --base-url http://user:pass@word@example.com/api');
    expectFailure(refused, 2, /--base-url must be .*, and is "http:\/\/\*\*\*@example\.com\/api"/);
  });
});

const KEYS = {
  api: 'api-key-of-a-user-4711',
  engine: 'engine-key-of-a-user-0815',
  login: 'password-in-an-address-12',
  proxy: 'password-of-a-proxy-3141',
};

const quote = (key: string) => JSON.stringify({ message: `no: ${key}` });

/** A service that speaks "good", quotes its key in answers to other texts, and names a speaker after one. */
const quoting: Script = (wire, request, number) => {
  if (request.method === 'GET')
    return answer(200, JSON.stringify({ speakers: [{ speaker_no: 7, name: KEYS.api }] }))(
      wire,
      request,
      number,
    );
  const { text } = request.json as { text: string };
  const speak = text.startsWith('good') ? complete(wavOf(text)) : answer(422, quote(KEYS.api));
  return speak(wire, request, number);
};

/** All that a run gave away: what it printed and what it wrote. */
function leftBy(box: Sandbox, { stdout, stderr }: Ended): string {
  const files = box.list().filter((name) => /\.(?:html|jsonl|journal|srt|vtt|out)$/.test(name));
  return [stdout, stderr, ...files.map((name) => box.read(name))].join('\n');
}

function expectNoKey(text: string): void {
  for (const key of Object.values(KEYS)) expect(text).not.toContain(key);
}

const TABLE = 'id,text\na,good one\nb,bad one\n';

/** The commands, and whether they show a quote of the other side. */
const COMMANDS: readonly [line: string, isQuoted: boolean][] = [
  ['good -o a.wav --subtitles a.srt --json', false],
  ['batch t.csv -o {id}.wav --report r.html --json', true],
  ['speakers --json', true],
  ['doctor --yes --json', true],
  ['config --json', false],
  [`cache --service HTTP://me:${KEYS.login}@127.0.0.1:1`, false],
];

describe('a service that quotes keys gets none of them into what is left by', () => {
  it.each(COMMANDS)('tts %s', async (line, isQuoted) => {
    const { url } = await serveBytes(quoting);
    const box = new Sandbox();
    box.file('t.csv', TABLE);
    writeUserConfig(box, { engines: { mine: { url: 'http://127.0.0.1:9', key: KEYS.engine } } });
    const run = await box.run(line.split(' '), {
      env: {
        ...named(url),
        TTS_API_KEY: KEYS.api,
        HTTP_PROXY: `http://me:${KEYS.proxy}@127.0.0.1:9`,
        NO_PROXY: '*',
      },
    });
    const left = leftBy(box, run);
    expectNoKey(left);
    if (isQuoted) expect(left).toContain('***');
  });

  it.each([['-v'], ['--json']])('a proxy that quotes its password: %j', async (...flags) => {
    const proxy = await serveBytes(answer(407, quote(KEYS.proxy)));
    const address = proxy.url.replace('//', `//me:${KEYS.proxy}@`);
    const box = new Sandbox();
    const env = { ...named('http://tts.example.com'), TTS_API_KEY: KEYS.api, HTTP_PROXY: address };
    const run = await box.run(['hi', '-o', 'a.wav', '--allow-insecure-http', ...flags], { env });
    expect(run.status).not.toBe(0);
    expectNoKey(leftBy(box, run));
  });
});

describe('an engine that quotes its key gets it into nothing that is left by', () => {
  const refusing = (key = KEYS.engine) => serveSpeech(answer(401, quote(key)), { voices: ['anna', key] });

  it.each(['hi -o a.wav', 'batch t.csv -o {id}.wav --report r.html --json', 'speakers', 'doctor --yes'])(
    'tts %s',
    async (line) => {
      const { url } = await refusing();
      const box = new Sandbox();
      box.file('t.csv', TABLE);
      writeUserConfig(box, { engines: { mine: { url, key: KEYS.engine } } });
      const run = await box.run([...line.split(' '), '--engine', 'mine']);
      expect(leftBy(box, run)).toContain('***');
      expectNoKey(leftBy(box, run));
    },
  );

  it('tts with the password in an address', async () => {
    const { url } = await refusing(KEYS.login);
    const box = new Sandbox();
    const address = url.replace('//', `//me:${KEYS.login}@`);
    const run = await box.run(['hi', '-o', 'a.wav', '-v', '--engine', address]);
    expect(leftBy(box, run)).toContain('***');
    expectNoKey(leftBy(box, run));
  });

  it('tts serve: answers, callbacks and a log in JSON', async () => {
    const { url } = await refusing();
    const box = new Sandbox();
    writeUserConfig(box, { engines: { mine: { url, key: KEYS.engine } } });
    const receiver = await serveBytes(answer(204));
    const service = await serve(`--no-auth --engine mine --log json --callbacks ${receiver.url}`, { box });
    const ask = async (more: object = {}) =>
      (await service.speak({ text: 'hi', speaker_no: 1001, ...more })).bytes.toString();
    const answers = [
      await ask(),
      await ask({ config: { use_streaming_response: true } }),
      await ask({ callback_url: receiver.url }),
      await (await fetch(`${service.url}/speakers`)).text(),
      await (await fetch(`${service.url}/`)).text(),
      await (await fetch(`${service.url}/metrics`)).text(),
    ];
    await expect.poll(() => receiver.requests.length).toBe(1);
    const called = receiver.requests.map(({ body }) => body.toString());
    const { ended } = await service.endBy('SIGTERM');
    expect(ended.stderr).toContain('***');
    for (const entry of ended.stderr.split('\n').filter(Boolean)) JSON.parse(entry);
    expectNoKey([...answers, ...called, leftBy(box, ended)].join('\n'));
  });
});

it('Names that the user gave stay as they are, though the key is a word of them.', async () => {
  const machine = await machineWith(quoting, { TTS_API_KEY: 'word' });
  const run = await machine.run('good -o word.wav --json');
  expect(JSON.parse(run.stdout.toString()).output).toBe('word.wav');
  expect((await machine.run('good -o no/word.wav')).stderr).toContain('cannot write no/word.wav');
  machine.box.file('t.csv', 'id,text\nword,good\n');
  const rows = await machine.run('batch t.csv -o rows/{id}.wav --json');
  const [first = ''] = rows.stdout.toString().split('\n');
  expect(JSON.parse(first)).toMatchObject({ id: 'word', out: 'rows/word.wav' });
});
