import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** Folders of src in the order of the journey: each may use those in front of it only. */
const LAYERS = [
  'audio',
  'text',
  'settings',
  'client',
  'cache',
  'sink',
  'pipeline',
  'subtitles',
  'service',
  'cli',
];

/** Those that stand beside others rather than above them, and what they may use. */
const APART = new Map([
  // It knows nothing of those who call it.
  ['service', ['audio', 'text', 'settings']],
  // It does not matter to it where a sound comes from.
  ['sink', ['audio']],
]);

/** Files that lie beside the folders, and are not at the bottom. */
const ABOVE = ['main.ts', 'brief.ts', 'code-cache.ts', 'code-store.ts'];

/** Tables: data that grows by rows. */
const TABLES = ['settings/rules.ts', 'service/instruction-words.ts'];

const LONGEST_FILE = 150;

const root = fileURLToPath(new URL('../../src', import.meta.url));

interface Source {
  /** Relative to src. */
  readonly path: string;
  readonly text: string;
  /** Paths relative to src of what it imports, packages by their names. */
  readonly imports: readonly string[];
}

const sources: readonly Source[] = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
  .map((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    const named = [...text.matchAll(/(?:^|\s)(?:from|import\(|import) ?'([^']+)'/g)].map(
      ([, name = '']) => name,
    );
    const imports = named.map((name) =>
      name.startsWith('.') ? relative(root, join(root, dirname(path), name)) : name,
    );
    return { path, text, imports };
  });

const folderOf = (path: string) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '');
const isOurs = (name: string) => name.endsWith('.ts') || name.endsWith('.json');
const importersOf = (file: string) =>
  sources.filter(({ imports }) => imports.includes(file)).map(({ path }) => path);

describe('the source', () => {
  it('is found', () => {
    expect(sources.length).toBeGreaterThan(100);
    expect(new Set(sources.map(({ path }) => folderOf(path)))).toEqual(new Set(['', ...LAYERS]));
    expect(sources.find(({ path }) => path === 'main.ts')?.imports).toContain('cli/commands.ts');
  });

  it.each(LAYERS)('imports one way only: %s', (layer) => {
    const allowed = ['', ...(APART.get(layer) ?? LAYERS.slice(0, LAYERS.indexOf(layer))), layer];
    const wrong = sources
      .filter(({ path }) => folderOf(path) === layer)
      .flatMap(({ path, imports }) =>
        imports
          .filter((name) => isOurs(name) && !name.startsWith('..') && !allowed.includes(folderOf(name)))
          .map((name) => `${path} imports ${name}`),
      );
    expect(wrong).toEqual([]);
  });

  it('has at its bottom files that import nothing but each other', () => {
    const bottom = sources.filter(({ path }) => folderOf(path) === '' && !ABOVE.includes(path));
    const wrong = bottom.flatMap(({ path, imports }) =>
      imports
        .filter((name) => isOurs(name) && folderOf(name) !== '')
        .map((name) => `${path} imports ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  it.each(['main.ts', 'brief.ts'])('imports %s from nowhere', (program) => {
    expect(importersOf(program)).toEqual([]);
  });

  it('has its code cache right above the settings', () => {
    const used = sources.find(({ path }) => path === 'code-cache.ts')?.imports.filter(isOurs) ?? [];
    expect(new Set(used.map(folderOf))).toEqual(new Set(['', 'settings']));
    expect(new Set(importersOf('code-cache.ts').map(folderOf))).toEqual(new Set(['', 'cli']));
  });

  it('has no circle of imports that a module needs while it is loaded', () => {
    const edges = new Map(
      sources.map(({ path, text }) => [
        path,
        [...text.matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']+)'/gm)].map(([, name = '']) =>
          relative(root, join(root, dirname(path), name)),
        ),
      ]),
    );
    const circles: string[] = [];
    const visit = (path: string, trail: readonly string[]) => {
      if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' > '));
      else if (!done.has(path)) for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
      done.add(path);
    };
    const done = new Set<string>();
    for (const path of edges.keys()) visit(path, []);
    expect(circles).toEqual([]);
  });

  it('uses every package in one folder only', () => {
    const folders = new Map<string, Set<string>>();
    for (const { path, imports } of sources)
      for (const name of imports.filter((name) => !isOurs(name) && !name.startsWith('node:'))) {
        const [scope = '', rest = ''] = name.split('/');
        const packageName = scope.startsWith('@') ? `${scope}/${rest}` : scope;
        folders.set(packageName, (folders.get(packageName) ?? new Set()).add(folderOf(path)));
      }
    expect([...folders].filter(([, { size }]) => size > 1)).toEqual([]);
    expect(folders.get('undici')).toEqual(new Set(['client']));
  });

  it('takes what it needs of the process from its host', () => {
    const wrong = sources.filter(
      ({ path, text }) =>
        path !== 'host-of.ts' &&
        /(?<![-\w])(?:process|console|globalThis)\.|from 'node:process'|\bprocess\.exit\b/.test(text),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
    expect(sources.some(({ text }) => /\.exit\(/.test(text))).toBe(false);
  });

  it('writes numbers, texts and patterns that never change in capitals', () => {
    const small = /^(?:export )?const [a-z]\w*(?:: \w+)? = (?:-?\d|['"`/]|new RegExp\()/m;
    expect(sources.filter(({ text }) => small.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it('has files that can be read at one go', () => {
    const long = sources
      .filter(({ path }) => !TABLES.includes(path))
      .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > LONGEST_FILE);
    expect(long).toEqual([]);
  });
});
