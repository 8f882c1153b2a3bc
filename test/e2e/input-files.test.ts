import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { complete } from '../support/http-bytes.ts';
import { type Ended, expectFailure, KEY, named, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(10_000));
const TEXT = 'A text that took long to write.\n';
const LEXICON = 'took = has taken\n';

/** A folder with a text and a lexicon, each also under other names. */
async function setUp() {
  const server = await serveBytes(complete(wav));
  const box = new Sandbox();
  box.file('book.txt', TEXT);
  box.file('other.txt', TEXT);
  box.file('words.srt', LEXICON);
  box.file('.ttsrc.json', '{"retries": 1}');
  box.file('c.json', '{"retries": 2}');
  box.file('key.srt', KEY);
  box.file('engine.srt', KEY);
  mkdirSync(box.path('sub'));
  symlinkSync('../book.txt', box.path('sub/link.wav'));
  symlinkSync('sub', box.path('also-sub'));
  linkSync(box.path('book.txt'), box.path('hard.srt'));
  const { TTS_API_KEY: _, ...env } = named(server.url);
  return { server, env: { ...env, TTS_API_KEY_FILE: 'key.srt', TTS_ENGINE_KEY_FILE: 'engine.srt' }, box };
}

/** Most lines need no shell, which costs a process. */
function runLine(box: Sandbox, line: string, env: Record<string, string>): Promise<Ended> {
  return /[<>&|"$]/.test(line) ? box.shell(`tts ${line}`, { env }) : box.run(line.split(' '), { env });
}

describe('a file that is read', () => {
  it.each([
    ['-f book.txt -o ./sub/../book.txt', '--output and --file are the same file: ./sub/../book.txt'],
    ['-f book.txt -o also-sub/link.wav', '--output and --file are the same file: also-sub/link.wav'],
    ['-f other.txt -f book.txt --subtitles hard.srt', '--subtitles and --file are the same file: hard.srt'],
    ['hi --lexicon words.srt -o words.srt', '--output and --lexicon are the same file: words.srt'],
    ['-f - -o book.txt < book.txt', '--output and --file are the same file: book.txt'],
    ['-o - >> book.txt < book.txt', 'stdout and --file are the same file'],
    ['hi -o .ttsrc.json', '--output and the config are the same file: .ttsrc.json'],
    ['hi --config c.json > c.json', 'stdout and the config are the same file'],
    ['hi --subtitles key.srt', '--subtitles and TTS_API_KEY_FILE are the same file: key.srt'],
    [
      'hi --subtitles engine.srt --dry-run',
      '--subtitles and TTS_ENGINE_KEY_FILE are the same file: engine.srt',
    ],
    [
      'hi -o new.wav --events also-sub/../new.wav',
      '--events and --output are the same file: also-sub/../new.wav',
    ],
    ['hi --subtitles new.srt --events new.srt', '--events and --subtitles are the same file: new.srt'],
    ['hi --events new.jsonl > new.jsonl', 'stdout and --events are the same file'],
  ])('is not written over, nor twice: %s', async (args, message) => {
    const { server, env, box } = await setUp();
    const run = await runLine(box, args, env);
    expectFailure(run, 2, /\nhint: choose another name for (?:--output|--subtitles|--events|stdout): /);
    expect(run.stderr).toContain(message);
    expect(server.requests).toHaveLength(0);
    expect(box.read('book.txt').toString()).toBe(TEXT);
    expect(box.read('words.srt').toString()).toBe(LEXICON);
  });

  it('is no matter where nothing of it is lost', async () => {
    const { env, box } = await setUp();
    execFileSync('mkfifo', [box.path('fifo')]);
    for (const line of [
      'hi -o /dev/null --events /dev/null',
      '-f fifo -o out.wav & cat book.txt > fifo; wait %1',
      '-o - < book.txt > out.wav',
      '-o /dev/stdout -f book.txt | cat > out.wav',
      '-f book.txt -o out.wav >> book.txt',
    ])
      expect(await runLine(box, line, env), line).toMatchObject({ status: 0, stderr: '' });
  });

  it('is not another one behind a link with ".." behind it', async () => {
    const { env, box } = await setUp();
    mkdirSync(box.path('other/deep'), { recursive: true });
    symlinkSync('other/deep', box.path('link'));
    box.file('o.wav', 'precious');
    const run = await box.run('hi -o link/../o.wav --subtitles link/../o.srt', { env });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('o.wav').toString()).toBe('precious');
    expect(box.read('other/o.wav')).toEqual(wav);
    expect(box.read('other/o.srt').toString()).toContain('hi');
    expectFailure(await box.run('hi -o missing/../o.wav', { env }), 8, /the folder does not exist/);
    box.file('other/text.txt', 'there');
    expect(await box.run('-f link/../text.txt -o x.wav', { env })).toMatchObject({ status: 0 });
    expectFailure(await box.run('-f link/../book.txt -o x.wav', { env }), 2, /book\.txt/);
  });
});

describe('an input without end that can only be read whole is refused after a while:', () => {
  it.each([
    [
      'a text for a callback',
      'yes Hello. | tts --callback-url https://example.com/done',
      /the text is longer than/,
    ],
    ['a Markdown document', 'yes Hello. | tts --format markdown -o out.wav', /the Markdown is longer than/],
    ['a lexicon', 'yes "a = b" | tts hi --lexicon /dev/stdin -o out.wav', /\/dev\/stdin is longer than/],
    [
      'a config file',
      'yes "speaker: 3" | tts hi --config /dev/stdin -o out.wav',
      /\/dev\/stdin is longer than/,
    ],
  ])('%s', async (_, line, message) => {
    const server = await serveBytes(complete(wav));
    expectFailure(await new Sandbox().shell(line, { env: named(server.url) }), 2, message);
    expect(server.requests).toHaveLength(0);
  });
});

/** What the system refuses to look at, even for root. */
const NOWHERE = ['/etc/passwd/x', `/tmp/${'x'.repeat(300)}`, 'loop', 'missing/../x'];

it.each([
  ['hi -o out.wav --config', 2, /cannot read the settings in|there is no missing/],
  ['hi -o out.wav --lexicon', 2, /cannot read |there is no missing/],
  ['serve --port 0 --ready-file', 8, /cannot write \S*(?:passwd|xxx|loop|missing)/],
])(
  'A name that leads nowhere is a mistake of the user, not of the tool: tts %s',
  async (line, status, message) => {
    const box = new Sandbox();
    symlinkSync('loop', box.path('loop'));
    for (const name of NOWHERE) expectFailure(await box.run(`${line} ${name}`), status, message);
  },
);

it.runIf(process.getuid?.() === 0)('who may not read a text is not told to look at its name', async () => {
  const box = new Sandbox();
  box.file('a.txt', 'Hi.');
  chmodSync(box.path('a.txt'), 0);
  const run = await box.run('-f a.txt -o out.wav', { uid: 65_534 });
  expectFailure(run, 2, /^tts: cannot read a\.txt: .*\nhint: check its permissions\n$/);
});

describe('".." behind a link leads to where the system goes', () => {
  function withLink(): Sandbox {
    const box = new Sandbox();
    mkdirSync(box.path('real/sub'), { recursive: true });
    symlinkSync('real/sub', box.path('link'));
    return box;
  }

  it('for a lexicon', async () => {
    const box = withLink();
    box.file('words.txt', 'gif = wrong');
    box.file('real/words.txt', 'gif = right');
    for (const name of ['link/../words.txt', `${box.folder}/link/../words.txt`]) {
      const run = await box.run(['the gif', '--lexicon', name, '--show-text']);
      expect({ ...run, stdout: run.stdout.toString() }).toMatchObject({ status: 0, stdout: 'the right\n' });
    }
  });

  it('for a config file', async () => {
    const box = withLink();
    box.file('own.json', '{"lexicon": "wrong.txt"}');
    box.file('real/own.json', '{"lexicon": ["other.txt", "right.txt"]}');
    box.file('real/other.txt', 'the = a\ngif = other');
    box.file('real/right.txt', 'gif = right');
    const run = await box.run(['the gif', '--config', 'link/../own.json', '--show-text']);
    expect({ ...run, stdout: run.stdout.toString() }).toMatchObject({ status: 0, stdout: 'a right\n' });
  });
});

it('In a variable, which no shell expands, ~/ is the home, whatever signs are in its name.', async () => {
  const box = new Sandbox();
  const HOME = box.path('h$&x');
  box.file('h$&x/own.json', '{"retries": 7}');
  const run = await box.run('config --json', { env: { HOME, TTS_CONFIG: '~/own.json' } });
  expect(JSON.parse(run.stdout.toString()).settings.retries.value).toBe(7);
  const cache = await box.run('cache --json', { env: { HOME, TTS_CACHE_DIR: '~/kept' } });
  expect(JSON.parse(cache.stdout.toString()).folder).toBe(join(HOME, 'kept'));
});

describe('a pipe', () => {
  it('with a name of settings is not waited for, and none that a project names is read', async () => {
    const box = new Sandbox();
    mkdirSync(box.path('.config'));
    for (const name of ['.ttsrc', '.config/ttsrc.yaml', 'pipe']) execFileSync('mkfifo', [box.path(name)]);
    expect(await box.run('hi -q -o out.wav')).toMatchObject({ status: 0, stderr: '' });
    for (const named of [{ lexicon: [box.file('words.txt'), 'pipe'] }, { apiKeyFile: 'pipe' }]) {
      box.file('tts.config.json', JSON.stringify({ baseUrl: 'http://127.0.0.1:9', speaker: 1, ...named }));
      expectFailure(await box.run('hi -o out.wav'), 2, /is not a regular file/);
    }
  });

  it('that the user names on the command line is read', async () => {
    const box = new Sandbox();
    const line = `tts 'the gif' --show-text --lexicon <(echo 'gif = jif') --config <(echo '{"retries": 7}')`;
    const shown = await box.shell(line);
    expect({ ...shown, stdout: shown.stdout.toString() }).toMatchObject({ status: 0, stdout: 'the jif\n' });
    const env = { TTS_BASE_URL: 'http://127.0.0.1:9', TTS_SPEAKER: '1' };
    const spoken = await box.shell('TTS_API_KEY_FILE=<(echo a-key) tts hi -o x.wav --retries 0', { env });
    expectFailure(spoken, 6, /nothing listens/);
  });
});
