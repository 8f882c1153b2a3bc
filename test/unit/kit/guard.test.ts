import { execFileSync } from 'node:child_process';
import {
  chownSync,
  closeSync,
  fstatSync,
  mkdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, posix, win32 } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { assertUnlinked, isWithin, leadsBelow, openOwn } from '../../../src/kit/guard.ts';
import { emptyFolder } from '../../support/folder.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(emptyFolder());
});

const at = (name: string) => join(folder, name);

describe('a file of our own', () => {
  it.each(['O_RDONLY', 'O_APPEND'] as const)('opens with %s if it is a regular file', (how) => {
    writeFileSync(at('a'), '');
    const fd = openOwn(at('a'), how, process.getuid?.());
    expect(fstatSync(fd).isFile()).toBe(true);
    closeSync(fd);
  });

  it.each<[string, () => unknown, string]>([
    ['a link to a file', () => symlinkSync('real', at('a')), 'is a symbolic link'],
    ['a link to a folder', () => symlinkSync('.', at('a')), 'is a symbolic link'],
    ['a link to nothing', () => symlinkSync('none', at('a')), 'is a symbolic link'],
    ['a folder', () => mkdirSync(at('a')), 'is a folder'],
    ['a pipe', () => execFileSync('mkfifo', [at('a')]), 'is a pipe or a device'],
  ])('is not %s', (_, make, message) => {
    writeFileSync(at('real'), '');
    make();
    for (const how of ['O_RDONLY', 'O_APPEND'] as const)
      expect(() => openOwn(at('a'), how, undefined)).toThrow(`${at('a')} ${message}`);
  });

  it('belongs to the user or to root, unless root asks', ({ skip }) => {
    if (process.getuid?.() !== 0) skip('only root may give files away');
    writeFileSync(at('a'), '');
    closeSync(openOwn(at('a'), 'O_RDONLY', 1000));
    chownSync(at('a'), 1234, 1234);
    expect(() => openOwn(at('a'), 'O_RDONLY', 1000)).toThrow('belongs to another user');
    for (const uid of [0, 1234]) closeSync(openOwn(at('a'), 'O_RDONLY', uid));
  });
});

describe('a name without links', () => {
  beforeEach(() => {
    mkdirSync(at('work/real/sub'), { recursive: true });
    symlinkSync('real', at('work/link'));
    symlinkSync('work', at('other'));
  });

  it.each(['link', 'link/sub/x', 'real/../link', '../work/link/x', '../other/real'])('is not %s', (name) => {
    expect(() => assertUnlinked(name, at('work'))).toThrow('is a symbolic link');
  });

  it.each(['.', 'real/sub', 'none/x', '..', '../none'])('is %s', (name) => {
    expect(() => assertUnlinked(name, at('work'))).not.toThrow();
  });

  it('may be absolute and lead over links elsewhere, but not below the working folder', () => {
    expect(() => assertUnlinked(at('other/real'), at('work'))).not.toThrow();
    expect(() => assertUnlinked(at('work/link'), at('work'))).toThrow('is a symbolic link');
  });
});

it('What leads below a folder does so by its real path, whether it exists or not.', () => {
  mkdirSync(at('in/sub'), { recursive: true });
  mkdirSync(at('out'));
  symlinkSync('sub', at('in/inner'));
  symlinkSync('../out', at('in/outer'));
  symlinkSync('../none', at('in/broken'));
  const below = [
    'in',
    'in/sub/new/x',
    'in/inner/x',
    'in/outer',
    'in/outer/new/x',
    'in/broken',
    'in/broken/x',
    'out',
  ];
  expect(below.filter((name) => leadsBelow(at('in'), at(name)))).toEqual([
    'in',
    'in/sub/new/x',
    'in/inner/x',
  ]);
});

describe('within a folder', () => {
  it.each([
    [posix, '/', '/key', true],
    [posix, '/a', '/a/..b', true],
    [posix, '/a', '/ab', false],
    [posix, '/a/b', '/a', false],
    [win32, 'C:\\', 'C:\\key', true],
    [win32, 'C:\\Work', 'c:\\work\\key', true],
    [win32, 'C:\\work', 'D:\\work\\key', false],
    [win32, '\\\\host\\a', '\\\\host\\b\\key', false],
  ])('%#: %s %s', (path, within, name, expected) => {
    expect(isWithin(within, name, path)).toBe(expected);
  });
});
