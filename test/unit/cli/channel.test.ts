import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { actOn, takeChannel } from '../../../src/cli/channel.ts';
import { emptyFolder } from '../../support/folder.ts';

const LIVING = process.pid;

function hostOf(folder: string, pid: number, isRunning: (pid: number) => boolean = () => true) {
  return {
    env: { XDG_RUNTIME_DIR: folder },
    home: folder,
    platform: process.platform,
    pid,
    realm: 'here',
    uid: process.getuid?.(),
    isRunning,
    askToEnd: () => {},
    askToLook: () => {},
    on: () => {},
    off: () => {},
  };
}

const { signal } = new AbortController();

test('A queued run lets one speak first that was started earlier, though it comes later.', async () => {
  const folder = emptyFolder();
  const plan = { name: 'desk', interrupts: false };
  const spoke: string[] = [];
  const run = async (name: string, pid: number) => {
    using _turn = await takeChannel(plan, hostOf(folder, pid), signal);
    spoke.push(name);
  };
  const later = run('later', 4_000_101);
  await sleep(50);
  await Promise.all([later, run('earlier', 4_000_100)]);
  expect(spoke).toEqual(['earlier', 'later']);
});

test('A dead run holds nobody up, and is not stopped.', async () => {
  const folder = emptyFolder();
  const plan = { name: 'desk', interrupts: false };
  await takeChannel(plan, hostOf(folder, 4_000_000), signal);
  const host = hostOf(folder, LIVING, (pid) => pid === LIVING);
  expect(actOn('desk', 'stopped', host)).toBe(0);
  using _turn = await takeChannel(plan, host, signal);
});

test('A name that leads to another folder is refused.', async () => {
  const host = hostOf(emptyFolder(), LIVING);
  await expect(takeChannel({ name: '../x', interrupts: false }, host, signal)).rejects.toThrow(
    'is not allowed',
  );
  await expect(takeChannel({ name: '..', interrupts: false }, host, signal)).rejects.toThrow(
    'is not allowed',
  );
});

test.skipIf(process.platform === 'win32')(
  'Where others can write, no run is looked for, and none is noted.',
  async () => {
    const folder = emptyFolder();
    const home = emptyFolder();
    await takeChannel({ name: 'desk', interrupts: false }, hostOf(folder, LIVING), signal);
    const noted = readdirSync(folder, { recursive: true });
    for (const mode of [0o1777, 0o770]) {
      chmodSync(folder, mode);
      const host = { ...hostOf(folder, LIVING + 1), home };
      expect(actOn('desk', 'stopped', host)).toBe(0);
      using _turn = await takeChannel({ name: 'desk', interrupts: true }, host, signal);
      expect(readdirSync(folder, { recursive: true })).toEqual(noted);
      expect(readdirSync(home)).not.toEqual([]);
    }
  },
);

test.skipIf(process.platform === 'win32')('Where a file is the home, there is no place for runs.', () => {
  const home = join(emptyFolder(), 'home');
  writeFileSync(home, '');
  const host = { ...hostOf(home, LIVING), home };
  expect(() => actOn('desk', 'stopped', host)).toThrow(/it is not in a folder of your own/);
});

test.runIf(process.getuid?.() === 0)(
  'Root with the folders of another user notes no run there, and stops none.',
  async () => {
    const folder = emptyFolder();
    await takeChannel({ name: 'desk', interrupts: false }, hostOf(folder, LIVING), signal);
    const noted = readdirSync(folder, { recursive: true });
    chownSync(folder, 65_534, 65_534);
    const host = hostOf(folder, LIVING + 1);
    expect(() => actOn('desk', 'stopped', host)).toThrow(/it is not in a folder of your own/);
    const turn = takeChannel({ name: 'desk', interrupts: true }, host, signal);
    await expect(turn).rejects.toThrow(/it is not in a folder of your own/);
    expect(readdirSync(folder, { recursive: true })).toEqual(noted);
  },
);

test('Of twelve runs that come at once, one speaks at a time, in the order in which they were started.', async () => {
  const folder = emptyFolder();
  const spoke: number[] = [];
  let speaking = 0;
  const runs = Array.from({ length: 12 }, async (_, at) => {
    const turn = await takeChannel(
      { name: 'desk', interrupts: false },
      hostOf(folder, 4_000_100 + at),
      new AbortController().signal,
    );
    speaking += 1;
    expect(speaking).toBe(1);
    spoke.push(at);
    await sleep(1);
    speaking -= 1;
    turn?.[Symbol.dispose]();
  });
  await Promise.all(runs);
  expect(spoke).toEqual(runs.map((_, at) => at));
});

test('A run that waits and dies holds nobody up, and neither does one whose number another process has.', async () => {
  const folder = emptyFolder();
  const plan = { name: 'desk', interrupts: false };
  const tickets = join(folder, 'tts', 'run', 'desk');
  mkdirSync(tickets, { recursive: true });
  writeFileSync(join(tickets, '000000000000000001-0000000001'), '[4000000,"here","","waits"]');
  writeFileSync(join(tickets, '000000000000000001-0000000002'), `[${LIVING},"here","another","speaks"]`);
  writeFileSync(join(tickets, '000000000000000001-0000000002.paused'), '');
  const host = hostOf(folder, LIVING, (pid) => pid === LIVING);
  using _turn = await takeChannel(plan, host, signal);
  expect(readdirSync(tickets)).toEqual([expect.stringMatching(/^\d+-\d+$/)]);
});

test('A run that speaks is paused and goes on; one that waits is not.', async () => {
  const folder = emptyFolder();
  const plan = { name: 'desk', interrupts: false };
  const listeners: (() => void)[] = [];
  const host = {
    ...hostOf(folder, LIVING),
    on: (_: string, listener: () => void) => void listeners.push(listener),
    askToLook: () => listeners.forEach((listener) => void listener()),
  };
  using turn = await takeChannel(plan, host, signal);
  const over = new AbortController();
  const waiting = takeChannel(plan, hostOf(folder, LIVING + 1), over.signal);
  const told: boolean[] = [];
  turn?.onPause((isPaused) => void told.push(isPaused));
  expect([actOn('desk', 'paused', host), actOn('desk', 'paused', host)]).toEqual([1, 1]);
  expect([actOn('desk', 'resumed', host), actOn('desk', 'resumed', host)]).toEqual([1, 0]);
  expect(told).toEqual([true, false]);
  expect(actOn('other', 'paused', host)).toBe(0);
  over.abort();
  await expect(waiting).rejects.toThrow();
});
