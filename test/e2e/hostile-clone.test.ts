import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs, {
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
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
const manifest = (stem: string) =>
  ['jsonl', `jsonl.${PART}`, 'journal', 'lock'].map((end) => `${stem}.${end}`);
const TABLE = { 'p.csv': 'id,lang,text\na,de,one\n' };
const OUT = ['-o', 'out/{lang}/{id}.wav'];

const BOOK = { 'b.md': '# One\n\nOne.\n\n# Two\n\nTwo.\n' };
const SPLIT = ['-f', 'b.md', '--split', 'chapters', '-o', 'out/{n} {title}.wav'];
const ENDINGS = ['', '.json', '.yaml', '.yml'];
const SETTINGS = [
  'package.json',
  '.config',
  ...['.ttsrc', '.config/ttsrc'].flatMap((name) => ENDINGS.map((end) => name + end)),
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
      ...manifest('out/tts-batch'),
      ...manifest('out/tts-batch.2-of-3'),
    ],
  },
  'the files of a shard': {
    args: ['batch', 'p.csv', ...OUT, '--shard', '1/1'],
    files: TABLE,
    names: manifest('out/tts-batch.1-of-1'),
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
    names: ['out', 'out/1 One.wav', 'out/tts-batch.jsonl', 'out/tts-batch.lock'],
  },
  'a model': {
    args: ['hi', '-q', '-o', 'hi.wav', '--engine', './voice'],
    files: { 'voice/model.onnx': '', 'voice/tokens.txt': '', 'voice/espeak-ng-data/phontab': '' },
    names: ['voice/model.onnx', 'voice/tokens.txt', 'voice/espeak-ng-data', 'voice/espeak-ng-data/phontab'],
  },
  'a voice that is installed': {
    args: ['voices', 'install', '--from', './voice', '--name', 'mine'],
    files: { 'voice/a.onnx': '', 'voice/a.onnx.json': '{}', 'voice/espeak-ng-data/phontab': '' },
    names: ['voice/a.onnx', 'voice/a.onnx.json', 'voice/espeak-ng-data', 'voice/espeak-ng-data/phontab'],
  },
  'the settings of a project': { args: ['hi', '-q', '-o', 'hi.wav'], names: SETTINGS },
  'what the settings name': {
    args: ['hi', '-q', '-o', 'hi.wav'],
    files: { '.ttsrc.json': '{"lexicon":"words.txt","apiKeyFile":"key.txt"}', 'key.txt': 'key' },
    names: ['words.txt', 'key.txt'],
  },
};

/** What a link leads to: it would be of use if it were followed. */
function makeOutside(box: Sandbox): string {
  const outside = join(box.home, 'outside');
  mkdirSync(join(outside, 'folder'), { recursive: true });
  writeFileSync(join(outside, 'file'), JSON.stringify({ apiKey: SECRET, tts: { apiKey: SECRET } }));
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
      const found = lstatSync(join(folder, name));
      const content = found.isFile() ? readFileSync(join(folder, name), 'utf8') : '';
      return [name, found.mode, found.mtimeMs, found.nlink, content].join(' ');
    });
}

const USUAL = { apiKey: 'key', speaker: 7, speakers: { anna: 7 }, retries: 0, cache: false };
const naming = (baseUrl: string) => JSON.stringify({ baseUrl, ...USUAL });

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

/** The real paths of what functions of Node open in this process, until the test is over. */
function watchOpened(): string[] {
  const opened: string[] = [];
  const look = (path: unknown, flags: unknown) => {
    if (typeof path !== 'string') return;
    const followsLinks =
      typeof flags === 'number' ? !(flags & constants.O_NOFOLLOW) : !/^[aw]x/.test(`${flags}`);
    try {
      opened.push(followsLinks ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path)));
    } catch {
      // Nothing is there: whatever is made there is found in the folder afterwards.
    }
  };
  for (const module of [fs, fs.promises] as Record<string, unknown>[])
    for (const name of ['openSync', 'open', 'readFileSync', 'readFile', 'createReadStream']) {
      const real = module[name];
      if (typeof real !== 'function') continue;
      module[name] = (path: unknown, flags: unknown, ...more: unknown[]) => {
        look(path, flags);
        return real(path, flags, ...more);
      };
      onTestFinished(() => {
        module[name] = real;
      });
    }
  return opened;
}

it('What is opened through a link into a folder is seen.', () => {
  const box = new Sandbox();
  const outside = makeOutside(box);
  symlinkSync(join(outside, 'file'), box.path('link'));
  const opened = watchOpened();
  fs.readFileSync(box.path('link'));
  expect(() => fs.openSync(box.path('link'), constants.O_NOFOLLOW)).toThrow('ELOOP');
  expect(new Set(opened)).toEqual(new Set([join(outside, 'file'), box.path('link')]));
});

it.each(Object.keys(FEATURES))('%s: no link leads out of a clone', async (what) => {
  const feature = FEATURES[what] as Feature;
  const server = await serveRows();
  const opened = watchOpened();
  for (const name of feature.names)
    for (const kind of ['file', 'folder', 'none', 'pipe']) {
      const box = plant(name, kind, feature, server);
      const outside = join(box.home, 'outside');
      const before = contentOf(outside);
      const run = await box.run(feature.args);
      const at = `${name}, a link to ${kind}: ${run.stderr}`;
      expect([0, 2, 7, 8, 9], at).toContain(run.status);
      expect(`${run.stderr}${run.stdout}`, at).not.toContain(SECRET);
      expect(
        opened.splice(0).filter((path) => path.startsWith(outside)),
        at,
      ).toEqual([]);
      expect(contentOf(outside), at).toEqual(before);
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
  ['tts -f b.epub -f b.html -q --all -o x.mp3'],
  ['tts speakers'],
  ['tts voices verify'],
  ['tts doctor --yes'],
  [
    'tts serve --port 0 --no-auth --ready-file r & until [ -s r ]; do sleep 0.1; done; kill -INT $(pgrep -P $!); wait $!',
  ],
];

it.skipIf(!isThere('strace')).each(COMMANDS)(
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
    expect([0, 8], run.stderr).toContain(run.status);
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

it('No name rules the terminal, and all can be recognised.', async () => {
  /** It would turn what follows red, ring, clear the screen (C1), and write the rest from right to left. */
  const strange = 'x\x1b[31m\x07\u009b2J\u202egpj 👩‍👧';
  const box = new Sandbox();
  const speakers = { [strange]: { no: 7 } };
  box.file(strange, JSON.stringify({ speaker: 7, speakers, retries: 0, apiKey: 'key' }));
  const config = ['--config', strange];
  for (const args of [
    ['-v', '-f', `${strange}.txt`],
    [`--${strange}`],
    ['-v', '-i', strange, 'hi', '-s', '11', '-o', 'out.wav'],
    ['config', ...config],
    ['doctor', ...config],
    ['speakers', '--names', ...config, '--base-url', 'https://tts.example.com/api'],
    ['cache'],
  ]) {
    const env: Record<string, string> = args[0] === 'cache' ? { TTS_CACHE_DIR: strange } : {};
    const { stdout, stderr } = await box.run(args, { env });
    expect(`${stdout}${stderr}`).toContain('x\\u001b[31m\\u0007\\u009b2J\\u202egpj 👩‍👧');
    expect(`${stdout}${stderr}`).not.toMatch(/(?!\n)[\p{Cc}\u202a-\u202e]/u);
  }
});
