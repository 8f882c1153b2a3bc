import { describe, expect, it } from 'vitest';
import { isThere } from '../support/programs.ts';
import { expectFailure, Sandbox } from '../support/run.ts';

const COMMANDS = [
  'batch',
  'serve',
  'speakers',
  'voices',
  'cache',
  'config',
  'login',
  'logout',
  'doctor',
  'completion',
  'manual',
];

describe('the help', () => {
  it.each([['--help'], ['-h'], ['help']])(
    'of tts %s fits on a screen and names every command',
    async (word) => {
      const { status, stdout, stderr } = await new Sandbox().run([word]);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      const lines = stdout.toString().trimEnd().split('\n');
      expect(lines.length).toBeLessThanOrEqual(40);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
      for (const command of COMMANDS) expect(stdout.toString()).toContain(command);
    },
  );

  it.each(['batch', 'stop', 'speak'])('of tts %s can be asked for in two ways', async (command) => {
    const box = new Sandbox();
    const one = await box.run([command, '--help']);
    const other = await box.run(['help', command]);
    expect(one).toMatchObject({ status: 0, stderr: '' });
    expect(one.stdout.toString()).toMatch(new RegExp(`tts ${command}`));
    expect(other.stdout.toString()).toBe(one.stdout.toString());
  });

  it.each(['books', 'marks', 'exit'])('has words on %s', async (topic) => {
    const { status, stdout, stderr } = await new Sandbox().run(['help', topic]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.toString().split('\n').length).toBeGreaterThan(3);
  });

  it('does not take words for a text', async () => {
    expectFailure(await new Sandbox().run(['help', 'me']), 2, /does not know "me"\nhint: .*tts speak help/);
  });

  it('is there also where the working folder is gone', async () => {
    const run = await new Sandbox().shell('mkdir gone && cd gone && rmdir ../gone && tts help config');
    expect(run.status).toBe(0);
    expect(run.stdout.toString()).toMatch(/^Usage: tts config/);
  });

  it.runIf(process.platform === 'linux' && isThere('script'))(
    'is three lines that work for tts alone on a terminal',
    async () => {
      const box = new Sandbox();
      const { stdout, status } = await box.shell('script -qec tts /dev/null', { env: { TERM: 'xterm' } });
      expect(status).toBe(2);
      const shown = stdout.toString().matchAll(/^ {2}(tts \S+(?: \S+)*?)(?: {2,}|\r?$)/gm);
      const steps = Array.from(shown, ([, line = '']) => line);
      expect(steps).toHaveLength(3);
      expect(stdout.toString()).not.toMatch(/^tts:/m);
      expect(await box.shell(`set -e\n${steps.join('\n')}`)).toMatchObject({ status: 0 });
      expect(box.list()).toEqual(['hello.wav']);
    },
  );
});

describe('a mistyped value', () => {
  it('is guessed', async () => {
    const run = await new Sandbox().run(['batch', '-', '--table', 'cvs'], { stdin: 'id,text\n' });
    expectFailure(run, 2, /--table must be one of csv, tsv, .*, and is "cvs"\nhint: did you mean csv\?\n/);
  });
});
