import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readConfig } from '../../../src/options/config-file.ts';
import { emptyFolder } from '../../support/folder.ts';

function read(config: object, isForeign = false) {
  const folder = emptyFolder();
  const path = join(folder, 'config.json');
  writeFileSync(path, JSON.stringify(config));
  return { folder, path, load: () => readConfig({ path, place: 'user', isForeign }, () => {}).values };
}

it('Relative names of files count from the folder of the config file.', () => {
  const { folder, load } = read({
    player: 'bin/play --loud a/b',
    engines: {
      near: { command: ['./piper', '-m', 'a/b'] },
      known: { command: ['piper'] },
      home: { command: ['~/bin/piper'] },
      model: { model: 'voice' },
      server: { url: 'http://127.0.0.1:1', model: 'a/b', keyFile: 'key' },
    },
  });
  expect(load()).toEqual({
    player: [join(folder, 'bin/play'), '--loud', 'a/b'],
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
])('A config of another user that starts a program is refused: %s', (key, config) => {
  const { path, load } = read(config, true);
  expect(load).toThrow(
    expect.objectContaining({
      message: `${key} in ${path} starts a program, and the file belongs to another user`,
      exitCode: 2,
    }),
  );
  expect(read(config).load).not.toThrow();
});

it('A config of another user may say all else.', () => {
  expect(read({ speaker: 7 }, true).load()).toEqual({ speaker: 7 });
});
