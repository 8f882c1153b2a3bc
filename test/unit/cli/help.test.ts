import { expect, it } from 'vitest';
import { shortHelp } from '../../../src/cli/help.ts';
import { catalog } from '../../../src/cli/shell/catalog.ts';

it('The help names the commands that completions and the manual know', () => {
  const named = /^Commands: (.*?)\n\n/ms.exec(shortHelp())?.[1]?.split(/\s+/);
  const others = catalog().map(({ name }) => name);
  expect(named?.sort()).toEqual(others.filter((name) => name !== 'speak' && name !== 'help').sort());
});

it('The help says of -f what completions and the manual say', () => {
  const file = catalog()[0]?.flags.find(({ short }) => short === '-f');
  expect(file?.help).toMatch(/./);
  expect(shortHelp()).toContain(file?.help);
});
