import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { ExitCode } from '../../src/error.ts';
import { generated, readme, regenerate, updating } from '../support/readme.ts';
import { settingsTable } from '../support/settings-table.ts';

describe('the README', () => {
  it('shows the settings as the rule table has them', () => {
    if (updating) regenerate('settings', settingsTable());
    expect(generated('settings'), 'npm run readme brings it up to date').toBe(settingsTable());
  });

  it('explains every exit status, and no other', () => {
    const section = /^## Exit status\n(.*?)^## /ms.exec(readme())?.[1] ?? '';
    const explained = Array.from(section.matchAll(/^\| ([\d, ]+) \|/gm), ([, numbers = '']) => numbers);
    expect(explained.flatMap((numbers) => numbers.split(', ').map(Number))).toEqual(Object.values(ExitCode));
  });

  it('names no file of the repository that is not there', () => {
    const linked = Array.from(readme().matchAll(/\]\((?!https?:|#)([^)]+)\)/g), ([, path = '']) => path);
    const told = Array.from(
      readme().matchAll(/`((?:docs|src|bench|test)\/[^`]*)`/g),
      ([, path = '']) => path,
    );
    expect(linked.length).toBeGreaterThan(0);
    expect([...linked, ...told].filter((path) => !existsSync(path))).toEqual([]);
  });

  it('names no script that the manifest does not have', () => {
    const named = Array.from(readme().matchAll(/npm run ([\w:]+)/g), ([, name = '']) => name);
    expect(named.filter((name) => !(name in manifest.scripts))).toEqual([]);
  });

  it('names every variable that is heard', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.ts'),
    );
    const text = sources.map((path) => readFileSync(`src/${path}`, 'utf8')).join('\n');
    const heard = new Set(text.match(/\bTTS_[A-Z_]+/g));
    expect(heard).toContain('TTS_CACHE_DIR');
    expect([...heard].filter((name) => !readme().includes(`\`${name}`))).toEqual([]);
  });

  it('shows a picture that is small, and says so to whoever cannot see it', () => {
    expect(readme()).toMatch(/^!\[[^\]]{20,}\]\(docs\/picture\.svg\)$/m);
    expect(statSync('docs/picture.svg').size).toBeLessThan(20_000);
  });
});

describe('docs/dependencies.md', () => {
  it('tells of every package why it is there, and of none that is gone', () => {
    const tables = readFileSync('docs/dependencies.md', 'utf8').matchAll(
      /^\| (?!package \||---)(.*?) \| \S/gm,
    );
    const told = Array.from(tables, ([, names = '']) => names.split(', ').map((name) => name.split(' ')[0]));
    const needed = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(told.flat().sort()).toEqual(needed.sort());
  });
});

describe('docs/architecture.md', () => {
  const told = Array.from(
    readFileSync('docs/architecture.md', 'utf8').matchAll(/`([\w.-]+\/[^` ]*)`/g),
    ([, path = '']) => path,
  );

  it('names no place in the source that is not there', () => {
    const places = ['', 'src/', 'src/service/'];
    expect(told.filter((path) => !places.some((above) => existsSync(above + path)))).toEqual([]);
  });

  it('says of every folder of the source what it knows', () => {
    const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => `src/${name}/`).filter((folder) => !told.includes(folder))).toEqual([]);
  });
});
