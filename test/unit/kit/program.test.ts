import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SECRET_VARIABLES } from '../../../src/kit/host.ts';
import { Child, type ChildOptions, outputOf } from '../../../src/kit/program.ts';
import { isAlive } from '../../support/programs.ts';

const never = new AbortController().signal;

const endGroup = (pid: number) => void process.kill(-pid, 'SIGKILL');

function start(line: string, options: Partial<ChildOptions> = {}): Child {
  const child = new Child('sh', ['-c', line], {
    env: process.env,
    stdin: 'ignore',
    stdout: 'pipe',
    ...options,
  });
  onTestFinished(() => child.end());
  return child;
}

async function firstNumber(child: Child): Promise<number> {
  const [piece] = await once(child.stdout, 'data');
  return Number(piece);
}

describe('a child', () => {
  const PROXIES = { HTTPS_PROXY: 'http://me:secret@proxy:1', http_proxy: 'me:secret@proxy:2' };

  it('gets the environment, but no secret that this program reads', async () => {
    const keys = Object.fromEntries(SECRET_VARIABLES.map((name) => [name, 'secret']));
    const env = { PATH: process.env.PATH, FOO: 'bar', NO_PROXY: 'a@b', ...keys, ...PROXIES };
    const output = (await outputOf('env', [], { env, signal: never })).toString();
    for (const line of ['FOO=bar', 'NO_PROXY=a@b', 'HTTPS_PROXY=http://proxy:1', 'http_proxy=proxy:2'])
      expect(output.split('\n')).toContain(line);
    expect(output).not.toContain('secret');
    expect(SECRET_VARIABLES).toContain('HF_TOKEN');
  });

  it('that goes to the network keeps the password of a proxy', async () => {
    const env = { PATH: process.env.PATH, HF_TOKEN: 'token', ...PROXIES };
    const output = (await outputOf('env', [], { env, signal: never, usesNetwork: true })).toString();
    expect(output).toContain('HTTPS_PROXY=http://me:secret@proxy:1');
    expect(output).not.toContain('token');
  });

  it('keeps the end of what it says on stderr, and its last line without escapes', async () => {
    const child = start(
      `head -c 100000 /dev/zero | tr '\\0' x >&2; printf 'first\\r\\033[1mlast\\033[0m\\n\\n' >&2; exit 3`,
    );
    expect(await child.spoken()).toEqual({ status: 3, signal: null, failure: undefined });
    expect(child.said.length).toBe(4096);
    expect(child.lastWords).toBe('last');
  });

  it('that is not there is an error, and may be ended all the same', async () => {
    const child = new Child('/no/such/program', [], { env: {}, stdin: 'pipe', stdout: 'pipe', endGroup });
    await expect(child.started).rejects.toMatchObject({ code: 'ENOENT' });
    const failure = expect.objectContaining({ code: 'ENOENT' });
    expect(await child.exited).toEqual({ status: null, signal: null, failure });
    expect(await child.closed).toEqual({ status: null, signal: null, failure });
    child.end();
    await child.stop();
    expect(child.isRunning).toBe(false);
  });

  it('that ignores SIGTERM is ended by SIGKILL', async () => {
    const child = start('trap "" TERM; echo $$; while :; do sleep 1; done');
    const pid = await firstNumber(child);
    await child.stop();
    expect(await child.exited).toMatchObject({ signal: 'SIGKILL' });
    expect(isAlive(pid)).toBe(false);
  });

  it('ends with its group', async () => {
    const child = start('sleep 1000 & echo $!; wait', { endGroup });
    const grandchild = await firstNumber(child);
    expect(isAlive(grandchild)).toBe(true);
    child.end();
    await child.closed;
    await expect.poll(() => isAlive(grandchild)).toBe(false);
  });

  it('that ends by itself leaves nothing of its group', async () => {
    const child = start('sleep 1000 & echo $!', { endGroup });
    const grandchild = await firstNumber(child);
    expect(await child.closed).toMatchObject({ status: 0 });
    await expect.poll(() => isAlive(grandchild)).toBe(false);
  });

  it.each([true, false])('ends when a signal aborts, which may be before its start: %s', async (isBefore) => {
    const control = new AbortController();
    const reason = new Error('gone');
    if (isBefore) control.abort(reason);
    const begin = () => start('exec sleep 1000', { signal: control.signal });
    if (isBefore) return expect(begin).toThrow(reason);
    const child = begin();
    control.abort(reason);
    expect(await child.closed).toMatchObject({ signal: 'SIGKILL' });
  });

  it('whose stderr another process holds is waited for no longer than a moment', async () => {
    const child = start('sleep 1000 & echo $!; echo words >&2');
    const holder = await firstNumber(child);
    onTestFinished(() => void process.kill(holder, 'SIGKILL'));
    expect(await child.spoken()).toMatchObject({ status: 0 });
    expect(child.lastWords).toBe('words');
  });
});

describe('the output of a program', () => {
  const env = process.env;

  it('is made of its input', async () => {
    expect((await outputOf('cat', [], { env, signal: never, input: 'some words' })).toString()).toBe(
      'some words',
    );
  });

  it.each([
    ['echo "it is broken" >&2; exit 1', 'it is broken'],
    ['exit 4', 'it ended with status 4'],
    ['kill -9 $$', 'it ended with SIGKILL'],
    ['yes', 'it wrote more than 67108864 bytes'],
  ])('is missing where it fails: %s', async (line, message) => {
    await expect(outputOf('sh', ['-c', line], { env, signal: never })).rejects.toThrow(message);
  });

  it('is given up with the reason of a signal', async () => {
    const run = outputOf('sleep', ['1000'], { env, signal: AbortSignal.timeout(50) });
    await expect(run).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});
