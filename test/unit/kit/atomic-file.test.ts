import {
  chmodSync,
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { AtomicFile } from '../../../src/kit/file.ts';
import { emptyFolder } from '../../support/folder.ts';

const { signal } = new AbortController();

/** A part with a text in it. */
function open(path: string, text: string, clobber = true): AtomicFile {
  const file = AtomicFile.forOutput({
    ...{ name: 'out.wav', path, old: undefined, clobber },
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

it('A file that came up meanwhile is kept where none may be replaced.', async () => {
  const folder = emptyFolder();
  const path = join(folder, 'out.wav');
  const file = open(path, 'mine', false);
  writeFileSync(path, 'theirs');
  await expect(file.publish(signal)).rejects.toThrow('out.wav exists');
  expect(readFileSync(path, 'utf8')).toBe('theirs');
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

it('One that is interrupted is not published.', async () => {
  const folder = emptyFolder();
  const reason = new Error('interrupted');
  const file = open(join(folder, 'out.wav'), 'text');
  await expect(file.publish(AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(readdirSync(folder)).toEqual([]);
});
