import { expect, it } from 'vitest';
import { shortHelp } from '../../../src/cli/help.ts';
import { catalog } from '../../../src/cli/shell/catalog.ts';
import { manual } from '../../../src/cli/shell/manual.ts';

it('The help names the commands that completions and the manual know', () => {
  const named = /^Commands: (.*?)\n\n/ms.exec(shortHelp())?.[1]?.split(/\s+/);
  const others = catalog().map(({ name }) => name);
  expect(named?.sort()).toEqual(others.filter((name) => name !== 'speak' && name !== 'help').sort());
});

it('The manual names a setting by its key or its variable, with the value that its text is about', () => {
  const page = manual(catalog());
  expect(page).toContain(
    '.B cache: false\nneither read nor write the cache; environment: TTS_CACHE=0; otherwise: true',
  );
  expect(page).toMatch(/^\.B TTS_CONFIG\nuse only this config file; otherwise: /m);
  expect(page).not.toContain('no key)');
});

it('The help says of -f what completions and the manual say', () => {
  const file = catalog()[0]?.flags.find(({ short }) => short === '-f');
  expect(file?.help).toMatch(/./);
  expect(shortHelp()).toContain(file?.help);
});
