import { readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isNewToday } from '../../../src/cli/hints.ts';
import { emptyFolder } from '../../support/folder.ts';

function hostWith(cache: string | undefined) {
  return {
    env: { XDG_CACHE_HOME: cache },
    home: undefined,
    platform: 'linux',
    uid: process.geteuid?.(),
  } as const;
}

it('A note is new once a day, and another note at once.', () => {
  const cache = emptyFolder();
  const host = hostWith(cache);
  expect([isNewToday('a', host), isNewToday('a', host), isNewToday('b', host)]).toEqual([true, false, true]);
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  utimesSync(join(cache, 'tts', 'told'), yesterday, yesterday);
  expect([isNewToday('b', host), isNewToday('b', host)]).toEqual([true, false]);
});

it('A note is always new where nothing can be remembered.', () => {
  const host = hostWith(undefined);
  expect([isNewToday('a', host), isNewToday('a', host)]).toEqual([true, true]);
});

it('A link in the place of the memory is not followed.', () => {
  const cache = emptyFolder();
  const host = hostWith(cache);
  isNewToday('a', host);
  const other = join(cache, 'other');
  writeFileSync(other, 'mine');
  const told = join(cache, 'tts', 'told');
  rmSync(told);
  symlinkSync(other, told);
  expect(isNewToday('b', host)).toBe(true);
  expect(readFileSync(other, 'utf8')).toBe('mine');
});
