import { expect, it } from 'vitest';
import { shortHelp } from '../../../src/cli/help.ts';
import { catalog } from '../../../src/cli/shell/catalog.ts';
import { manual } from '../../../src/cli/shell/manual.ts';
import { commands } from '../../../src/commands.ts';

const entries = await catalog({ commands });

it('The help names the commands that completions and the manual know', () => {
  const named = /^Commands: (.*?)\n\n/ms.exec(shortHelp(commands))?.[1]?.split(/\s+/);
  const others = entries.map(({ name }) => name);
  expect(named?.sort()).toEqual(others.filter((name) => name !== 'speak' && name !== 'help').sort());
});

it('The manual names a setting by its key or its variable, with the value that its text is about', () => {
  const page = manual(entries);
  expect(page).toContain(
    '.B cache: false\nneither read nor write the cache; environment: TTS_CACHE=0; otherwise: true',
  );
  expect(page).toMatch(/^\.B TTS_CONFIG\nuse only this config file; otherwise: /m);
  expect(page).not.toContain('no key)');
});

it('The help says of -f what completions and the manual say', () => {
  const file = entries[0]?.flags.find(({ short }) => short === '-f');
  expect(file?.help).toMatch(/./);
  expect(shortHelp(commands)).toContain(file?.help);
});
