import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { commands } from '../../src/cli/commands.ts';
import { commandEntries } from '../../src/cli/completion.ts';
import { TOPICS } from '../../src/cli/help-text.ts';
import { ExitCode } from '../../src/kit/error.ts';
import { names, rowOf } from '../../src/options/rows.ts';
import { fenced, generated, page, pages, regenerate, updating } from '../support/readme.ts';
import { commandsTable, settingsTable } from '../support/settings-table.ts';

const OPTIONS = 'docs/options.md';
const INDEX = 'docs/README.md';

describe('the README', () => {
  it('can be read in a few minutes', () => {
    expect(Buffer.byteLength(page('README.md'))).toBeLessThanOrEqual(9000);
  });

  it('shows a picture that is small, and says so to whoever cannot see it', () => {
    expect(page('README.md')).toMatch(/^!\[[^\]]{20,}\]\(docs\/picture\.svg\)$/m);
    expect(statSync('docs/picture.svg').size).toBeLessThan(20_000);
  });
});

describe('docs/options.md', () => {
  it.each([
    ['settings', async () => settingsTable()],
    ['commands', async () => commandsTable(await commandEntries())],
  ])('shows the %s as the program has them', async (name, table) => {
    const now = await table();
    if (updating) regenerate(OPTIONS, name, now);
    expect(generated(OPTIONS, name), 'npm run readme brings it up to date').toBe(now);
  });
});

describe('from the index, in two steps, is found', () => {
  const reached = linksOf(INDEX).filter((path) => path.endsWith('.md') && existsSync(path));
  const found = reached.map(page).join('\n');
  const missing = (names: Iterable<string>) => [...names].filter((name) => !found.includes(`\`${name}`));

  it('every page, and every page leads back to another', () => {
    expect(pages.filter((path) => path !== INDEX && !reached.includes(path))).toEqual([]);
    expect(linksOf('README.md')).toContain(INDEX);
  });

  it('every option, also of each command', async () => {
    const flags = (await commandEntries()).flatMap((entry) => entry.flags);
    const told = new Set(found.match(/(?<![\w-])--?[a-z][\w-]*/gi));
    expect(flags.filter(({ long }) => !told.has(long))).toEqual([]);
  });

  it('every variable that is heard', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.ts'),
    );
    const text = sources.map((path) => readFileSync(`src/${path}`, 'utf8')).join('\n');
    const heard = new Set(text.match(/\bTTS_[A-Z_]+|(?<=env\.)(?:HF_|XDG_C|XDG_D|NO_)[A-Z_]+/g));
    expect(heard).toContain('TTS_CACHE_DIR');
    expect(heard).toContain('HF_TOKEN');
    expect(missing(heard)).toEqual([]);
  });

  it('every key of a config file', () => {
    const keys = names.flatMap((name) => rowOf(name).key ?? []);
    expect(missing(keys)).toEqual([]);
  });

  it('every command', () => {
    const named = [...commands.keys()].map((name) => `tts ${name}`);
    expect(missing(named.filter((name) => name !== 'tts speak'))).toEqual([]);
  });

  it('every exit status, and no other', () => {
    const explained = Array.from(
      page('docs/exit-status.md').matchAll(/^\| ([\d, ]+) \|/gm),
      ([, numbers = '']) => numbers,
    );
    expect(explained.flatMap((numbers) => numbers.split(', ').map(Number))).toEqual(Object.values(ExitCode));
    expect(reached).toContain('docs/exit-status.md');
  });
});

describe('the pages', () => {
  const all = [...pages, 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];

  it('have no broken link', () => {
    const isBroken = (link: string) => {
      const [file = '', anchor] = link.split('#');
      return !existsSync(file) || (anchor !== undefined && !anchorsOf(file).includes(anchor));
    };
    const links = all.flatMap((path) => linksOf(path, { withAnchors: true }).map((link) => ({ path, link })));
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter(({ link }) => isBroken(link))).toEqual([]);
  });

  it('name no file of the repository, no script and no topic of help that is not there', () => {
    const text = all
      .filter((path) => !/CHANGELOG|architecture/.test(path))
      .map(page)
      .join('\n');
    const namesIn = (pattern: RegExp) => Array.from(text.matchAll(pattern), ([, name = '']) => name);
    const files = namesIn(/`((?:docs|src|bench|test)\/[^`*{ ]*)`/g).filter((name) => !name.includes('NAME'));
    const topics = namesIn(/`tts help ([a-z]+)`/g);
    expect(files.filter((name) => !existsSync(name))).toEqual([]);
    expect(namesIn(/npm run ([\w:]+)/g).filter((name) => !(name in manifest.scripts))).toEqual([]);
    expect(topics.filter((name) => !(name in TOPICS) && !commands.has(name))).toEqual([]);
  });

  it('have blocks of JSON and YAML that can be read', () => {
    const text = pages.map(page).join('\n');
    for (const block of fenced('json', text)) expect(JSON.parse(block)).toBeTypeOf('object');
    for (const block of fenced('yaml', text)) expect(parse(block)).toBeTypeOf('object');
  });
});

describe('docs/dependencies.md', () => {
  it('tells of every package why it is there, and of none that is gone', () => {
    const tables = page('docs/dependencies.md').matchAll(/^\| (?!package \||---)(.*?) \| \S/gm);
    const told = Array.from(tables, ([, names = '']) => names.split(', ').map((name) => name.split(' ')[0]));
    const needed = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(told.flat().sort()).toEqual(needed.sort());
  });
});

describe('docs/architecture.md', () => {
  const told = Array.from(
    page('docs/architecture.md').matchAll(/`([\w.-]+\/[^` ]*)`/g),
    ([, path = '']) => path,
  );

  it('names no place in the source that is not there', () => {
    expect(told.filter((path) => /^(?:src|test|bench)\//.test(path) && !existsSync(path))).toEqual([]);
  });

  it('says of every file of the source what it does', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.ts'),
    );
    const [, ...folders] = page('docs/architecture.md').split('\n### `src/');
    const rows = folders.flatMap((text) => {
      const folder = text.slice(0, text.indexOf('/`'));
      return Array.from(text.matchAll(/^\| `([\w/.-]+\.ts)` \|/gm), ([, name = '']) => `${folder}/${name}`);
    });
    expect(rows.sort()).toEqual(files.filter((path) => path !== 'main.ts').sort());
  });

  it('says of every folder of the source what it knows', () => {
    const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => `src/${name}/`).filter((folder) => !told.includes(folder))).toEqual([]);
  });
});

/** The paths that a page links to, from the root of the repository. */
function linksOf(path: string, { withAnchors = false } = {}): string[] {
  const links = page(path).matchAll(/\]\((?!https?:)([^)\s]+)\)/g);
  return Array.from(links, ([, link = '']) => {
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? path : normalize(join(dirname(path), file));
    return withAnchors && anchor !== undefined ? `${target}#${anchor}` : target;
  });
}

/** The anchors that GitHub makes of the headings of a page. */
function anchorsOf(path: string): string[] {
  const headings = page(path).matchAll(/^#+ (.+)$/gm);
  return Array.from(headings, ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
