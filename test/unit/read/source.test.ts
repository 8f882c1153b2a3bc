import { accessSync, appendFileSync, constants, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFile, openUnchanged } from '../../../src/read/source.ts';
import { emptyFolder } from '../../support/folder.ts';
import { signal } from './spoken.ts';

const BYTES = 300_000;

/** A regular file to look at, whose reader waits for the next message. Only root may read it. */
const KERNEL_LOG = '/proc/kmsg';

function canRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

describe('a file that must stay as it is', () => {
  it.each([
    ['grows', (path: string) => appendFileSync(path, 'x')],
    ['shrinks', (path: string) => truncateSync(path, BYTES / 2)],
    [
      'is replaced',
      (path: string) => {
        writeFileSync(`${path}.new`, 'y'.repeat(BYTES));
        renameSync(`${path}.new`, path);
      },
    ],
  ])('is refused if it %s while it is read', async (_how, change) => {
    const path = join(emptyFolder(), 'a.csv');
    writeFileSync(path, 'x'.repeat(BYTES));
    const read = async () => {
      const bytes = openUnchanged('a.csv', join(path, '..'), signal);
      await bytes.next();
      change(path);
      for await (const _ of bytes);
    };
    await expect(read()).rejects.toMatchObject({
      exitCode: 2,
      message: 'a.csv was changed while it was read',
    });
  });

  it('is read to its end otherwise', async () => {
    const path = join(emptyFolder(), 'a.csv');
    writeFileSync(path, 'x'.repeat(BYTES));
    let bytes = 0;
    for await (const piece of openUnchanged('a.csv', join(path, '..'), signal)) bytes += piece.length;
    expect(bytes).toBe(BYTES);
  });
});

it.skipIf(!canRead(KERNEL_LOG))(
  'A file of the system that never ends is refused, and blocks nothing.',
  async () => {
    const read = async () => {
      for await (const _ of openFile(KERNEL_LOG, '/', signal));
    };
    await expect(read()).rejects.toMatchObject({
      exitCode: 2,
      message: `cannot read ${KERNEL_LOG}: reading it would block for ever`,
    });
  },
);
