import { existsSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Journal } from '../../src/batch/manifest.ts';
import { openEventLog } from '../../src/run/events.ts';
import { serveBytes } from '../support/byte-server.ts';
import { epubOf } from '../support/epub.ts';
import { filesBelow } from '../support/folder.ts';
import { complete } from '../support/http-bytes.ts';
import { randomFrom, SEED } from '../support/random.ts';
import { serveRows } from '../support/row-service.ts';
import { expectFailure, KEY, named, Sandbox } from '../support/run.ts';
import { smallDisk } from '../support/small-disk.ts';
import { hasSherpa, tinySound } from '../support/tiny-voice.ts';
import { userConfig, writeUserConfig } from '../support/user-config.ts';
import { standIn } from '../support/voices.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const PRELOAD = fileURLToPath(new URL('../support/failing-fs.cjs', import.meta.url));

/** `once`: one call fails; `onwards`: all from it on; `kill`: the process is killed at it. */
const MODES = ['once', 'onwards', 'kill'] as const;

type Mode = (typeof MODES)[number];

/** Makes the call number `at` that changes a file fail in the runs with this environment. */
function failingCall(box: Sandbox, at: number, mode: Mode) {
  const mark = box.path('hit');
  const env = { FAULT_AT: `${at}`, FAULT_MODE: mode, FAULT_MARK: mark, NODE_OPTIONS: `--require=${PRELOAD}` };
  /** The name of the call that failed; `undefined` if there were fewer calls. */
  const hit = () => {
    const name = existsSync(mark) ? readFileSync(mark, 'utf8') : undefined;
    rmSync(mark, { force: true });
    return name;
  };
  return { env, hit };
}

const URL_ = 'https://tts.example.com/api';
const wav = plainWav(sound(5000));

interface Target {
  readonly prepare: (box: Sandbox) => void;
  readonly args: readonly string[];
  readonly stdin?: string;
  readonly path: (box: Sandbox) => string;
  readonly isOld: (content: Buffer) => boolean;
  readonly isNew: (content: Buffer) => boolean;
}

const TARGETS: Readonly<Record<string, Target>> = {
  output: {
    prepare: (box) => void box.file('out.wav', 'old'),
    args: ['hi', '-o', 'out.wav'],
    path: (box) => box.path('out.wav'),
    isOld: (content) => content.equals(Buffer.from('old')),
    isNew: (content) => content.equals(wav),
  },
  encoded: {
    prepare: (box) => void box.file('out.mp3', 'old'),
    args: ['hi', '-o', 'out.mp3', '--title', 'Book'],
    path: (box) => box.path('out.mp3'),
    isOld: (content) => content.equals(Buffer.from('old')),
    isNew: (content) => content.toString('latin1', 0, 3) === 'ID3' && content.length > 800,
  },
  'read-along book': {
    prepare: (box) => void box.file('out.epub', 'old'),
    args: ['hi', '-o', 'out.epub'],
    path: (box) => box.path('out.epub'),
    isOld: (content) => content.equals(Buffer.from('old')),
    // The end of the archive's directory is the last thing that is written.
    isNew: (content) => content.readUInt32LE(content.length - 22) === 0x06054b50,
  },
  subtitles: {
    prepare: (box) => void box.file('out.srt', 'old'),
    args: ['hi', '-o', 'out.wav', '--subtitles', 'out.srt'],
    path: (box) => box.path('out.srt'),
    isOld: (content) => content.equals(Buffer.from('old')),
    isNew: (content) => /^1\n00:00:00,000 --> .*\nhi\n/.test(content.toString()),
  },
  keys: {
    prepare: (box) => void writeUserConfig(box, { 'https://b.example': 'b' }, { name: 'keys.json' }),
    args: ['login', URL_],
    stdin: KEY,
    path: (box) => userConfig(box, 'keys.json'),
    isOld: (content) => content.equals(Buffer.from(JSON.stringify({ 'https://b.example': 'b' }))),
    isNew: (content) => JSON.parse(content.toString())[URL_] === KEY,
  },
};

it.each([
  ['output', 'kill', 1],
  ['encoded', 'onwards', 4],
  ['read-along book', 'kill', 5],
  ['subtitles', 'kill', 5],
  ['keys', 'onwards', 2],
] as const)(
  '%s: old or new after a fault at places in turn, %s',
  { timeout: 180_000 },
  async (name, mode, step) => {
    const { prepare, args, stdin, path, isOld, isNew } = TARGETS[name] as Target;
    const { url } = await serveBytes(complete(wav));
    const calls = new Set<string>();
    for (let at = 1; ; at += step) {
      const box = new Sandbox();
      prepare(box);
      const failing = failingCall(box, at, mode);
      const env = { ...(stdin === undefined && named(url)), ...failing.env };
      const { status } = await box
        .run(args, { env, ...(stdin !== undefined && { stdin }) })
        .catch(() => ({ status: null }));
      const content = readFileSync(path(box));
      const call = failing.hit();
      if (call) calls.add(call);
      expect(isOld(content) || isNew(content), `torn at ${at}`).toBe(true);
      if (!call) {
        expect([status, isNew(content)]).toEqual([0, true]);
        // Otherwise nothing was tried, or nothing was on the disk.
        if (step === 1)
          expect([...calls]).toEqual(expect.arrayContaining(['openSync', 'fsync', 'renameSync']));
        expect(calls.size).toBeGreaterThan(1);
        return;
      }
      expect(status).toBe(mode === 'kill' ? null : 8);
    }
  },
);

it('the cache costs no sound, and has none that is wrong, after a fault at each place', {
  timeout: 180_000,
}, async () => {
  const { url } = await serveBytes(complete(wav));
  const env = named(url, { TTS_CACHE: '1' });
  const calls = new Set<string>();
  for (let at = 1; ; at += 2) {
    const box = new Sandbox();
    const failing = failingCall(box, at, 'onwards');
    const { status, stdout } = await box.run('hi', { env: { ...env, ...failing.env } });
    const call = failing.hit();
    expect([status, wav.equals(stdout)]).toEqual([0, true]);
    const again = await box.run('hi', { env });
    expect([again.status, again.stdout.equals(wav)]).toEqual([0, true]);
    if (call) calls.add(call);
    else break;
  }
  // Otherwise nothing was kept.
  expect([...calls]).toEqual(expect.arrayContaining(['openSync', 'renameSync']));
});

interface Work {
  /** Every N-th place is tried. */
  readonly step: number;
  readonly prepare: (box: Sandbox) => void;
  readonly args: readonly string[];
  readonly files: readonly string[];
}

const BATCH: Work = {
  step: 6,
  prepare: (box) => void box.file('p.csv', 'id,text\none,one\ntwo,two\n'),
  args: ['batch', 'p.csv', '-q', '--concurrency', '1'],
  files: ['one.wav', 'two.wav'],
};

const documents = { 'a.xhtml': '<h1>One</h1><p>Begins.</p>', 'b.xhtml': '<h1>Two</h1><p>Ends.</p>' };

const SPLIT: Work = {
  step: 9,
  prepare: (box) => void box.file('book.epub', epubOf({ documents })),
  args: ['-f', 'book.epub', '--split', 'chapters', '-o', '{n} {title}.mp3', '-q'],
  files: ['1 One.mp3', '2 Two.mp3'],
};

const CASES: readonly (readonly [name: string, mode: Mode, work: Work])[] = [
  ['A batch', 'kill', BATCH],
  ['A book in files', 'onwards', SPLIT],
];

/** What would show that a file was written again. The manifest is, with the same content. */
function seen(box: Sandbox, files: readonly string[]): unknown {
  return files.map((name) => {
    const { ino, mtimeNs } = statSync(box.path(name), { bigint: true });
    return [name, ino, mtimeNs];
  });
}

it.each(CASES)(
  '%s is whole after a fault at each place, another one in the next run, and a third run: %s',
  { timeout: 240_000 },
  async (_, mode, { step, prepare, args, files }) => {
    const { url, requests } = await serveRows();
    const whole = new Sandbox();
    prepare(whole);
    expect(await whole.run(args, { env: named(url) })).toMatchObject({ status: 0 });
    for (let at = 1; ; at += step) {
      const box = new Sandbox();
      prepare(box);
      const broken = async () => {
        const failing = failingCall(box, at, mode);
        const { status } = await box
          .run(args, { env: { ...named(url), ...failing.env } })
          .catch(() => ({ status: null }));
        // A file that has its name is whole.
        for (const file of files.filter((each) => existsSync(box.path(each))))
          expect(box.read(file), `${file} at ${at}`).toEqual(whole.read(file));
        const call = failing.hit();
        if (call && mode === 'kill') expect(status).toBe(null);
        if (!call) expect(status).toBe(0);
        // A run that was killed before it wrote its name into its lock counts as alive for a minute.
        const lock = box.path('tts-batch.lock');
        if (statSync(lock, { throwIfNoEntry: false })?.size === 0) utimesSync(lock, 0, 0);
        return call;
      };
      if ((await broken()) === undefined) {
        // Otherwise nothing was tried.
        expect(at).toBeGreaterThan(10);
        const [before, asked] = [seen(box, files), requests.length];
        expect(await box.run(args, { env: named(url) })).toMatchObject({ status: 0 });
        expect([seen(box, files), requests.length]).toEqual([before, asked]);
        return;
      }
      await broken();
      expect(await box.run(args, { env: named(url) }), `again after ${at}`).toMatchObject({ status: 0 });
      expect(box.list(), `files after ${at}`).toEqual(whole.list());
      expect(box.read('tts-batch.jsonl')).toEqual(whole.read('tts-batch.jsonl'));
    }
  },
);

const PLACES = ['MODEL_CARD', 'model.onnx', 'tokens.txt', 'voice.json'].map((name) => `voices/tina/${name}`);

/** All of them take a minute: `TTS_TEST_ALL_CALLS=1`. */
const every = process.env.TTS_TEST_ALL_CALLS === '1';

/**
 * Installs a voice while one call fails, looks at what is there, and installs it again.
 * @returns false if there are fewer calls
 */
async function survives(at: number, mode: Mode): Promise<boolean> {
  const box = new Sandbox();
  const { hub, env } = await standIn(box);
  const data = join(box.home, '.local', 'share', 'tts');
  const fault = failingCall(box, at, mode);
  const run = await box.shell('tts voices install tina; exit $?', { env: { ...env, ...fault.env } });
  const hit = fault.hit();
  const where = `${mode} at ${at}: ${hit}\n${run.stderr}`;
  expect(mode === 'kill' && hit !== undefined ? [137] : [0, 2, 7, 8], where).toContain(run.status);
  expect(run.stderr, where).not.toMatch(/defect|\n {4}at /);
  const voice = filesBelow(join(data, 'voices', 'tina'));
  expect([0, PLACES.length], where).toContain(voice.length);
  expect(await box.run('voices install tina', { env }), where).toMatchObject({ status: 0 });
  expect(filesBelow(data), where).toEqual(PLACES);
  const whole = hub.cdn.filter(({ headers }) => headers.range === undefined);
  // Only a file of which no byte could be kept is asked for again.
  expect(whole.length, where).toBeLessThanOrEqual(4);
  return hit !== undefined;
}

describe.runIf(hasSherpa() && process.platform === 'linux')('an installation', () => {
  it('that fails or is killed at any write leaves no half voice, and the next one ends well', async () => {
    const pick = randomFrom(SEED);
    const some = () => Math.floor(pick() * 15) + 1;
    if (!every) for (const mode of MODES) await survives(some(), mode);
    for (const mode of every ? MODES : []) for (let at = 1; await survives(at, mode); at += 1);
  }, 600_000);

  it('waits for another one, and downloads nothing twice', async () => {
    const box = new Sandbox();
    const { hub, env } = await standIn(box);
    const runs = await Promise.all([1, 2].map(() => box.tts('voices install tina', { env })));
    expect(runs.map(({ status }) => status)).toEqual([0, 0]);
    expect(runs.map(({ stderr }) => stderr).join('')).toContain('tina is installed already');
    expect(hub.cdn).toHaveLength(3);
    await box.run('hi -o out.wav -s tina', { env });
    expect(box.read('out.wav').subarray(44).equals(tinySound('hi'))).toBe(true);
  });

  it('on a full disk says so before it downloads', async ({ skip }) => {
    const box = new Sandbox();
    const { hub, env } = await standIn(box);
    const folder = smallDisk(box, 'disk', 'size=8k,mode=700', skip);
    const run = await box.run('voices install tina', { env: { ...env, TTS_DATA_DIR: folder } });
    expectFailure(
      { ...run, stderr: run.stderr.split('\n').slice(-3).join('\n') },
      8,
      /not enough room in .*are needed/,
    );
    expect(hub.cdn).toEqual([]);
    expect(filesBelow(join(folder, 'voices'))).toEqual([]);
  });
});

describe('a line that a full disk takes in part is an error', () => {
  const long = 'x'.repeat(6000);

  it('in the journal of a batch', ({ skip }) => {
    const folder = smallDisk(new Sandbox(), 'disk', 'size=4k', skip);
    using journal = new Journal(join(folder, 'tts-batch.journal'));
    const entry = { file: 'a.wav', key: 'aa', sha256: 'bb', frames: 5, sampleRate: 8000, characters: 3 };
    expect(() => journal.add({ ...entry, id: long })).toThrow('no space is left there');
  });

  it('among events', async ({ skip }) => {
    const folder = smallDisk(new Sandbox(), 'disk', 'size=4k', skip);
    const lost: string[] = [];
    const { signal } = new AbortController();
    await using log = await openEventLog('events.jsonl', folder, signal, ({ message }) => lost.push(message));
    log.write({ text: long });
    expect(lost).toEqual(['cannot write events.jsonl: no space is left there']);
  });
});
