import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { SECRET_VARIABLES } from '../../src/secrets.ts';

/**
 * Which folders a folder may import, besides itself, the files that lie directly in `src` and, where an entry names a
 * folder, the folders inside it. The order is that of the journey.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  files: [],
  audio: [],
  'audio/loudness': ['audio', 'files'],
  text: [],
  'text/lexicon': ['text'],
  'text/marks': ['text'],
  'text/chapters': ['text'],
  'reading/prose': ['text'],
  reading: ['reading/prose', 'text', 'text/marks', 'text/chapters', 'audio', 'files'],
  'reading/markdown': ['reading', 'reading/html', 'text', 'text/marks'],
  'reading/html': ['reading', 'text'],
  'reading/epub': ['reading', 'reading/html', 'text', 'text/chapters', 'files'],
  settings: ['reading', 'sink/encoding', 'files'],
  'sink/encoding': ['audio', 'files'],
  'sink/encoding/mp3': ['sink/encoding', 'audio', 'files'],
  'sink/encoding/ffmpeg': ['sink/encoding', 'audio', 'files'],
  sink: ['sink/encoding', 'sink/encoding/mp3', 'sink/encoding/ffmpeg', 'audio', 'files'],
  'sink/player': ['sink', 'sink/encoding', 'audio', 'files'],
  client: ['audio'],
  cache: ['audio', 'files'],
  engine: ['text', 'audio'],
  'engine/flite': ['engine', 'audio'],
  'engine/espeak': ['engine', 'audio', 'files'],
  'engine/model': ['engine', 'audio', 'files'],
  installed: ['engine', 'files'],
  'install/fetch': ['installed', 'client', 'files'],
  install: [
    'install/fetch',
    'installed',
    'engine',
    'engine/model',
    'engine/flite',
    'client',
    'settings',
    'files',
  ],
  'engine/external': ['engine', 'engine/model', 'text', 'audio', 'files'],
  'service/http': ['engine', 'text', 'audio', 'files'],
  'service/faults': ['service/http', 'engine'],
  'service/callbacks': ['service/http', 'engine', 'audio'],
  'service/page': ['service/http'],
  'service/tts': ['service/http', 'service/faults', 'service/callbacks', 'engine', 'text', 'audio'],
  'service/openai': [
    'service/http',
    'service/tts',
    'voices',
    'sink',
    'sink/encoding',
    'engine',
    'text',
    'audio',
  ],
  service: [
    'service/page',
    'service/tts',
    'service/openai',
    'service/faults',
    'service/callbacks',
    'service/http',
    'engine',
  ],
  voices: [
    'engine',
    'engine/flite',
    'engine/espeak',
    'engine/external',
    'client',
    'cache',
    'settings',
    'text',
    'audio',
    'files',
    'installed',
  ],
  'speech/cues': ['text'],
  'speech/events': ['sink', 'text', 'audio', 'files'],
  'speech/talk': ['speech/events', 'reading', 'text'],
  'speech/asking': ['settings', 'voices', 'text', 'audio'],
  'speech/cast': ['reading', 'settings', 'voices', 'text', 'text/marks'],
  speech: [
    ...['speech/cues', 'speech/events', 'speech/talk', 'speech/asking', 'speech/cast'],
    ...['voices', 'sink', 'sink/encoding', 'sink/player', 'settings'],
    ...['reading', 'reading/markdown', 'reading/html', 'reading/epub'],
    ...['text', 'text/chapters', 'text/lexicon', 'audio', 'audio/loudness', 'files'],
  ],
  batch: ['speech', 'speech/cast', 'voices', 'sink', 'sink/encoding', 'text', 'audio', 'files'],
  'batch/chapters': ['batch', 'text'],
  'cli/terminal': ['*'],
  cli: ['*'],
  'cli/channel': ['*'],
  'cli/split': ['*'],
  'cli/speak': ['*'],
  'cli/batch': ['*'],
  'cli/serve': ['*'],
  'cli/speakers': ['*'],
  'cli/voices': ['*'],
  'cli/login': ['*'],
  'cli/doctor': ['*'],
  'cli/shell': ['*'],
};

/** Files of `src` itself that stand above the folders. */
const ABOVE = ['main.ts', 'run.ts', 'commands.ts'];

const root = fileURLToPath(new URL('../../src', import.meta.url));

interface Source {
  /** It is relative to src. */
  readonly path: string;
  readonly text: string;
  /** Paths relative to src of what it imports (static, type and dynamic imports), packages by their names. */
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

const folderOf = (path: string) => (path.includes('/') ? dirname(path) : '');
const isOurs = (name: string) => !name.startsWith('..') && sources.some(({ path }) => path === name);
const importersOf = (file: string) =>
  sources.filter(({ imports }) => imports.includes(file)).map(({ path }) => path);

/** Groups of files that import each other, directly or not (Tarjan's strongly connected components). */
function circles(): string[] {
  const edges = new Map(sources.map(({ path, imports }) => [path, imports.filter(isOurs)]));
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[] = [];
  const visit = (file: string) => {
    const number = index.size;
    index.set(file, number);
    low.set(file, number);
    stack.push(file);
    for (const next of edges.get(file) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(file, Math.min(low.get(file) ?? 0, low.get(next) ?? 0));
    }
    if (low.get(file) !== number) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1) found.push(group.sort().join(' '));
  };
  for (const file of edges.keys()) if (!index.has(file)) visit(file);
  return found.sort();
}

describe('the source', () => {
  it('is found', () => {
    expect(sources.length).toBeGreaterThan(100);
    const folders = new Set(sources.map(({ path }) => folderOf(path)).filter((folder) => folder !== ''));
    expect(folders).toEqual(new Set(Object.keys(MAY_IMPORT)));
    expect(sources.find(({ path }) => path === 'main.ts')?.imports.some(isOurs)).toBe(true);
  });

  it('imports one way only', () => {
    const wrong = sources.flatMap(({ path, imports }) => {
      const folder = folderOf(path);
      const allowed = ['', folder, ...(MAY_IMPORT[folder] ?? [])];
      const isAllowed = (name: string) =>
        allowed.includes(folderOf(name)) || (allowed.includes('*') && isBelow(folderOf(name), folder));
      if (folder === '' && ABOVE.includes(path)) return [];
      return imports.filter((name) => isOurs(name) && !isAllowed(name)).map((name) => `${path} -> ${name}`);
    });
    expect(wrong).toEqual([]);
  });

  it('has no circle of imports, type imports and dynamic imports included', () => {
    expect(circles()).toEqual([]);
  });

  it.each(['main.ts'])('imports %s from nowhere', (program) => {
    expect(importersOf(program)).toEqual([]);
  });

  it('uses every package in one folder only', () => {
    const folders = new Map<string, Set<string>>();
    for (const { path, imports } of sources)
      for (const name of imports.filter((name) => !/^(?:\.|node:)|\.(?:ts|json)$/.test(name))) {
        const [scope = '', rest = ''] = name.split('/');
        const packageName = scope.startsWith('@') ? `${scope}/${rest}` : scope;
        const [top = ''] = folderOf(path).split('/');
        folders.set(packageName, (folders.get(packageName) ?? new Set()).add(top));
      }
    expect([...folders].filter(([, { size }]) => size > 1)).toEqual([]);
    expect(folders.get('undici')).toEqual(new Set(['client']));
  });

  it('takes what it needs of the process from its host', () => {
    const wrong = sources.filter(
      ({ path, text }) =>
        !['host.ts', 'main.ts', 'exit.ts'].includes(path) &&
        /(?<![-\w/])(?:process|console|globalThis)\.|from 'node:process'|\bprocess\.exit\b/.test(text),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
    // Elsewhere it could cut off output that is on its way.
    const ending = sources.filter(({ text }) => /\.exit\(/.test(text)).map(({ path }) => path);
    expect(ending).toEqual(['exit.ts']);
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

  it('starts programs in one file only', () => {
    expect(importersOf('node:child_process')).toEqual(['files/child.ts']);
  });

  it('reads no secret from the environment that is not in the one list', () => {
    const named = sources.flatMap(({ text }) =>
      [...text.matchAll(/\benv\.([A-Z_]*(?:KEY|TOKEN|SECRET|PASSWORD)[A-Z_]*)\b/g)].map(([, name]) => name),
    );
    expect(named).toContain('HF_TOKEN');
    expect(SECRET_VARIABLES).toEqual(expect.arrayContaining(named));
  });

  it('yields to the event loop in one place only', () => {
    // The timer of an idle connection has turns of its own, which tests with a clock of their own count.
    const yielding = sources.filter(({ text }) => /\bsetImmediate\b/.test(text)).map(({ path }) => path);
    expect(yielding).toEqual(['async.ts', 'idle.ts']);
  });

  it('writes numbers, texts and patterns that never change in capitals', () => {
    const small = /^(?:export )?const [a-z]\w*(?:: \w+)? = (?:-?\d|['"`/]|new RegExp\()/m;
    expect(sources.filter(({ text }) => small.test(text)).map(({ path }) => path)).toEqual([]);
  });
});

/** It tells whether a folder stands before another in the journey. */
function isBelow(folder: string, above: string): boolean {
  const order = Object.keys(MAY_IMPORT);
  return folder !== '' && order.indexOf(folder) < order.indexOf(above);
}
