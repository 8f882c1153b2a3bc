import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { fakePlayer } from '../support/fake-player.ts';
import { Sandbox } from '../support/run.ts';

/** The letter of Linux for what a process does: `T` is stopped. */
const stateOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.[0];

test.runIf(process.platform === 'linux')(
  'What speaks is paused, goes on, and is stopped while it is paused.',
  async () => {
    const box = new Sandbox();
    const player = fakePlayer(box, 'plays');
    const act = async (name: string) => {
      const { status, stdout } = await box.tts([name, '--channel', 'desk', '--json']);
      return { status, ...JSON.parse(stdout.toString()) };
    };
    const run = box.start(['--channel', 'desk', '--player', player.command], { stdin: 'open' });
    run.stdin.write('The first sentence. And ');
    const pid = await player.running();
    expect(await act('pause')).toEqual({ status: 0, paused: 1 });
    await vi.waitFor(() => expect(stateOf(pid)).toBe('T'), 60_000);
    const before = player.heard().length;
    run.stdin.write('the second one. And so on.');
    expect(await act('resume')).toEqual({ status: 0, resumed: 1 });
    await vi.waitFor(() => expect(player.heard().length).toBeGreaterThan(before + 22_050), 60_000);
    expect(await act('pause')).toEqual({ status: 0, paused: 1 });
    expect(await act('stop')).toEqual({ status: 0, stopped: 1 });
    expect((await run.ended).status).toBe(0);
    expect(await act('resume')).toEqual({ status: 0, resumed: 0 });
  },
);

test('A run that was to make a file is terminated, and one that waits ends without a word.', async () => {
  const box = new Sandbox();
  const player = fakePlayer(box, 'plays');
  const env = { XDG_RUNTIME_DIR: box.path('runtime') };
  mkdirSync(env.XDG_RUNTIME_DIR, { mode: 0o700 });
  const runs = () => readdirSync(box.path('runtime/tts/run/desk')).length;
  const args = ['-q', '--channel', 'desk'];
  const file = box.start([...args, '-o', 'out.wav'], { env, stdin: 'open' });
  file.stdin.write('The first sentence. And ');
  await vi.waitFor(() => expect(runs()).toBe(1), 10_000);
  const waits = box.start([...args, '--queue', '--player', player.command, 'Never.'], { env });
  await vi.waitFor(() => expect(runs()).toBe(2), 10_000);
  expect((await box.tts(['stop', ...args, '--json'], { env })).stdout.toString()).toBe('{"stopped":2}\n');
  expect(await file.ended).toMatchObject({ status: 143, stderr: 'tts: terminated\n' });
  expect(await waits.ended).toMatchObject({ status: 0, stderr: '' });
  expect(box.list()).not.toContain('out.wav');
  expect(player.heard()).toHaveLength(0);
});
