import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { findProgram } from '../../../src/kit/folders.ts';
import { emptyFolder } from '../../support/folder.ts';

/** A folder with a program of each of these names. */
function programs(...names: readonly string[]): string {
  const folder = emptyFolder();
  for (const name of names) {
    writeFileSync(join(folder, name), '');
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

it('finds the first program of a name', async () => {
  const [none, first, second] = [emptyFolder(), programs('play'), programs('play', 'other')];
  const path = [none, first, second].join(delimiter);
  expect(await findProgram('play', path, 'linux')).toBe(join(first, 'play'));
  expect(await findProgram('other', path, 'linux')).toBe(join(second, 'other'));
  expect(await findProgram('missing', path, 'linux')).toBeUndefined();
});

it('takes a name with a folder for itself', async () => {
  const file = join(programs('play'), 'play');
  expect(await findProgram(file, '', 'linux')).toBe(file);
});

it.each(['play', 'play.exe', 'PLAY.EXE'])(
  'adds .exe under Windows only, and never twice: %s',
  async (name) => {
    const folder = programs('play', 'play.exe', 'PLAY.EXE', 'play.exe.exe');
    const under = async (platform: NodeJS.Platform) => await findProgram(name, folder, platform);
    expect(await under('linux')).toBe(join(folder, name));
    expect(await under('win32')).toBe(join(folder, name === 'play' ? 'play.exe' : name));
  },
);
