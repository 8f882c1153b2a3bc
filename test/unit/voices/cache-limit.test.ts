import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { modestSize } from '../../../src/voices/connections.ts';
import { emptyFolder } from '../../support/folder.ts';

it('A cache takes at most a tenth of the free room of its disk, also before its folder is there.', () => {
  const folder = emptyFolder();
  const { bavail, bsize } = statfsSync(folder);
  for (const place of [folder, join(folder, 'not/there/yet')]) {
    const size = modestSize(Number.MAX_SAFE_INTEGER, place);
    // Other programs use the disk as well.
    expect(Math.abs(size / ((bavail * bsize) / 10) - 1)).toBeLessThan(0.2);
    expect(modestSize(1, place)).toBe(1);
  }
  expect(modestSize(7, undefined)).toBe(7);
});
