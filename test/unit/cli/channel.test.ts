import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { stopChannel, takeChannel } from '../../../src/cli/channel.ts';
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
  };
}

const { signal } = new AbortController();

test('A queued run speaks when the one before it has ended.', async () => {
  const folder = emptyFolder();
  const plan = { name: 'desk', interrupts: false };
  const first = await takeChannel(plan, hostOf(folder, LIVING), signal);
  let isTurn = false;
  await sleep(2);
  const second = takeChannel(plan, hostOf(folder, LIVING + 1), signal).then((turn) => {
    isTurn = true;
    return turn;
  });
  await sleep(100);
  expect(isTurn).toBe(false);
  first[Symbol.dispose]();
  (await second)[Symbol.dispose]();
  expect(isTurn).toBe(true);
});

test('A dead run holds nobody up, and is not stopped.', async () => {
  const folder = emptyFolder();
  const plan = { name: 'desk', interrupts: false };
  await takeChannel(plan, hostOf(folder, 4_000_000), signal);
  const host = hostOf(folder, LIVING, (pid) => pid === LIVING);
  expect(stopChannel('desk', host)).toBe(0);
  using _turn = await takeChannel(plan, host, signal);
});

test('A name that leads to another folder is refused.', async () => {
  const host = hostOf(emptyFolder(), LIVING);
  await expect(takeChannel({ name: '../x', interrupts: false }, host, signal)).rejects.toThrow(
    'is not allowed',
  );
});
