import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { epubOf, xhtml } from '../support/epub.ts';
import { isThere } from '../support/programs.ts';
import { type RowService, serveRows } from '../support/row-service.ts';
import { Sandbox } from '../support/run.ts';

/**
 * Each name in a folder that a command opens, writes, renames or deletes without the user having typed it. They were found
 * with `strace -f -e trace=%file`. A feature that touches another name adds it here.
 */
interface Feature {
  readonly args: readonly string[];
  /** They are the files of the clone. The link takes the place of one of them. */
  readonly files?: Readonly<Record<string, string>>;
  readonly names: readonly string[];
}

const SECRET = 'a-secret-of-the-user';
/** The hash is right: only the place of a file keeps it from being deleted. */
const sha256 = createHash('sha256').update(SECRET).digest('hex');
const ENTRY = { key: '00', sha256, frames: 1, sampleRate: 8000, characters: 1 };
const left = (file: string) => `${JSON.stringify({ id: file, file, ...ENTRY })}\n`;

const PART = '99999-00000000.part';
const TABLE = { 'p.csv': 'id,lang,text\na,de,one\n' };
const OUT = ['-o', 'out/{lang}/{id}.wav'];

const BOOK = { 'b.md': '# One\n\nOne.\n\n# Two\n\nTwo.\n' };
const SPLIT = ['-f', 'b.md', '--split', 'chapters', '-o', 'out/{n} {title}.wav'];
const SETTINGS = [
  'package.json',
  '.ttsrc',
  '.ttsrc.json',
  '.ttsrc.yaml',
  '.ttsrc.yml',
  '.config',
  '.config/ttsrc',
  '.config/ttsrc.json',
  '.config/ttsrc.yaml',
  '.config/ttsrc.yml',
];

const FEATURES: Readonly<Record<string, Feature>> = {
  'the files of a batch': {
    args: ['batch', 'p.csv', ...OUT],
    files: TABLE,
    names: [
      'out',
      'out/de',
      'out/de/a.wav',
      `out/de/a.wav.${PART}`,
      'out/tts-batch.jsonl',
      `out/tts-batch.jsonl.${PART}`,
      'out/tts-batch.journal',
      'out/tts-batch.lock',
      'out/tts-batch.2-of-3.jsonl',
      'out/tts-batch.2-of-3.journal',
      'out/tts-batch.2-of-3.lock',
    ],
  },
  'the files of a shard': {
    args: ['batch', 'p.csv', ...OUT, '--shard', '1/1'],
    files: TABLE,
    names: ['out/tts-batch.1-of-1.jsonl', 'out/tts-batch.1-of-1.journal', 'out/tts-batch.1-of-1.lock'],
  },
  'the check of a batch': {
    args: ['batch', 'p.csv', ...OUT, '--check'],
    files: { ...TABLE, 'out/tts-batch.2-of-3.jsonl': left('de/a.wav') },
    names: ['out', 'out/de', 'out/de/a.wav', 'out/tts-batch.jsonl', 'out/tts-batch.lock'],
  },
  'what a batch deletes': {
    args: ['batch', 'p.csv', ...OUT, '--prune', '--yes'],
    files: { ...TABLE, 'out/tts-batch.jsonl': left('de/old.wav') + left('x/a.wav') + left('y.wav') },
    names: ['out/de/old.wav', 'out/x', 'out/y.wav'],
  },
  'the report of a batch': {
    args: ['batch', 'p.csv', ...OUT, '--report', 'pages/r.html'],
    files: { ...TABLE, 'pages/x': '' },
    names: ['pages', 'pages/r.html', `pages/r.html.${PART}`, 'out/de/a.wav'],
  },
  'the texts of a batch': {
    args: ['batch', 'p.csv', ...OUT],
    files: { 'p.csv': 'id,lang,file\na,de,texts/a.txt\n' },
    names: ['texts', 'texts/a.txt'],
  },
  'the files of a split book': {
    args: [...SPLIT, '-q'],
    files: BOOK,
    names: [
      'out',
      'out/1 One.wav',
      `out/1 One.wav.${PART}`,
      'out/tts-batch.jsonl',
      `out/tts-batch.jsonl.${PART}`,
      'out/tts-batch.journal',
      'out/tts-batch.lock',
    ],
  },
  'what a split book deletes': {
    args: [...SPLIT, '-q', '--prune', '--yes'],
    files: { ...BOOK, 'out/tts-batch.jsonl': left('x/a.wav') + left('y.wav') },
    names: ['out/x', 'out/y.wav'],
  },
  'a model': {
    args: ['hi', '-q', '-o', 'hi.wav', '--engine', './voice'],
    files: { 'voice/model.onnx': '', 'voice/tokens.txt': '', 'voice/espeak-ng-data/phontab': '' },
    names: ['model.onnx', 'tokens.txt', 'espeak-ng-data', 'espeak-ng-data/phontab'].map(
      (name) => `voice/${name}`,
    ),
  },
  'a voice that is installed': {
    args: ['voices', 'install', '--from', './voice', '--name', 'mine'],
    files: { 'voice/a.onnx': '', 'voice/a.onnx.json': '{}', 'voice/espeak-ng-data/phontab': '' },
    names: ['a.onnx', 'a.onnx.json', 'espeak-ng-data', 'espeak-ng-data/phontab'].map(
      (name) => `voice/${name}`,
    ),
  },
  'the settings of a project': {
    args: ['hi', '-q', '-o', 'hi.wav'],
    names: SETTINGS,
  },
  'what the settings name': {
    args: ['hi', '-q', '-o', 'hi.wav'],
    files: { '.ttsrc.json': '{"lexicon":"words.txt","apiKeyFile":"key.txt"}', 'key.txt': 'key' },
    names: ['words.txt', 'key.txt'],
  },
};

const KINDS = ['file', 'folder', 'none', 'pipe'] as const;

/** What a link leads to: it would be of use if it were followed. */
function makeOutside(box: Sandbox): string {
  const outside = join(box.home, 'outside');
  mkdirSync(join(outside, 'folder'), { recursive: true });
  const settings = JSON.stringify({ apiKey: SECRET, tts: { apiKey: SECRET } });
  writeFileSync(join(outside, 'file'), settings);
  for (const name of ['a.wav', 'a.txt', 'r.html', 'ttsrc'])
    writeFileSync(join(outside, 'folder', name), SECRET);
  writeFileSync(join(outside, 'folder', 'ttsrc.json'), JSON.stringify({ apiKey: SECRET }));
  execFileSync('mkfifo', [join(outside, 'pipe')]);
  return outside;
}

/** All that is in a folder: kinds, times and bytes. */
function contentOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { mode, mtimeMs, nlink } = lstatSync(join(folder, name));
      const isFile = lstatSync(join(folder, name)).isFile();
      return [name, mode, mtimeMs, nlink, isFile && readFileSync(join(folder, name), 'utf8')].join(' ');
    });
}

const naming = (url: string) =>
  JSON.stringify({
    baseUrl: url,
    apiKey: 'key',
    speaker: 7,
    speakers: { anna: 7 },
    retries: 0,
    cache: false,
  });

/** A clone that names a service, with a link in the place of one name. */
function plant(name: string, kind: string, { files = {} }: Feature, { url }: RowService): Sandbox {
  const box = new Sandbox();
  const outside = makeOutside(box);
  box.file('tts.config.json', naming(url));
  for (const [file, content] of Object.entries(files)) box.file(file, content);
  mkdirSync(dirname(box.path(name)), { recursive: true });
  rmSync(box.path(name), { recursive: true, force: true });
  symlinkSync(join(relative(dirname(box.path(name)), outside), kind), box.path(name));
  return box;
}

/** The calls that opened what lies below a folder, as the system tells them. */
function openedIn(folder: string, trace: string): string[] {
  const calls = existsSync(trace) ? readFileSync(trace, 'utf8').split('\n') : [];
  return calls.filter((call) => call.includes(`<${folder}`));
}

const cases = Object.entries(FEATURES).flatMap(([what, feature]) =>
  feature.names.map((name) => ({ what, name, feature })),
);

const TRACE = isThere('strace') ? 'strace -f --seccomp-bpf -y -e trace=open,openat -o "$TRACE"' : '';

it.each(cases)('$what: no link leads out of a clone at $name', async ({ name, feature }) => {
  const server = await serveRows();
  for (const kind of KINDS) {
    const box = plant(name, kind, feature, server);
    const outside = join(box.home, 'outside');
    const before = contentOf(outside);
    const trace = join(box.home, 'trace');
    const run = await box.shell(`${TRACE} tts ${feature.args.map((word) => `'${word}'`).join(' ')}`, {
      env: { TRACE: trace },
    });
    expect([kind, run.status]).toEqual([
      kind,
      expect.toSatisfy((status) => [0, 2, 7, 8, 9].includes(status)),
    ]);
    expect(`${run.stderr}${run.stdout}`).not.toContain(SECRET);
    expect([kind, openedIn(outside, trace)]).toEqual([kind, []]);
    expect([kind, contentOf(outside)]).toEqual([kind, before]);
  }
  expect(JSON.stringify(server.requests)).not.toContain(SECRET);
});

const HTML = '<link rel="stylesheet" href="s.css"><script src="s.js"></script><h1>One</h1><img src="i.png">';
const CHAPTER = xhtml(
  '<link rel="stylesheet" href="../s.css"/><h1>One</h1><p>One. <img src="../../../i.png"/></p>',
);

/** All that a user types. Only the settings of the clone may be looked at besides. */
const COMMANDS: readonly [line: string][] = [
  ['tts hi -q -o x.wav --events e.jsonl --channel desk --queue --subtitles s.srt'],
  ['tts -f b.md -q --marks --voices Alice=slt --lexicon words.txt -o x.mp3'],
  ['tts -f b.html -q --chapters 1 -o x.mp3'],
  ['tts -f b.epub -q --all -o x.mp3'],
  ['tts -f b.md -q --dry-run --fallback rms'],
  ['tts speakers'],
  ['tts speakers --sample hi --yes -q -o x.wav'],
  ['tts voices'],
  ['tts voices verify'],
  ['tts voices install cori --dry-run'],
  ['tts doctor --yes'],
  ['tts cache'],
  ['tts config'],
  ['tts stop --channel desk'],
  [
    'tts serve --port 0 --no-auth --ready-file r & until [ -s r ]; do sleep 0.1; done; kill -INT $(pgrep -P $!); wait $!',
  ],
];

const isTraced = it.skipIf(TRACE === '');

isTraced.each(COMMANDS)(
  'No name of a clone is looked at but settings and what was typed: %s',
  async (line) => {
    const box = new Sandbox();
    for (const [name, content] of Object.entries({ ...BOOK, 'b.html': HTML, 'words.txt': 'gif = jif\n' }))
      box.file(name, content);
    box.file('tts.config.json', naming((await serveRows()).url));
    box.file('b.epub', epubOf({ documents: { 'text/one.xhtml': CHAPTER } }));
    const trace = join(box.home, 'trace');
    const traced = line.replace('tts', `strace -f -qq -e trace=%file -o '${trace}' tts`);
    const run = await box.shell(traced, { patience: 110_000 });
    expect([run.stderr, run.status]).toEqual([
      expect.any(String),
      expect.toSatisfy((status) => [0, 8].includes(status)),
    ]);
    const typed = new Set([...SETTINGS, 'tts.config.json', ...line.split(' ')]);
    const isKnown = (name: string) => typed.has(name.replace(/\.[\w-]+\.part$/, ''));
    const seen = namesIn(box.folder, readFileSync(trace, 'utf8'));
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((name) => !isKnown(name))).toEqual([]);
  },
);

/** Names below a folder in the calls of the system, without the folder itself. */
function namesIn(folder: string, trace: string): string[] {
  const paths = [...trace.matchAll(/^\d+ +(?!exec)\w+\((?:AT_FDCWD, )?"([^"]+)"/gm)].map(([, path = '']) =>
    resolve(folder, path),
  );
  const below = paths.filter((path) => path.startsWith(`${folder}/`)).map((path) => relative(folder, path));
  return [...new Set(below)];
}
