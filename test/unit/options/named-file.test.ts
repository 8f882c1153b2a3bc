import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fileName, fileNames } from '../../../src/options/kinds.ts';
import { namedFile } from '../../../src/options/load.ts';
import { type Rule, rules } from '../../../src/options/rows.ts';
import { emptyFolder } from '../../support/folder.ts';

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

it('is asked of every file that a project may name', () => {
  const named = Object.values<Rule<unknown>>(rules).filter(
    ({ kind, key }) => (kind === fileName || kind === fileNames) && key,
  );
  expect(named.map(({ key }) => key)).toEqual(['lexicon', 'apiKeyFile']);
});
