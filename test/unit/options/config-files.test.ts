import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/options/config-file.ts';
import { namedFile } from '../../../src/options/load.ts';
import { emptyFolder } from '../../support/folder.ts';

function read(config: object, isForeign = false) {
  const folder = emptyFolder();
  const path = join(folder, 'config.json');
  writeFileSync(path, JSON.stringify(config));
  const { signal } = new AbortController();
  const load = async () =>
    (await readConfig({ path, place: 'user', isForeign }, { hide: () => {}, signal })).values;
  return { folder, path, load };
}

it('Relative names of files count from the folder of the config file.', async () => {
  const { folder, load } = read({
    player: 'bin/play --loud a/b',
    speakers: { me: { engine: 'pocket', reference: 'me.wav' } },
    engines: {
      near: { command: ['./piper', '-m', 'a/b'] },
      known: { command: ['piper'] },
      home: { command: ['~/bin/piper'] },
      model: { model: 'voice' },
      server: { url: 'http://127.0.0.1:1', model: 'a/b', keyFile: 'key' },
    },
  });
  expect(await load()).toEqual({
    player: [join(folder, 'bin/play'), '--loud', 'a/b'],
    speakers: new Map([['me', { engine: 'pocket', reference: join(folder, 'me.wav') }]]),
    engines: new Map<string, object>([
      ['near', { command: [join(folder, 'piper'), '-m', 'a/b'] }],
      ['known', { command: ['piper'] }],
      ['home', { command: ['~/bin/piper'] }],
      ['model', { model: join(folder, 'voice') }],
      ['server', { url: 'http://127.0.0.1:1', model: 'a/b', keyFile: join(folder, 'key') }],
    ]),
  });
});

it.each([
  ['player', { player: 'mpv' }],
  ['engines', { engines: { own: { command: ['piper'] } } }],
])('A config of another user that starts a program is refused: %s', async (key, config) => {
  const { path, load } = read(config, true);
  await expect(load()).rejects.toThrow(
    expect.objectContaining({
      message: `${key} in ${path} starts a program, and the file belongs to another user`,
      exitCode: 2,
    }),
  );
  await read(config).load();
});

it('A config of another user may say all else.', async () => {
  expect(await read({ speaker: 7 }, true).load()).toEqual({ speaker: 7 });
});

const root = realpathSync(emptyFolder(afterAll));
const file = join(root, 'names.txt');
writeFileSync(file, '');
mkdirSync(join(root, '.config'));

function named(value: string, folder: string) {
  const origin = { place: 'project', name: 'lexicon in .ttsrc', folder } as const;
  return namedFile({ value, origin }, { cwd: root, home: root }, '--lexicon');
}

describe('a file that a project names', () => {
  it('lies within it, also where the project is all of the machine, or says so in its .config', () => {
    expect(named('names.txt', root)).toBe(file);
    expect(named(file, '/')).toBe(file);
    expect(named('../names.txt', join(root, '.config'))).toBe(file);
  });

  it.each(['../names.txt', '/etc/passwd', '~/names.txt'])('is not outside of it: %s', (value) => {
    mkdirSync(join(root, 'project'), { recursive: true });
    expect(() => named(value, join(root, 'project'))).toThrow(
      /^lexicon in \.ttsrc lies outside of that project$/,
    );
  });

  it('is there', () => {
    expect(() => named('nowhere', root)).toThrow(/^there is no .*nowhere \(lexicon in \.ttsrc\)$/);
  });
});
