import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { isAlive, isThere } from '../support/programs.ts';
import { expectFailure, Sandbox } from '../support/run.ts';
import { serve } from '../support/serve.ts';
import { smallDisk } from '../support/small-disk.ts';
import { writeUserConfig } from '../support/user-config.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const pcm = sound(4000);
const wav = plainWav(pcm);
const OUT = ['Hello\nfrom a program.', '-o', 'out.wav', '--retries', '0', '--engine', 'mine', '--no-cache'];

/** A sandbox whose engine `mine` is a bash line. In it, `$WAV` names a good WAV. */
function boxWith(line: string, more: object = {}, config: object = {}): Sandbox {
  const box = new Sandbox();
  box.file('good.wav', wav);
  const command = ['bash', '-c', line.replaceAll('$WAV', box.path('good.wav')), 'bash', '{voice}'];
  writeUserConfig(box, { ...config, engines: { mine: { command, ...more } } });
  return box;
}

describe('an engine that is a program', () => {
  it('gets the text in one line on stdin, and its WAV is taken as it is', async () => {
    const box = boxWith('cat > text; cat $WAV');
    expect(await box.run([...OUT, '-r', '22050'])).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('out.wav').subarray(44)).toEqual(pcm);
    expect(box.read('text').toString()).toBe('Hello from a program.\n');
  });

  it('gets files where it asks for them, and they are gone afterwards', async () => {
    const box = new Sandbox();
    box.file('good.wav', wav);
    const command = [
      'bash',
      '-c',
      `cp "$1" text; cp ${box.path('good.wav')} "$2"`,
      'bash',
      '{text}',
      '{output}',
    ];
    writeUserConfig(box, { engines: { mine: { command } } });
    expect(await box.run([...OUT, '-r', '22050'])).toMatchObject({ status: 0 });
    expect(box.read('out.wav').subarray(44)).toEqual(pcm);
    expect(box.read('text').toString()).toBe('Hello from a program.\n');
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('tts-engine-'))).toEqual([]);
  });

  it('may write bare samples, and has voices by name', async () => {
    const box = boxWith('echo "$1" > voice; tail -c +45 $WAV', {
      output: 's16le',
      sampleRate: 16_000,
      voices: ['anna', 'bert'],
    });
    expect(await box.run([...OUT, '-s', 'bert'])).toMatchObject({ status: 0 });
    expect(box.read('voice').toString()).toBe('bert\n');
    expect(box.read('out.wav').readUInt32LE(24)).toBe(16_000);
    expect(box.read('out.wav').subarray(44)).toEqual(pcm);
  });

  it('does not inherit a key', async () => {
    const box = boxWith('env > env; cat $WAV');
    await box.run(OUT, { env: { TTS_API_KEY_FILE: '', HF_TOKEN: 'hf_secret', FOO: 'bar' } });
    expect(box.read('env').toString()).toContain('FOO=bar');
    expect(box.read('env').toString()).not.toMatch(/TTS_API_KEY|HF_TOKEN/);
  });

  it.each([
    ['half a WAV', 'head -c 2000 $WAV', /mine failed/],
    ['junk', 'echo junk', /mine failed/],
    [
      'a status after a good WAV',
      'cat $WAV; echo one >&2; echo "no model" >&2; exit 3',
      /mine failed: no model/,
    ],
    ['a signal', 'kill -9 $$', /mine failed: it ended with SIGKILL/],
  ])('that ends with %s is an error with its last words', async (_, line, message) => {
    const box = boxWith(line);
    expectFailure(await box.run(OUT), 7, message);
    expect(box.list()).not.toContain('out.wav');
  });

  it('that is not there is told of', async () => {
    const box = new Sandbox();
    writeUserConfig(box, { engines: { mine: { command: 'no-such-program --x' } } });
    expectFailure(await box.run(OUT), 7, /there is no program no-such-program/);
  });

  it('that hangs and ignores SIGTERM is ended, with what it started', async () => {
    const box = boxWith('trap "" TERM; sleep 1000 & echo $! > child; echo $$ > self; wait');
    const run = await box.run([...OUT, '--timeout', '1']);
    expectFailure(run, 5, /for 1 s/);
    for (const name of ['child', 'self'])
      await expect.poll(() => isAlive(Number(box.read(name)))).toBe(false);
  });

  it('that is silent after its first bytes is given up by tts serve', async () => {
    const box = boxWith('head -c 2000 $WAV; sleep 1000', {}, { timeout: 1 });
    const { speak, endBy } = await serve('--no-auth --engine mine', { box });
    expect((await speak({ text: 'Hello.', speaker_no: 1001 })).status).toBe(504);
    const { ended } = await endBy('SIGTERM');
    expect(ended.stderr).toMatch(/engine failed: .*mine.* for 1 s\n/);
  });

  it('whose output became a pipe is an error', async () => {
    const box = new Sandbox();
    writeUserConfig(box, { engines: { mine: { command: ['mkfifo', '{output}'] } } });
    expectFailure(await box.run(OUT), 7, /mine failed: its output is not a regular file/);
  });

  it('whose child keeps the output in a session of its own ends with the run', async () => {
    const box = boxWith(
      'setsid bash -c "touch apart; sleep 80" & until [ -e apart ]; do sleep 0.05; done; head -c 2000 $WAV',
    );
    const begun = Date.now();
    const { status, stderr } = await box.run([...OUT, '--timeout', '1']);
    expect(status).toBe(5);
    expect(stderr).toMatch(/for 1 s/);
    // The child holds the pipes for 80 s.
    expect(Date.now() - begun).toBeLessThan(60_000);
  });

  it.runIf(process.getuid?.() === 0)(
    'that finds no room in its temporary folder leaves nothing there',
    async ({ skip }) => {
      const box = new Sandbox();
      writeUserConfig(box, { engines: { mine: { command: ['cat', '{text}'] } } });
      // A folder fits, and the first byte of a file does not.
      const TMPDIR = smallDisk(box, 'full', 'size=4k', skip);
      writeFileSync(box.path('full/rest'), Buffer.alloc(4096));
      const run = await box.run([...OUT, '--retries', '1'], { env: { TMPDIR } });
      expectFailure(run, 8, /cannot write \S+full: no space is left there/);
      expect(readdirSync(TMPDIR)).toEqual(['rest']);
    },
  );

  it.each([['SIGINT'], ['SIGKILL']] as const)(
    'ends after %s, and leaves no temporary folder',
    async (signal) => {
      const box = new Sandbox();
      const line = 'echo $$ > self; cp "$0" text; touch "$1"; while :; do echo >> "$1"; done';
      writeUserConfig(box, { engines: { mine: { command: ['bash', '-c', line, '{text}', '{output}'] } } });
      mkdirSync(box.path('temporary'));
      const run = box.start(OUT, { env: { TMPDIR: box.path('temporary') } });
      await expect.poll(() => box.list()).toContain('text');
      expect(readdirSync(box.path('temporary'))).toHaveLength(1);
      await run.endBy(signal);
      await expect.poll(() => readdirSync(box.path('temporary'))).toEqual([]);
      await expect.poll(() => isAlive(Number(box.read('self')))).toBe(false);
    },
  );

  it('is ended, with what it started, when a client of tts serve leaves', async () => {
    const box = boxWith('sleep 1000 & echo $! > child; echo $$ > self; head -c 2000 $WAV; wait');
    const { url } = await serve('--no-auth --engine mine', { box });
    const leaving = new AbortController();
    const answer = ask(`${url}/tts`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: { text: 'Hello.', speaker_no: 1001 },
      signal: leaving.signal,
    });
    await expect.poll(() => box.list()).toContain('self');
    leaving.abort();
    await expect(answer).rejects.toThrow();
    for (const name of ['child', 'self'])
      await expect.poll(() => isAlive(Number(box.read(name)))).toBe(false);
  });
});

it('The sound of a program comes from the cache until its arguments or a file of them change.', async () => {
  const box = new Sandbox();
  box.file('good.wav', wav);
  box.file('voice.onnx', 'a model');
  const use = (...more: string[]) => {
    const command = ['bash', '-c', 'cat > heard; cat good.wav', 'bash', box.path('voice.onnx'), ...more];
    writeUserConfig(box, { engines: { mine: { command } } });
  };
  const fromCache = async () => {
    const run = await box.run('Hello. -o out.wav --json --engine mine');
    return JSON.parse(run.stdout.toString()).fromCache;
  };
  use();
  expect([await fromCache(), await fromCache()]).toEqual([0, 1]);
  box.file('voice.onnx', 'another one');
  expect(await fromCache()).toBe(0);
  use('--slow');
  expect(await fromCache()).toBe(0);
});

it.runIf(isThere('espeak-ng'))("Debian's espeak-ng is such a program (skipped without it).", async () => {
  const box = new Sandbox();
  writeUserConfig(box, { engines: { mine: { command: ['espeak-ng', '--stdout', '--stdin'] } } });
  expect(await box.run(OUT)).toMatchObject({ status: 0, stderr: '' });
  expect(box.read('out.wav').length).toBeGreaterThan(20_000);
});
