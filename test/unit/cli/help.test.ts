import { expect, it } from 'vitest';
import { commandEntries } from '../../../src/cli/completion.ts';
import { SHORT_HELP, TOPICS } from '../../../src/cli/help-text.ts';
import { manual } from '../../../src/cli/manual.ts';

const entries = await commandEntries();

it('The help names the commands that completions and the manual know', () => {
  const named = /^Commands: (.*?)\nText:/ms.exec(SHORT_HELP)?.[1]?.split(/\s+/);
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

it('The help names every option of tts', () => {
  const named = new Set(SHORT_HELP.match(/--[a-z][a-z-]*/g));
  const flags = entries[0]?.flags.flatMap(({ long }) => long ?? []) ?? [];
  expect(flags.filter((flag) => !named.has(flag) && !named.has(flag.replace('--', '--no-')))).toEqual([]);
});

it('The help fits on a screen of 40 lines, and so does each topic', () => {
  for (const text of [SHORT_HELP, ...Object.values(TOPICS).map((lines) => lines.join('\n'))]) {
    const lines = text.split('\n');
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  }
});

it('The manual has the words of the topics', () => {
  const text = manual(entries).replaceAll('\\-', '-').replaceAll('\\&', '');
  const { exit: _, ...topics } = TOPICS;
  for (const [name, lines] of Object.entries(topics))
    expect(text).toContain(`.SS ${name}\n.nf\n${lines.join('\n')}\n.fi`);
});
