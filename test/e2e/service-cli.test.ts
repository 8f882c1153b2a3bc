import { execFile as execFileWithCallback } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { silent } from '../support/http-bytes.ts';
import { listen } from '../support/listen.ts';
import { isThere } from '../support/programs.ts';
import { fenced } from '../support/readme.ts';
import { KEY, Sandbox } from '../support/run.ts';
import { serve, serveProcess } from '../support/serve.ts';
import { serveSpeech } from '../support/speech-server.ts';

const KEY_HEADER = { 'x-api-key': 'sesame' };
const JSON_BODY = { 'content-type': 'application/json' };
const hello = { text: 'hello', speaker_no: 1 };
const NO_AUTH = '--no-auth';

/** A service with one request under way, which never ends. */
async function serveStuck(more = '', box = new Sandbox()) {
  const { url: engine } = await serveSpeech(silent);
  const service = await serveProcess(`${NO_AUTH} --engine ${engine} ${more}`, { box });
  service.speak({ text: 'hello', speaker_no: 1001 }).catch(() => {});
  await expect.poll(async () => (await ask(`${service.url}/healthz`)).json.requests).toBe(1);
  return service;
}

describe('tts serve', () => {
  it.runIf(isThere('curl'))(
    'says where it listens, makes a key, and the curl line it shows works',
    async () => {
      const { box, said, endBy } = await serve('--base-path /api/');
      expect(said.stderr).toMatch(/listening on http:\/\/127\.0\.0\.1:\d+\/api\n/);
      expect(await box.shell(`${/try: (curl .*)\n/.exec(said.stderr)?.[1]} -sS`)).toMatchObject({
        status: 0,
      });
      expect(box.read('hello.wav').toString('latin1', 0, 4)).toBe('RIFF');
      expect((await endBy('SIGTERM')).ended).toMatchObject({ status: 0, stdout: Buffer.alloc(0) });
    },
  );

  it.runIf(isThere('curl'))(
    'shows a curl line for a key of its own, once that is exported, and not the key',
    async () => {
      const { box, said } = await serve('', { env: { TTS_API_KEY: 'sesame\n' } });
      expect(said.stderr).not.toContain('sesame');
      expect(said.stderr).toMatch(/needs your key: export TTS_API_KEY=\.\.\. /);
      const curl = /try: (curl .*)\n/.exec(said.stderr)?.[1];
      expect(await box.shell(`export TTS_API_KEY=sesame\n${curl} -sS`)).toMatchObject({ status: 0 });
      expect(box.read('hello.wav').toString('latin1', 0, 4)).toBe('RIFF');
    },
  );

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('ends at once at a second %s, with status %i', async (signal, status) => {
    const { child, said, endBy } = await serveStuck();
    child.kill('SIGTERM');
    await expect.poll(() => said.stderr).toMatch(/stopping: /);
    expect((await endBy(signal)).ended.status).toBe(status);
  });

  it('gives scripts the address as JSON and in a file, and ends well at Ctrl-C', async () => {
    const box = new Sandbox();
    box.file('ready', 'stale');
    const { said, url, speak, endBy } = await serveProcess('--json --ready-file ready', { box });
    await expect.poll(() => box.read('ready').toString()).toBe(`${url}\n`);
    const { apiKey } = JSON.parse(said.stdout);
    expect((await speak(hello, { 'x-api-key': apiKey })).status).toBe(200);
    expect((await endBy('SIGINT')).ended.status).toBe(0);
    expect(box.list()).toEqual([]);
  });

  it('warns of an espeak-ng that does not work, and speaks without it', async () => {
    const box = new Sandbox();
    writeFileSync(join(box.commands, 'espeak-ng'), '#!/bin/sh\necho broken >&2\nexit 1\n', { mode: 0o755 });
    const { said, speak } = await serve(NO_AUTH, { box });
    const warning = /^tts: warning: the voices of espeak-ng are missing, for it does not work: broken\n/;
    expect(said.stderr).toMatch(warning);
    expect((await speak(hello)).status).toBe(200);
  });

  it('ends well at SIGTERM also while it waits for the voices of espeak-ng', async () => {
    const box = new Sandbox();
    const script = '#!/bin/sh\necho > asked\nexec sleep 60\n';
    writeFileSync(join(box.commands, 'espeak-ng'), script, { mode: 0o755 });
    const run = box.start(`serve --port=0 ${NO_AUTH}`);
    await expect.poll(() => box.list()).toEqual(['asked']);
    expect((await run.endBy('SIGTERM')).ended.status).toBe(0);
  });

  it('refuses streamed requests with a status, and breaks none off, where too many wait', async () => {
    const { speak } = await serve(`${NO_AUTH} --workers=1 --max-queue=1`);
    const config = { use_streaming_response: true };
    const replies = await Promise.all(Array.from({ length: 20 }, () => speak({ ...hello, config })));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 503]));
    for (const { status, json } of replies) if (status === 503) expect(json.error.code).toBe('busy');
    const mute = await speak({ ...hello, text: '你好', config });
    expect([mute.status, mute.json.error.code]).toEqual([422, 'unsupported_text']);
  });

  it('goes on when whoever read its stderr and stdout has left', async () => {
    const shell = new Sandbox().startShell(`tts serve --port=0 ${NO_AUTH} --json --log text 2>&1 | head -1`);
    const [line] = (await once(shell.stdout, 'data')) as [Buffer];
    const { url } = JSON.parse(line.toString());
    for (const _ of [1, 2, 3]) expect((await ask(`${url}/healthz`)).status).toBe(200);
    expect((await ask(`${url}/tts`, { method: 'POST', headers: JSON_BODY, body: hello })).status).toBe(200);
  });

  it.each(['text', 'json'])(
    'takes the key from a file, and logs as %s, without keys and texts',
    async (form) => {
      const box = new Sandbox();
      box.file('key.txt', 'sesame\n');
      const env = { TTS_API_KEY_FILE: 'key.txt' };
      const { url, endBy } = await serve(`--log ${form}`, { box, env });
      const headers = { ...KEY_HEADER, ...JSON_BODY };
      await ask(`${url}/tts?key=sesame`, { method: 'POST', headers, body: hello });
      const { stderr } = (await endBy('SIGTERM')).ended;
      expect(stderr).toMatch(
        form === 'json'
          ? /^\{.*"status":200.*"characters":5.*\}$/m
          : /POST \/tts 200 \d+ ms, speaker 1, 5 characters$/m,
      );
      expect(stderr).not.toMatch(/sesame|key of this run/);
      expect(stderr.replace(/try: .*/, '')).not.toContain('hello');
    },
  );

  it.each([
    ['--no-auth --host 0.0.0.0', /^tts: --no-auth would let the whole network in.*\nhint: /],
    [['--api-key', 'two words'], /^tts: --api-key holds no valid API key\nhint: a key has no spaces/],
    ['--no-auth --api-key x', /^tts: --no-auth and --api-key cannot be used together\nhint: /],
    ['--wyoming 8787', /^tts: --port and --wyoming are both 8787\nhint: /],
    ['--port 70000', /^tts: --port must be 65535 or less, and is 70000\n/],
    ['--base-path a', /^tts: --base-path must begin with a slash, as in \/api, and is "a"\n/],
    ['--base-path /a/../b', /^tts: --base-path must not hold "\." or "\.\."/],
    ['--callbacks https://*.example.com', /^tts: bad value for --callbacks: .*\nhint: there are no patterns/],
    ['--callbacks a.example', /^tts: bad value for --callbacks: a.example\nhint: give an origin/],
    ['--cors https://a.example/page', /^tts: --cors must be one origin without a path/],
    ['--log xml', /^tts: --log must be one of text, json, and is "xml"\n/],
    ['--prot 1', /^tts: unknown option '--prot'\nhint: did you mean --port\?/],
    ['word', /^tts: tts serve does not know "word"\nhint: .*tts speak serve/],
    ['--host 192.0.2.1', /^tts: cannot listen on 192\.0\.2\.1 port 8787 \(EADDRNOTAVAIL\)\nhint: /],
    ['--host fe80::1', /^tts: cannot listen on fe80::1 port 8787 \(E\w+\)\nhint: .*--host\n$/],
    ['--concurrency=2', /^tts: --concurrency only works with --base-url\nhint: name the service/],
  ])('refuses %j with status 2', async (args, message) => {
    const line = typeof args === 'string' ? `serve ${args}` : ['serve', ...args];
    const { status, stderr, stdout } = await new Sandbox().run(line);
    expect([status, stdout.toString()]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  });

  it('says so when another program listens on its port', async () => {
    const port = await listen(createServer());
    const { status, stderr } = await new Sandbox().run(`serve --port ${port}`);
    const message = `tts: cannot listen on 127.0.0.1 port ${port} (EADDRINUSE)\nhint: another program`;
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('the ready file', () => {
  const content = (box: Sandbox) =>
    existsSync(box.path('ready')) ? box.read('ready').toString() : undefined;

  async function ready(box: Sandbox, more = '') {
    const service = await serveProcess(`${NO_AUTH} --ready-file ready ${more}`, { box });
    await expect.poll(() => content(box)).toBe(`${service.url}\n`);
    return service;
  }

  it('is written through no link, for whomever the umask lets read it', async () => {
    const box = new Sandbox();
    box.file('other', 'precious');
    const line = 'ln -s other ready; ln -s other ready.$$.part; exec tts serve --port 0 --ready-file ready';
    const run = box.startShell(`umask 027; ${line}`);
    await expect.poll(() => content(box)).toMatch(/^http:/);
    expect(lstatSync(box.path('ready')).mode & 0o777).toBe(0o640);
    expect(box.read('other').toString()).toBe('precious');
    expect((await run.endBy('SIGTERM')).ended.status).toBe(0);
    expect(box.list()).toEqual(['other', `ready.${run.child.pid}.part`]);
  });

  it('of who was killed is removed by who cannot start, and that of who runs stays', async () => {
    const box = new Sandbox();
    const killed = await ready(box);
    killed.child.kill('SIGKILL');
    await killed.ended.catch(() => {});
    const first = await ready(new Sandbox());
    const taken = `serve --no-auth --ready-file ready --port=${new URL(first.url).port}`;
    expect([(await box.run(taken)).status, content(box)]).toEqual([2, undefined]);
    expect([(await first.box.run(taken)).status, content(first.box)]).toEqual([2, `${first.url}\n`]);
  });

  it('is gone while requests that are under way may finish', async () => {
    const { box, child, url } = await serveStuck('--ready-file ready');
    child.kill('SIGTERM');
    await expect.poll(() => content(box)).toBeUndefined();
    await expect.poll(() => ask(`${url}/healthz`).catch(({ code }) => code)).toBe('ECONNREFUSED');
    expect(child.exitCode).toBeNull();
  });

  it('stays when it is by now that of a successor', async () => {
    const box = new Sandbox();
    const old = await ready(box);
    const { url } = await ready(box);
    expect((await old.endBy('SIGTERM')).ended.status).toBe(0);
    expect(content(box)).toBe(`${url}\n`);
  });

  it('is an ordinary file, or else an error, and what is not written ends with 8', async () => {
    const box = new Sandbox();
    for (const make of ['mkfifo ready', 'mkdir ready', 'ln -s /dev/null ready']) {
      await box.shell(`rm -rf ready; ${make}`);
      const run = await box.run('serve --port 0 --ready-file ready');
      const message = expect.stringMatching(/^tts: --ready-file \S*ready is not an ordinary file\nhint: /m);
      expect([run.status, run.stderr]).toEqual([2, message]);
      expect(box.list()).toEqual(['ready']);
    }
    const { status, stderr } = await box.run('serve --port=0 --ready-file no/such/file');
    expect([status, stderr]).toEqual([8, expect.stringContaining(': the folder does not exist\nhint: ')]);
  });
});

const document = readFileSync('docs/serve.md', 'utf8');
const execFile = promisify(execFileWithCallback);

/** Starts a `tts serve …` of the document on a free port, with a key in a file. */
async function start(words: readonly string[]) {
  const box = new Sandbox();
  const args = words
    .slice(2)
    .join(' ')
    .replace(/--port \S+/, '')
    .split(' ');
  const env = { TTS_API_KEY_FILE: box.file('key', KEY) };
  return serve(`${args.join(' ')} --json`, { box, env });
}

describe('the unit file of docs/serve.md', () => {
  const [unit = ''] = fenced('ini', document);
  const command = /^ExecStart=(\S+) (.*)$/m.exec(unit) ?? [];

  it.skipIf(!isThere('systemd-analyze'))('has no complaint from systemd', async () => {
    const box = new Sandbox();
    const here = unit.replace(String(command[1]), join(box.commands, 'tts'));
    expect(here).not.toBe(unit);
    box.file('tts.service', here);
    expect(await box.shell('systemd-analyze verify tts.service')).toMatchObject({ status: 0, stderr: '' });
  });

  it('starts a service with the key of a file, which ends well when systemd ends it', async () => {
    const { endBy, url } = await start(['tts', ...String(command[2]).split(' ')]);
    expect((await ask(new URL('/speakers', url).href, { headers: { 'x-api-key': KEY } })).status).toBe(200);
    expect((await endBy('SIGTERM')).ended.status).toBe(0);
  });
});

describe('the container file of docs/serve.md', () => {
  const [file = ''] = fenced('dockerfile', document);
  const wordsOf = (instruction: string): string[] =>
    JSON.parse(new RegExp(`^${instruction}(\\[.*\\])$`, 'm').exec(file)?.[1] ?? '[]');

  it('starts a service that its health check finds, until it ends', async () => {
    const { endBy, url } = await start(wordsOf('CMD '));
    const [command = '', ...args] = wordsOf('HEALTHCHECK CMD ');
    const here = args.map((word) => word.replace('8787', new URL(url).port));
    const check = () =>
      execFile(command, here).then(
        () => 0,
        ({ code }) => code,
      );
    expect(await check()).toBe(0);
    await endBy('SIGTERM');
    expect(await check()).toBe(1);
  });
});

it('docs/serve.md names the metrics that there are, and no other', async () => {
  const { url } = await start(['tts', 'serve', '--port', '0']);
  const { bytes } = await ask(new URL('/metrics', url).href);
  const there = Array.from(bytes.toString().matchAll(/^# TYPE (\w+)/gm), ([, name]) => name);
  const told = Array.from(document.matchAll(/^\| `(tts_\w+)/gm), ([, name]) => name);
  expect(told).toEqual(there);
});
