import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { randomKey } from '../../src/serve/service.ts';
import { ask } from '../support/ask.ts';
import { emptyFolder } from '../support/folder.ts';
import { silent } from '../support/http-bytes.ts';
import { listen } from '../support/listen.ts';
import { isThere } from '../support/programs.ts';
import { program, Sandbox } from '../support/run.ts';
import { serveSpeech } from '../support/speech-server.ts';

const folder = emptyFolder(afterAll);

const running: ChildProcessWithoutNullStreams[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

/** A `tts serve` as a process of its own, with what it has said so far. */
function serve(args: string[], env: Record<string, string> = {}) {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [program, 'serve', ...args], {
    env: { PATH, HOME: folder, XDG_RUNTIME_DIR: folder, ...env },
    cwd: folder,
  });
  running.push(child);
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (piece) => {
    said.stdout += piece;
  });
  child.stderr.on('data', (piece) => {
    said.stderr += piece;
  });
  const ended = once(child, 'close').then(([status]) => ({ status: status as number, ...said }));
  return { child, said, ended };
}

/** An engine that never answers: a request to its voice stays open. */
async function stuckEngine(): Promise<string[]> {
  const { url } = await serveSpeech(silent);
  return ['--engine', url];
}
const toStuck = { text: 'hello', speaker_no: 1001 };

const listening = { timeout: 60_000 };
const key = { 'x-api-key': 'sesame', 'content-type': 'application/json' };
const hello = { text: 'hello', speaker_no: 1 };

it('A key that is made begins with no sign that makes it look like an option.', () => {
  for (let i = 0; i < 1000; i += 1) expect(randomKey()).toMatch(/^\w/);
});

describe('tts serve', () => {
  it.runIf(isThere('curl'))(
    'says on stderr where it listens, makes a key, and the curl line it shows works',
    async () => {
      const { child, said, ended } = serve(['--port', '0', '--base-path', '/api/']);
      await expect.poll(() => said.stderr, listening).toMatch(/try: curl .*\/tts\n/);
      expect(said.stderr).toMatch(/listening on http:\/\/127\.0\.0\.1:\d+\/api\n/);
      const curl = /try: (curl .*)\n/.exec(said.stderr)?.[1] ?? '';
      const shell = spawn('sh', ['-c', `${curl} -sS`], { cwd: folder, stdio: 'ignore' });
      expect((await once(shell, 'close'))[0]).toBe(0);
      expect(readFileSync(join(folder, 'hello.wav')).subarray(0, 4).toString()).toBe('RIFF');
      child.kill('SIGTERM');
      expect(await ended).toMatchObject({ status: 0, stdout: '' });
    },
  );

  it.runIf(isThere('curl')).each([
    [['--api-key', 'sesame'], {}],
    [[], { TTS_API_KEY: 'sesame' }],
  ])(
    'shows a curl line that works for a key of %j %j, once it is exported, and not the key',
    async (args, env) => {
      const { said } = serve(['--port', '0', ...args], env);
      await expect.poll(() => said.stderr, listening).toMatch(/try: curl .*\n/);
      expect(said.stderr).not.toContain('sesame');
      expect(said.stderr).toMatch(/needs your key: export TTS_API_KEY=\.\.\. /);
      const curl = /try: (curl .*)\n/.exec(said.stderr)?.[1] ?? '';
      const file = join(folder, `own-${args.length}.wav`);
      const shell = spawn('sh', ['-c', `export TTS_API_KEY=sesame\n${curl.replace('hello.wav', file)} -sS`]);
      expect((await once(shell, 'close'))[0]).toBe(0);
      expect(readFileSync(file).subarray(0, 4).toString()).toBe('RIFF');
    },
  );

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('ends at once at a second %s, with status %i', async (signal, status) => {
    const { child, said, ended } = serve(['--port=0', '--no-auth', ...(await stuckEngine())]);
    await expect.poll(() => said.stderr, listening).toMatch(/try: .*\n/);
    const url = /listening on (\S+)/.exec(said.stderr)?.[1];
    ask(`${url}/tts`, { method: 'POST', headers: key, body: toStuck }).catch(() => {});
    await expect.poll(async () => (await ask(`${url}/healthz`)).json.requests).toBe(1);
    child.kill('SIGTERM');
    await expect.poll(() => said.stderr, listening).toMatch(/stopping: /);
    child.kill(signal);
    expect((await ended).status).toBe(status);
  });

  it('gives scripts the address as JSON and in a file, and ends well at Ctrl-C', async () => {
    const readyFile = join(folder, 'ready');
    writeFileSync(readyFile, 'stale');
    const { child, said, ended } = serve(['--port=0', '--json', '--ready-file', readyFile]);
    await expect.poll(() => said.stdout, listening).toMatch(/\n$/);
    const { url, apiKey } = JSON.parse(said.stdout);
    await expect.poll(() => existsSync(readyFile) && readFileSync(readyFile, 'utf8')).toBe(`${url}\n`);
    const headers = { ...key, 'x-api-key': apiKey };
    expect((await ask(`${url}/tts`, { method: 'POST', headers, body: hello })).status).toBe(200);
    child.kill('SIGINT');
    expect((await ended).status).toBe(0);
    expect(existsSync(readyFile)).toBe(false);
  });

  it('warns of an espeak-ng that does not work, and speaks without it', async () => {
    writeFileSync(join(folder, 'espeak-ng'), '#!/bin/sh\necho broken >&2\nexit 1\n', { mode: 0o755 });
    const { child, said, ended } = serve(['--port=0', '--no-auth'], { PATH: folder });
    await expect.poll(() => said.stderr, listening).toMatch(/try: .*\n/);
    expect(said.stderr).toMatch(
      /^tts: warning: the voices of espeak-ng are missing, for it does not work: broken\n/,
    );
    const url = /listening on (\S+)/.exec(said.stderr)?.[1];
    const answer = await ask(`${url}/tts`, { method: 'POST', headers: key, body: hello });
    expect(answer.status).toBe(200);
    child.kill('SIGTERM');
    expect((await ended).status).toBe(0);
  });

  it('ends well at SIGTERM also while it waits for the voices of espeak-ng', async () => {
    const asked = join(folder, 'asked');
    const script = `#!/bin/sh\necho > '${asked}'\nexec sleep 60\n`;
    writeFileSync(join(folder, 'espeak-ng'), script, { mode: 0o755 });
    const { PATH = '' } = process.env;
    const { child, ended } = serve(['--port=0', '--no-auth'], { PATH: `${folder}:${PATH}` });
    await expect.poll(() => existsSync(asked), listening).toBe(true);
    child.kill('SIGTERM');
    expect((await ended).status).toBe(0);
  });

  it('refuses streamed requests with a status, and breaks none off, where too many wait', async () => {
    const { said } = serve(['--port=0', '--no-auth', '--workers=1', '--max-queue=1']);
    await expect.poll(() => said.stderr, listening).toMatch(/try: .*\n/);
    const url = /listening on (\S+)/.exec(said.stderr)?.[1];
    const config = { use_streaming_response: true };
    const one = () => ask(`${url}/tts`, { method: 'POST', headers: key, body: { ...hello, config } });
    const replies = await Promise.all(Array.from({ length: 20 }, one));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 503]));
    for (const { status, json } of replies) if (status === 503) expect(json.error.code).toBe('busy');
    const mute = await ask(`${url}/tts`, {
      method: 'POST',
      headers: key,
      body: { ...hello, text: '你好', config },
    });
    expect([mute.status, mute.json.error.code]).toEqual([422, 'unsupported_text']);
  });

  it('goes on when whoever read its stderr and stdout has left', async () => {
    const script = `"${process.execPath}" "${program}" serve --port 0 --no-auth --json --log text 2>&1 | head -1`;
    const shell = spawn('sh', ['-c', script], {
      env: { PATH: process.env.PATH, HOME: folder, XDG_RUNTIME_DIR: folder },
      detached: true,
    });
    try {
      const [line] = (await once(shell.stdout, 'data')) as [Buffer];
      const { url } = JSON.parse(line.toString());
      for (const _ of [1, 2, 3]) expect((await ask(`${url}/healthz`)).status).toBe(200);
      const answer = await ask(`${url}/tts`, { method: 'POST', headers: key, body: hello });
      expect(answer.status).toBe(200);
    } finally {
      process.kill(-(shell.pid as number), 'SIGKILL');
    }
  });

  it('takes a key as those who send it do: without the line break that it was read with', async () => {
    const { said } = serve(['--port=0'], { TTS_API_KEY: 'sesame\n' });
    await expect.poll(() => said.stderr, listening).toMatch(/try: .*\n/);
    const url = /listening on (\S+)/.exec(said.stderr)?.[1];
    expect((await ask(`${url}/tts`, { method: 'POST', headers: key, body: hello })).status).toBe(200);
  });

  it('takes the key from a file that the environment names, and does not show it', async () => {
    writeFileSync(join(folder, 'key.txt'), 'sesame\n');
    const { said } = serve(['--port=0'], { TTS_API_KEY_FILE: 'key.txt' });
    await expect.poll(() => said.stderr, listening).toMatch(/try: .*\n/);
    const url = /listening on (\S+)/.exec(said.stderr)?.[1];
    expect((await ask(`${url}/tts`, { method: 'POST', headers: key, body: hello })).status).toBe(200);
    expect(`${said.stdout}${said.stderr}`).not.toMatch(/sesame|key of this run/);
    const lost = await serve(['--port=0'], { TTS_API_KEY_FILE: 'nowhere.txt' }).ended;
    expect(lost).toMatchObject({ status: 2, stderr: expect.stringContaining('TTS_API_KEY_FILE') });
  });

  it.each(['text', 'json'])('logs requests as %s, without keys and texts', async (form) => {
    const { child, said, ended } = serve(['--port=0', '--log', form], { TTS_API_KEY: 'sesame' });
    await expect.poll(() => said.stderr, listening).toMatch(/try: .*\n/);
    const url = /listening on ([^\s"]+)/.exec(said.stderr)?.[1];
    await ask(`${url}/tts?key=sesame`, { method: 'POST', headers: key, body: hello });
    child.kill('SIGTERM');
    const { stderr } = await ended;
    expect(stderr).toMatch(
      form === 'json'
        ? /^\{.*"status":200.*"characters":5.*\}$/m
        : /POST \/tts 200 \d+ ms, speaker 1, 5 characters$/m,
    );
    expect(stderr).not.toContain('sesame');
    expect(stderr.replace(/try: .*/, '')).not.toContain('hello');
  });

  it.each([
    [['--no-auth', '--host', '0.0.0.0'], /^tts: --no-auth would let the whole network in.*\nhint: /],
    [['--api-key', 'two words'], /^tts: --api-key holds no valid API key\nhint: a key has no spaces/],
    [['--no-auth', '--api-key', 'x'], /^tts: --no-auth and --api-key contradict each other\nhint: /],
    [['--port', '70000'], /^tts: --port must be 65535 or less, and is 70000\n/],
    [['--base-path', 'a b'], /^tts: --base-path must begin with a slash, as in \/api, and is "a b"\n/],
    [['--base-path', '/a b'], /^tts: --base-path must have letters and digits of ASCII/],
    [['--base-path', '/a//b'], /^tts: --base-path must have one slash between two names/],
    [['--base-path', '/a/../b'], /^tts: --base-path must not hold "\." or "\.\."/],
    [['--base-path', '/.'], /^tts: --base-path must not hold/],
    [
      ['--callbacks', 'https://*.example.com'],
      /^tts: bad value for --callbacks: .*\nhint: there are no patterns/,
    ],
    [['--callbacks', '*'], /^tts: bad value for --callbacks: \*\nhint: there are no patterns/],
    [['--callbacks', 'a.example'], /^tts: bad value for --callbacks: a.example\nhint: give an origin/],
    [['--cors', 'https://a.example/page'], /^tts: --cors must be one origin without a path/],
    [['--fault', 'hang'], /^tts: unknown option '--fault'/],
    [['--log', 'xml'], /^tts: --log must be one of text, json, and is "xml"\n/],
    [['--host', ''], /^tts: --host must be an address or a name of this machine, and is ""\n/],
    [['--prot', '1'], /^tts: unknown option '--prot'\nhint: did you mean --port\?/],
    [['word'], /^tts: tts serve does not know "word"\nhint: .*tts speak serve/],
    [['--host', '192.0.2.1'], /^tts: cannot listen on 192\.0\.2\.1 port 8787 \(EADDRNOTAVAIL\)\nhint: /],
  ])('refuses %j with status 2', async (args, message) => {
    const { status, stderr, stdout } = await new Sandbox().run(['serve', ...args]);
    expect([status, stdout.toString()]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  });

  it('says so when another program listens on its port', async () => {
    const port = await listen(createServer());
    const { status, stderr } = await new Sandbox().run(['serve', '--port', String(port)]);
    expect(status).toBe(2);
    expect(stderr).toMatch(
      `tts: cannot listen on 127.0.0.1 port ${port} (EADDRINUSE)\nhint: another program`,
    );
  });

  it('writes the ready file through no link, for whomever the umask lets read it', async () => {
    const box = new Sandbox();
    box.file('other', 'precious');
    const line = 'ln -s other ready; ln -s other ready.$$.part; exec tts serve --port 0 --ready-file ready';
    const run = box.startShell(`umask 027; ${line}`);
    await expect
      .poll(() => existsSync(box.path('ready')) && box.read('ready').toString(), listening)
      .toMatch(/^http:/);
    expect(lstatSync(box.path('ready')).mode & 0o777).toBe(0o640);
    expect(box.read('other').toString()).toBe('precious');
    expect((await run.endBy('SIGTERM')).ended.status).toBe(0);
    expect(box.list()).toEqual(['other', `ready.${run.child.pid}.part`]);
  });

  describe('has a ready file that', () => {
    const content = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);

    /** @returns the service, and its base URL from its ready file */
    async function ready(readyFile: string, ...args: string[]) {
      const before = content(readyFile);
      const service = serve(['--no-auth', '--ready-file', readyFile, ...args]);
      await expect.poll(() => content(readyFile), listening).not.toBe(before);
      return { ...service, url: content(readyFile)?.trimEnd() as string };
    }

    it('is removed where whoever wrote it was killed', async () => {
      const file = new Sandbox().path('ready');
      const killed = await ready(file, '--port=0');
      killed.child.kill('SIGKILL');
      await killed.ended.catch(() => {});
      expect(content(file)).toBe(`${killed.url}\n`);
      const { url } = await ready(new Sandbox().path('ready'), '--port=0');
      const taken = `--port=${new URL(url).port}`;
      const failed = await serve(['--no-auth', taken, '--ready-file', file]).ended;
      expect([failed.status, content(file)]).toEqual([2, undefined]);
    });

    it('stays when another service cannot start', async () => {
      const file = new Sandbox().path('ready');
      const first = await ready(file, '--port=0');
      const { port } = new URL(first.url);
      const second = await serve(['--no-auth', `--port=${port}`, '--ready-file', file]).ended;
      expect([second.status, content(file)]).toEqual([2, `${first.url}\n`]);
    });

    it('is gone while requests that are under way may finish', async () => {
      const file = new Sandbox().path('ready');
      const { child, url } = await ready(file, '--port=0', ...(await stuckEngine()));
      ask(`${url}/tts`, { method: 'POST', headers: key, body: toStuck }).catch(() => {});
      await expect.poll(async () => (await ask(`${url}/healthz`)).json.requests).toBe(1);
      child.kill('SIGTERM');
      await expect.poll(() => content(file)).toBeUndefined();
      await expect.poll(() => ask(`${url}/healthz`).catch(({ code }) => code)).toBe('ECONNREFUSED');
      expect(child.exitCode).toBeNull();
    });

    it('stays when it is by now that of a successor', async () => {
      const file = new Sandbox().path('ready');
      const old = await ready(file, '--port=0');
      const { url } = await ready(file, '--port=0');
      old.child.kill('SIGTERM');
      expect((await old.ended).status).toBe(0);
      expect(content(file)).toBe(`${url}\n`);
    });
  });

  it.each(['mkfifo ready', 'mkdir ready', 'ln -s /dev/null ready'])(
    'leaves alone what is not an ordinary file: %s',
    async (make) => {
      const box = new Sandbox();
      const run = await box.shell(`${make}; exec tts serve --port 0 --ready-file ready`);
      expect(run.status).toBe(2);
      expect(run.stderr).toMatch(/^tts: --ready-file \S*ready is not an ordinary file\nhint: /m);
      expect(box.list()).toEqual(['ready']);
    },
  );

  it('ends with status 8, and does not hang, when it cannot write the ready file', async () => {
    const args = ['serve', '--port=0', '--ready-file', join(folder, 'no/such/file')];
    const { status, stderr } = await new Sandbox().run(args);
    expect(status).toBe(8);
    expect(stderr).toContain('tts: cannot write');
  });
});
