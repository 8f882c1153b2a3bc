import { mkdtempSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { PartFile } from '../../../src/sink/part-file.ts';

it('Two runs of the same number, in containers that share a folder, do not touch the part of each other.', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tts-part-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'out.wav');
  const { signal } = new AbortController();
  const open = () =>
    new PartFile({
      name: path,
      path,
      old: undefined,
      clobber: true,
      run: { pid: 1, realm: 'box', uid: undefined, isRunning: () => false },
    });
  const [first, second] = [open(), open()];
  writeSync(first.fd, 'first');
  writeSync(second.fd, 'second');
  await first.publish(signal);
  expect(readFileSync(path, 'utf8')).toBe('first');
  await second.publish(signal);
  expect(readFileSync(path, 'utf8')).toBe('second');
  expect(readdirSync(folder)).toEqual(['out.wav']);
});
