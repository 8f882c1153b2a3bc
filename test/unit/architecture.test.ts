import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { SECRET_VARIABLES } from '../../src/kit/host.ts';

/** A folder imports folders of lower layers, and none of its own or a higher layer. Folders inside a folder belong to it. */
const LAYERS = [
  ['kit'],
  ['sound'],
  ['text'],
  ['read', 'out', 'engines'],
  ['options'],
  ['voices'],
  ['run'],
  ['batch', 'serve'],
  ['cli'],
];

const root = fileURLToPath(new URL('../../src', import.meta.url));

const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** The files of `src` that a file imports: by type imports and dynamic imports, too. */
function importsOf({ path, text }: (typeof sources)[number]): string[] {
  const named = [...text.matchAll(/(?:\bfrom|\bimport\(|\bimport) ?'(\.[^']+)'/g)];
  return named.map(([, name = '']) => relative(root, join(root, dirname(path), name)));
}

const folderOf = (path: string) => path.split('/')[0] ?? '';
const layerOf = (path: string) =>
  path.includes('/') ? LAYERS.findIndex((layer) => layer.includes(folderOf(path))) : LAYERS.length;

describe('the source', () => {
  it('has folders that are each in one layer', () => {
    const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name).sort()).toEqual(LAYERS.flat().sort());
  });

  it('imports lower layers only', () => {
    const imports = sources.flatMap((source) => importsOf(source).map((to) => [source.path, to] as const));
    const inside = imports.filter(([, to]) => !to.startsWith('..'));
    const wrong = inside.filter(
      ([from, to]) => folderOf(from) !== folderOf(to) && layerOf(from) <= layerOf(to),
    );
    expect(inside.length).toBeGreaterThan(500);
    expect(wrong.map((each) => each.join(' -> '))).toEqual([]);
  });

  it('takes what it needs of the process from its host', () => {
    const wrong = sources.filter(
      ({ path, text }) =>
        !['main.ts', 'kit/host.ts'].includes(path) &&
        /(?<![-\w/])(?:process|console|globalThis)\.|from 'node:process'|\bprocess\.exit\b/.test(text),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('starts programs in one file only', () => {
    const starting = sources.filter(({ text }) => text.includes("'node:child_process'"));
    expect(starting.map(({ path }) => path)).toEqual(['kit/program.ts']);
  });

  it('ends the process in one file only', () => {
    // Elsewhere it could cut off output that is on its way.
    const ending = sources.filter(({ text }) => /\.exit\(/.test(text)).map(({ path }) => path);
    expect(ending).toEqual(['kit/host.ts']);
  });

  it('cuts text without expressions that search to its end again and again', () => {
    // Each beginning runs to the next line end, fails there, and the next one runs there again.
    const expressions = /(?<![\w)\]])\/(?![*/])((?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[\n])+)\/([dgimsuvy]*)/g;
    const endsOpen = /(?<!\\)\.[*+]\??\)*\$$/;
    const isSlow = ([, expression = '', flags = '']: RegExpExecArray) =>
      endsOpen.test(expression) && !expression.startsWith('^') && !flags.includes('s');
    expect(
      [...'a.replace(/\\?.*$/u, b); /#(.+)$/.exec(a)'.matchAll(expressions)].filter(isSlow),
    ).toHaveLength(2);
    const wrong = sources.filter(({ text }) => [...text.matchAll(expressions)].some(isSlow));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('reads no secret from the environment that is not in the one list', () => {
    const named = sources.flatMap(({ text }) =>
      [...text.matchAll(/\benv\.([A-Z_]*(?:KEY|TOKEN|SECRET|PASSWORD)[A-Z_]*)\b/g)].map(([, name]) => name),
    );
    expect(named).toContain('HF_TOKEN');
    expect(SECRET_VARIABLES).toEqual(expect.arrayContaining(named));
  });
});
