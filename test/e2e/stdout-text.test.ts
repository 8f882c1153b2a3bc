import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listen } from '../support/listen.ts';
import { expectFailure, node, program, Sandbox } from '../support/run.ts';

const ASKED_FOR = ['tts --version', 'tts speak --help', 'tts config', 'tts hi --dry-run'];

describe('text for stdout that cannot be written', () => {
  it.each([...ASKED_FOR, 'tts doctor'])('is an error of the output: %s', async (line) => {
    const run = await new Sandbox().shell(`${line} > /dev/full`);
    expectFailure(run, 8, /no space is left there\nhint: free some space, or send it elsewhere/);
  });

  it.each([
    ['the settings', 'tts config --json', []],
    ['where a service listens', 'tts serve --port 0 --json', []],
    ['what a run came to, whose file is whole', 'tts hi -o out.wav --json', ['out.wav']],
  ])('is told as data where that was to be data: %s', async (_, line, files) => {
    const box = new Sandbox();
    const run = await box.shell(`${line} > /dev/full`);
    expect(JSON.parse(run.stderr).error).toEqual({
      message: 'cannot write stdout: no space is left there',
      hint: 'free some space, or send it elsewhere',
      exitCode: 8,
    });
    expect({ status: run.status, files: box.list() }).toEqual({ status: 8, files });
  });
});

describe('text for stdout that is closed', () => {
  it.each([...ASKED_FOR, 'tts doctor', 'tts hi -o out.wav --json', 'tts batch rows.csv --dry-run'])(
    'is an error of the output: %s',
    async (line) => {
      const box = new Sandbox();
      box.file('rows.csv', 'id,text\na,hi\n');
      const run = await box.shell(`${line} >&-`);
      expect([run.status, run.stderr]).toEqual([
        8,
        expect.stringContaining('cannot write stdout: it is closed'),
      ]);
    },
  );

  it('is nothing to a run that has nothing to print, nor to one that prints to /dev/null', async () => {
    const box = new Sandbox();
    expect((await box.shell('tts hi -q -o out.wav >&-')).status).toBe(0);
    for (const line of ASKED_FOR) expect((await box.shell(`${line} > /dev/null`)).status).toBe(0);
  });
});

it('A program that wants the status alone gets it.', () => {
  const { status } = spawnSync(node, [program, '--version'], { stdio: 'ignore' });
  expect(status).toBe(0);
});

describe('text for a reader that has left', () => {
  it.each(ASKED_FOR)('ends quietly: %s', async (line) => {
    const run = await new Sandbox().shell(`(sleep 0.3; ${line}) | exec <&-; exit $PIPESTATUS`);
    expect(run).toMatchObject({ status: 0, stderr: '' });
  });

  it('ends quietly, also where the system says it in other words', async () => {
    const box = new Sandbox();
    const port = await serveReset(() => box.file('reset'));
    const connect = `exec 3<>/dev/tcp/127.0.0.1/${port}; until [ -e reset ]; do sleep 0.01; done`;
    const run = await box.shell(`${connect}; tts config >&3`);
    expect(run).toMatchObject({ status: 0, stderr: '' });
  });
});

describe('the text that would be spoken', () => {
  it.each<[string, Record<string, string>]>([
    ['a key without a service', { TTS_API_KEY: 'key' }],
    ['a service without a key or a speaker', { TTS_BASE_URL: 'https://tts.example.com' }],
  ])('is shown whoever would speak it: %s', async (_, env) => {
    const { status, stdout, stderr } = await new Sandbox().tts(['hi', 'there', '--show-text'], { env });
    expect([status, `${stdout}`, stderr]).toEqual([0, 'hi there\n', '']);
  });
});

/** Takes a connection, and ends it at once with a TCP reset. */
function serveReset(done: () => void): Promise<number> {
  return listen(createServer((socket) => socket.once('close', done).resetAndDestroy()));
}
