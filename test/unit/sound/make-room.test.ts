import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shiftRight } from '../../../src/sound/encode/wav.ts';
import { emptyFolder } from '../../support/folder.ts';
import { sound } from './wav-builder.ts';

const MiB = 1024 * 1024;

describe('shiftRight', () => {
  let path: string;
  let file: FileHandle;

  beforeEach(async () => {
    path = join(emptyFolder(), 'wav');
    file = await open(path, 'wx+');
  });
  afterEach(() => file.close());

  it.each([
    ['nothing', 44, 36],
    ['several blocks', 44 + MiB + 17, 36],
    ['blocks by more than their own length', 44 + 2 * MiB + 1, 2 * MiB + 5],
  ])('moves %s', async (_, length, by) => {
    const before = sound(length);
    await file.write(before, 0, length, 0);
    await shiftRight(file, 44, by);
    const after = await readFile(path);
    expect(after.subarray(0, 44).equals(before.subarray(0, 44))).toBe(true);
    expect(after.subarray(44 + by).equals(before.subarray(44))).toBe(true);
  });

  it('stops when it is told to', async () => {
    await file.write(sound(1000), 0, 1000, 0);
    await expect(shiftRight(file, 44, 36, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
    expect((await file.stat()).size).toBe(1000);
  });
});
