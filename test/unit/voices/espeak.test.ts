import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { neededOf } from '../../../src/voices/install/runtime.ts';
import { emptyFolder } from '../../support/folder.ts';

const FILES = ['phontab', 'phonindex', 'phondata', 'intonations', 'de_dict', 'lang/gmw/de'];

function folderOf(files: readonly string[]): string {
  const folder = emptyFolder();
  for (const file of files) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
  return folder;
}

it('A folder of espeak-ng has all that a voice needs.', () => {
  expect(neededOf(folderOf(FILES), 'de')).toEqual(FILES);
});

it.each(FILES)('A folder of espeak-ng without %s does not have all that a voice needs.', (lacking) => {
  expect(neededOf(folderOf(FILES.filter((file) => file !== lacking)), 'de')).toBeUndefined();
});
