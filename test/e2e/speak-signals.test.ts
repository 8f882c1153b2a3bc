import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { complete, head, silent } from '../support/http-bytes.ts';
import { isListening, named, type Running, type RunOptions, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

/** 100 ms are promised; the bound only tells an end from a hang, on a machine that does other things as well. */
const AT_ONCE_MS = 30_000;

const stuck: Script = async (wire) => {
  const wav = plainWav(sound(3_000_000), 0xffffffff);
  await wire.write(head(200, { 'Content-Length': wav.length + 1000 }));
  await wire.write(wav);
};

interface Situation {
  readonly script: Script;
  readonly args: readonly string[];
  readonly options?: RunOptions;
  /** It tells whether the run has got to where it is to be interrupted. */
  readonly there: (run: Running, requests: number) => boolean | Promise<boolean>;
}

const settled = async (milliseconds: number) => {
  await sleep(milliseconds);
  return true;
};

const situations: Readonly<Record<string, Situation>> = {
  'with an open stdin': {
    script: complete(plainWav(sound(100))),
    args: ['-o', 'out.wav'],
    options: { stdin: 'open' },
    there: isListening,
  },
  'with a file that is a pipe nobody writes to': {
    script: complete(plainWav(sound(100))),
    args: ['-f', 'fifo', '-o', 'out.wav'],
    there: isListening,
  },
  'with an open stdin and a request that hangs': {
    script: silent,
    args: ['hi', '-o', 'out.wav'],
    options: { stdin: 'open' },
    there: (_, requests) => requests === 1,
  },
  'with a reader that is stuck': {
    script: stuck,
    args: ['hi'],
    there: async (_, requests) => requests === 1 && (await settled(200)),
  },
  'with a FIFO that nobody reads': {
    script: silent,
    args: ['hi', '-o', 'fifo'],
    there: isListening,
  },
  'with a key file that nobody writes': {
    script: silent,
    args: ['hi', '-o', 'out.wav'],
    options: { env: { TTS_API_KEY: '', TTS_API_KEY_FILE: 'fifo' } },
    there: isListening,
  },
};

/** Signals take one way; the others show that they take it. */
const OTHERS = ['with an open stdin and a request that hangs', 'with a reader that is stuck'];

describe.each([
  ['SIGINT', 130, Object.keys(situations)],
  ['SIGTERM', 143, OTHERS],
  ['SIGHUP', 129, OTHERS],
] as const)('%s', (signal, status, names) => {
  it.each(names)('ends a run at once, and leaves nothing behind: %s', async (name) => {
    const { script, args, options, there } = situations[name] as Situation;
    const server = await serveBytes(script);
    const box = new Sandbox();
    execFileSync('mkfifo', [box.path('fifo')]);
    const run = box.start(args, { ...options, env: named(server.url, options?.env) });
    // Nobody reads: the pipe fills, and the run waits.
    run.stdout.pause();
    await expect.poll(() => there(run, server.requests.length)).toBe(true);
    const begun = performance.now();
    run.child.kill(signal);
    const [code] = await new Promise<[number | null]>((resolve) =>
      run.child.once('exit', (...end) => resolve([end[0]])),
    );
    expect(code).toBe(status);
    expect(performance.now() - begun).toBeLessThan(AT_ONCE_MS);
    expect(box.list()).toEqual(['fifo']);
    await expect.poll(() => server.connections.open).toBe(0);
  });

  it('ends a run at once in which Node waits for something that cannot be ended, such as a lookup', async () => {
    const server = await serveBytes(silent);
    const box = new Sandbox();
    const busy = box.file(
      'busy.cjs',
      "require('node:crypto').pbkdf2('', '', 2 ** 31 - 1, 64, 'sha512', () => {})",
    );
    const env = named(server.url, { NODE_OPTIONS: `--require ${busy}` });
    const run = box.start('hi -o out.wav', { env });
    await expect.poll(() => server.requests.length).toBe(1);
    const { ended, milliseconds } = await run.endBy(signal);
    expect(ended.stderr).toMatch(/^tts: [^\n]+\n(?:hint: [^\n]+\n)?$/);
    expect(run.child.signalCode).toBe(signal);
    expect(milliseconds).toBeLessThan(AT_ONCE_MS);
    expect(box.list()).toEqual(['busy.cjs']);
  });
});

it.runIf(process.platform === 'linux')(
  'SIGUSR1 and SIGUSR2 neither end a run that does not speak yet nor open it to a debugger.',
  async () => {
    const run = new Sandbox().start('-o out.wav -q', { stdin: 'open' });
    await expect.poll(() => isListening(run)).toBe(true);
    run.child.kill('SIGUSR1');
    run.child.kill('SIGUSR2');
    run.stdin.end('Hello.');
    expect(await run.ended).toMatchObject({ status: 0, stderr: '' });
  },
);
