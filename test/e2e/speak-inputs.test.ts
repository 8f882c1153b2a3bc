import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync } from 'node:fs';
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
    ['-f book.txt -o book.txt', '--output and --file are the same file: book.txt'],
    ['-f book.txt -o ./sub/../book.txt', '--output and --file are the same file: ./sub/../book.txt'],
    ['-f book.txt -o "$PWD/book.txt"', '--output and --file are the same file: /'],
    ['-f book.txt -o also-sub/link.wav', '--output and --file are the same file: also-sub/link.wav'],
    ['-f sub/link.wav -o book.txt', '--output and --file are the same file: book.txt'],
    ['-f other.txt -f book.txt -o book.txt', '--output and --file are the same file: book.txt'],
    ['-f book.txt -o new.wav --subtitles hard.srt', '--subtitles and --file are the same file: hard.srt'],
    ['-f book.txt --subtitles hard.srt', '--subtitles and --file are the same file: hard.srt'],
    ['hi --lexicon words.srt -o words.srt', '--output and --lexicon are the same file: words.srt'],
    [
      'hi --lexicon words.srt --subtitles words.srt',
      '--subtitles and --lexicon are the same file: words.srt',
    ],
    ['-o book.txt < book.txt', '--output and --file are the same file: book.txt'],
    ['-f - -o book.txt < book.txt', '--output and --file are the same file: book.txt'],
    ['-f book.txt >> book.txt', 'stdout and --file are the same file'],
    ['-o - >> book.txt < book.txt', 'stdout and --file are the same file'],
    ['hi --lexicon words.srt >> words.srt', 'stdout and --lexicon are the same file'],
    ['hi --config c.json -o c.json', '--output and the config are the same file: c.json'],
    ['hi -o .ttsrc.json', '--output and the config are the same file: .ttsrc.json'],
    ['hi --config c.json > c.json', 'stdout and the config are the same file'],
    ['hi --subtitles hard.srt >> hard.srt', 'stdout and --subtitles are the same file'],
    ['hi --subtitles key.srt', '--subtitles and TTS_API_KEY_FILE are the same file: key.srt'],
    ['hi --subtitles engine.srt', '--subtitles and TTS_ENGINE_KEY_FILE are the same file: engine.srt'],
    ['-f book.txt -o book.txt --dry-run', '--output and --file are the same file: book.txt'],
  ])('is not written over: %s', async (args, message) => {
    const { server, env, box } = await setUp();
    const before = box.list();
    const run = await runLine(box, args, env);
    expectFailure(run, 2, /\nhint: choose another name for (?:--output|--subtitles|stdout): /);
    expect(run.stderr).toContain(message);
    expect(server.requests).toHaveLength(0);
    expect(box.list()).toEqual(before);
    expect(box.read('book.txt').toString()).toBe(TEXT);
    expect(box.read('words.srt').toString()).toBe(LEXICON);
  });

  it.each([
    ['hi -o new.wav --events new.wav', '--events and --output are the same file: new.wav'],
    [
      'hi -o new.wav --events also-sub/../new.wav',
      '--events and --output are the same file: also-sub/../new.wav',
    ],
    [
      'hi -o sub/new.wav --events also-sub/new.wav',
      '--events and --output are the same file: also-sub/new.wav',
    ],
    ['hi -o other.txt --encode wav --events other.txt', '--events and --output are the same file: other.txt'],
    ['hi --subtitles new.srt --events new.srt', '--events and --subtitles are the same file: new.srt'],
    ['hi --events new.jsonl > new.jsonl', 'stdout and --events are the same file'],
  ])('is not what two outputs go to: %s', async (args, message) => {
    const { server, env, box } = await setUp();
    const run = await runLine(box, args, env);
    expectFailure(
      run,
      2,
      /\nhint: choose another name for (?:--events|stdout): one would replace the other\n/,
    );
    expect(run.stderr).toContain(message);
    expect(server.requests).toHaveLength(0);
    expect(box.read('other.txt').toString()).toBe(TEXT);
  });

  it.each([
    '-f book.txt -o out.wav --lexicon words.srt --subtitles out.srt',
    'hi -o /dev/null --events /dev/null',
    '-f book.txt -o other.wav',
    '-f fifo -o out.wav & cat book.txt > fifo; wait %1',
    '< book.txt > out.wav',
    '-o - < book.txt > out.wav',
    '-o out.wav < book.txt',
    '-o out.wav --subtitles out.srt < <(cat book.txt)',
    '-o /dev/stdout -f book.txt | cat > out.wav',
    '-f book.txt >> out.wav',
    '-f book.txt -o out.wav >> book.txt',
    '-o spare.wav -- spare.wav',
  ])('is no matter where nothing of it is lost: %s', async (args) => {
    const { env, box } = await setUp();
    execFileSync('mkfifo', [box.path('fifo')]);
    expect(await runLine(box, args, env)).toMatchObject({ status: 0, stderr: '' });
  });

  it('is not another one behind a link with ".." behind it', async () => {
    const { env, box } = await setUp();
    mkdirSync(box.path('other/deep'), { recursive: true });
    symlinkSync('other/deep', box.path('link'));
    box.file('o.wav', 'precious');
    const run = await box.run(['hi', '-o', 'link/../o.wav', '--subtitles', 'link/../o.srt'], { env });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('o.wav').toString()).toBe('precious');
    expect(box.read('other/o.wav')).toEqual(wav);
    expect(box.read('other/o.srt').toString()).toContain('hi');
    expectFailure(await box.run(['hi', '-o', 'missing/../o.wav'], { env }), 8, /the folder does not exist/);
    box.file('other/text.txt', 'there');
    expect(await box.run(['-f', 'link/../text.txt', '-o', 'x.wav'], { env })).toMatchObject({ status: 0 });
    expectFailure(await box.run(['-f', 'link/../book.txt', '-o', 'x.wav'], { env }), 2, /book\.txt/);
  });

  it.each(['TTS_API_KEY_FILE', 'TTS_ENGINE_KEY_FILE'])(
    'is the key behind such a link, in %s',
    async (name) => {
      const { env, box } = await setUp();
      mkdirSync(box.path('other/deep'), { recursive: true });
      symlinkSync('other/deep', box.path('link'));
      box.file('other/key.srt', KEY);
      const named = { ...env, [name]: 'link/../key.srt' };
      const run = await box.run(['hi', '-o', 'x.wav', '--subtitles', 'other/key.srt'], { env: named });
      expectFailure(run, 2, new RegExp(`--subtitles and ${name} are the same file`));
      expect(box.read('other/key.srt').toString()).toBe(KEY);
    },
  );

  it('is something else than a device, which may be read and written', async () => {
    const { env, box } = await setUp();
    const run = await box.run(['-f', '/dev/null', '-o', '/dev/null'], { env });
    expectFailure(run, 2, /nothing to say/);
  });

  it('is shown as it will be spoken, whatever the output is called', async () => {
    const { env, box } = await setUp();
    const run = await box.run(['-f', 'book.txt', '-o', 'book.txt', '--show-text'], { env });
    expect({ status: run.status, text: run.stdout.toString() }).toEqual({ status: 0, text: `${TEXT}\n` });
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

it('A config file of a mebibyte is read, and a longer one is not.', async () => {
  const server = await serveBytes(complete(wav));
  const box = new Sandbox();
  const comment = `#${' '.repeat(1022)}\n`.repeat(1023);
  const env = named(server.url);
  box.file('.ttsrc', `${comment}instructions: slowly\n`);
  expect(await box.run(['hi', '-o', 'out.wav'], { env })).toMatchObject({ status: 0 });
  expect(server.requests[0]?.json).toMatchObject({ config: { instructions: 'slowly' } });
  box.file('.ttsrc', `${comment.repeat(2)}instructions: slowly\n`);
  expectFailure(await box.run(['hi', '-o', 'out.wav'], { env }), 2, /\.ttsrc is longer than 1048576 bytes/);
});
