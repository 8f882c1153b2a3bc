import {
  chmodSync,
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AtomicFile, createPart, removeLeftovers, type Writer } from '../../../src/kit/file.ts';
import { emptyFolder } from '../../support/folder.ts';

const { signal } = new AbortController();

/** A part with a text in it. */
function open(path: string, text: string): AtomicFile {
  const file = AtomicFile.forOutput({
    ...{ name: 'out.wav', path, old: undefined, clobber: true },
    writer: { pid: 1, realm: 'box', uid: undefined, isRunning: () => false },
  });
  writeSync(file.fd, text);
  return file;
}

it('Two runs of the same number, in containers that share a folder, do not touch the part of each other.', async () => {
  const folder = emptyFolder();
  const path = join(folder, 'out.wav');
  const [first, second] = [open(path, 'first'), open(path, 'second')];
  await first.publish(signal);
  expect(readFileSync(path, 'utf8')).toBe('first');
  await second.publish(signal);
  expect(readFileSync(path, 'utf8')).toBe('second');
  expect(readdirSync(folder)).toEqual(['out.wav']);
});

it('What is discarded leaves no trace, what is published stays, and neither is closed again.', async () => {
  const folder = emptyFolder();
  const path = join(folder, 'out.wav');
  const file = open(path, 'text');
  await file.publish(signal);
  const other = open(path, 'other');
  file.discard();
  expect(fstatSync(other.fd).size).toBe(5);
  other.discard();
  const third = openSync(path, 'r');
  onTestFinished(() => closeSync(third));
  other.discard();
  expect(fstatSync(third).size).toBe(4);
  expect(readFileSync(path, 'utf8')).toBe('text');
  expect(readdirSync(folder)).toEqual(['out.wav']);
});

it('The part of a private file is private while it is made, and a published one has the old permissions.', async () => {
  const folder = emptyFolder();
  for (const mode of [0o600, 0o640, 0o666]) {
    const path = join(folder, `out-${mode}.wav`);
    writeFileSync(path, 'old');
    chmodSync(path, mode);
    const file = AtomicFile.forOutput({
      ...{ name: 'out.wav', path, old: statSync(path), clobber: true },
      writer: { pid: 1, realm: 'box', uid: undefined, isRunning: () => false },
    });
    expect(fstatSync(file.fd).mode & 0o777).toBe(0o600);
    await file.publish(signal);
    expect(statSync(path).mode & 0o777).toBe(mode);
  }
});

/** It is in seconds of Unix time. The clock may have been set back since. */
const LONG_AGO = 1_000_000_000;
const FAR_AHEAD = 10_000_000_000;

/** Only the process 7 runs, besides the one that asks. */
function writer(pid: number, realm: string): Writer {
  return { pid, realm, uid: undefined, isRunning: (other) => other === 7 };
}

/** Makes a part and lets go of it, as a run does that is killed. */
function leavePart(target: string, by: Writer): string {
  const { fd, path } = createPart(target, by, 0o666);
  closeSync(fd);
  return basename(path);
}

describe('a part', () => {
  it('never has a name that is taken, and goes through no link', () => {
    const folder = emptyFolder();
    const target = join(folder, 'out.wav');
    const first = leavePart(target, writer(1, 'box'));
    rmSync(join(folder, first));
    writeFileSync(join(folder, 'other'), 'precious');
    symlinkSync('other', join(folder, first));
    expect(leavePart(target, writer(1, 'box'))).not.toBe(first);
    expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('precious');
  });

  it('tells by its name in which realm its process has its number', () => {
    const target = join(emptyFolder(), 'out.wav');
    const names = ['a', 'b', 'host', 'boot1 pid:[1]', 'boot1 pid:[2]'].map((realm) =>
      leavePart(target, writer(1, realm)),
    );
    expect(new Set(names).size).toBe(5);
    for (const name of names) expect(name).toMatch(/^out\.wav\.1-[0-9a-f]{8}\.part$/);
  });
});

describe('what is left of a run', () => {
  it.each([
    ['that is over', writer(6, 'here'), 'goes', 'goes'],
    ['that goes on', writer(7, 'here'), 'stays', 'stays'],
    ['with the same number', writer(8, 'here'), 'stays', 'goes'],
    ['that cannot be seen', writer(6, 'there'), 'stays', 'goes'],
    ['that cannot be seen, with the number of one that can', writer(7, 'there'), 'stays', 'goes'],
  ])('%s', (_, by, fresh, old) => {
    for (const [fate, time] of [
      [fresh, undefined],
      [old, LONG_AGO],
      [old, FAR_AHEAD],
    ] as const) {
      const target = join(emptyFolder(), 'out.wav');
      const path = join(target, '..', leavePart(target, by));
      if (time) utimesSync(path, time, time);
      removeLeftovers(target, writer(8, 'here'));
      expect(readdirSync(join(target, '..'))).toHaveLength(fate === 'stays' ? 1 : 0);
    }
  });

  it('for another file stays, and so does what only looks alike', () => {
    const folder = emptyFolder();
    leavePart(join(folder, 'two.wav'), writer(6, 'here'));
    leavePart(join(folder, 'out.wav.wav'), writer(6, 'here'));
    for (const name of ['out.wav', 'out.wav.part', 'out.wav.6.part']) writeFileSync(join(folder, name), 'x');
    const names = readdirSync(folder);
    removeLeftovers(join(folder, 'out.wav'), writer(8, 'here'));
    expect(readdirSync(folder)).toEqual(names);
  });
});
