import { execFileSync } from 'node:child_process';
import { existsSync, lutimesSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { takeClaim } from '../../../src/voices/cache.ts';
import { emptyFolder } from '../../support/folder.ts';
import { keyOf, uid } from './segment-sound.ts';

const KEY = keyOf('a text');
const { signal } = new AbortController();

/** Process 7 runs; nothing is known of those of another realm. */
const OWNER = { pid: 1, realm: 'here', isRunning: (pid: number) => pid === 7, uid };

/** Seconds of Unix time: a year ahead, as after a clock that was set back. */
const NEXT_YEAR = Date.now() / 1000 + 31_536_000;

const take = (folder: string) =>
  takeClaim({ folder, key: KEY }, OWNER, AbortSignal.any([signal, AbortSignal.timeout(10_000)]));

describe('a claim from the future counts as old', () => {
  it.each([
    ['of a running process', '{"pid":7,"realm":"here"}'],
    ['that is empty', ''],
  ])('%s', async (_, text) => {
    const folder = emptyFolder();
    const path = join(folder, `${KEY}.claim`);
    writeFileSync(path, text);
    lutimesSync(path, NEXT_YEAR, NEXT_YEAR);
    const claim = await take(folder);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: 1, realm: 'here' });
    claim?.release();
    expect(existsSync(path)).toBe(false);
  });
});

type Plant = (path: string) => unknown;

const PLANTED: readonly [string, Plant][] = [
  ['a pipe', (path) => execFileSync('mkfifo', [path])],
  ['a link to a device', (path) => symlinkSync('/dev/zero', path)],
  ['a link to nothing', (path) => symlinkSync('none', path)],
];

describe('in the place of a claim', () => {
  it.each(PLANTED)('%s is removed', async (_, plant) => {
    const folder = emptyFolder();
    const path = join(folder, `${KEY}.claim`);
    plant(path);
    lutimesSync(path, 1, 1);
    const claim = await take(folder);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: 1, realm: 'here' });
    claim?.release();
  });

  it('a folder stays, and the text is asked for without a claim', async () => {
    const folder = emptyFolder();
    mkdirSync(join(folder, `${KEY}.claim`));
    lutimesSync(join(folder, `${KEY}.claim`), 1, 1);
    expect(await take(folder)).toBeUndefined();
  });
});
