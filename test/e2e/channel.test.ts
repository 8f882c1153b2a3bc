import { readFileSync } from 'node:fs';
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
    expect((await run.ended).status).toBe(143);
    expect(await act('resume')).toEqual({ status: 0, resumed: 0 });
  },
);
