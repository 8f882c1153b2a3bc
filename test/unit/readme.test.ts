import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { settingsTable } from '../support/settings-table.ts';

describe('the README', () => {
  it('shows the settings as the rule table has them', () => {
    const readme = readFileSync('README.md', 'utf8');
    const shown = /<!-- settings: begin.*?-->\n(.*?)<!-- settings: end -->/s.exec(readme)?.[1]?.trim();
    expect(shown).toBe(settingsTable());
  });
});
