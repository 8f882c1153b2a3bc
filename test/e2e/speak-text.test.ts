import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { serveText } from '../support/book.ts';
import { complete } from '../support/http-bytes.ts';
import { machineWith } from '../support/machine.ts';
import { type Arguments, expectFailure, named, type RunOptions, Sandbox } from '../support/run.ts';
import { silencesOf } from '../support/text-audio.ts';
import { plainWav, sound, speechFormat } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(200));

/** Runs in a sandbox with files; `spoken` is what the service was asked for. */
async function speaking(
  args: Arguments,
  { files = {}, ...options }: RunOptions & { files?: Readonly<Record<string, string | Uint8Array>> } = {},
) {
  const { box, run, texts } = await machineWith(complete(wav));
  for (const [name, content] of Object.entries(files)) box.file(name, content);
  return { run: await run(args, options), spoken: texts() };
}

/** The one text that is spoken. */
async function textOf(...input: Parameters<typeof speaking>): Promise<string | undefined> {
  const { run, spoken } = await speaking(...input);
  expect(run).toMatchObject({ status: 0, stderr: '' });
  expect(spoken).toHaveLength(1);
  return spoken[0];
}

async function refused(input: Parameters<typeof speaking>, message: RegExp) {
  const { run, spoken } = await speaking(...input);
  expectFailure(run, 2, message);
  expect(spoken).toEqual([]);
  return run;
}

describe('the text', () => {
  it('is the words, joined by one space', async () => {
    expect(await textOf(['hello', 'big   wide', 'world'])).toBe('hello big   wide world');
  });

  it('may stand among options, in any place', async () => {
    expect(await textOf(['--stream', 'one', '-s', '3', 'two', '--timeout=5', 'three'])).toBe('one two three');
  });

  it('comes from stdin where there are no words, and with -f -', async () => {
    expect(await textOf([], { stdin: 'from a pipe\n' })).toBe('from a pipe');
    expect(await textOf(['speak'], { stdin: 'from a pipe\n' })).toBe('from a pipe');
    expect(await textOf(['-f', '-'], { stdin: 'from a pipe\n' })).toBe('from a pipe');
    expect(await textOf(['-'], { stdin: 'from a pipe\n' })).toBe('from a pipe');
  });

  it('does not come from stdin where there are words', async () => {
    expect(await textOf(['words'], { stdin: 'a pipe' })).toBe('words');
    expect(await textOf(['words'], { stdin: 'open' })).toBe('words');
  });

  it('is all of the files, in their order, with stdin among them', async () => {
    const files = { 'a.txt': 'First.', 'b.txt': 'Third.' };
    const { run, spoken } = await speaking(['-f', 'a.txt', '-f', '-', '--file=b.txt'], {
      files,
      stdin: 'Second.',
    });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(spoken.join(' ').split(/\s+/)).toEqual(['First.', 'Second.', 'Third.']);
  });

  it('may be in UTF-16, with Windows line ends, and have characters beyond 16 bits', async () => {
    const content = Buffer.from('\ufeffhé 你\r\n👩‍👩‍👧 𝄞\r\n', 'utf16le');
    expect(await textOf(['-f', 'a.txt'], { files: { 'a.txt': content } })).toBe('hé 你\n👩‍👩‍👧 𝄞');
    expect(await textOf([], { stdin: content })).toBe('hé 你\n👩‍👩‍👧 𝄞');
  });

  it.each([
    ['Latin-1', Buffer.from('caf\xe9 ol\xe9', 'latin1'), 3],
    ['a bad byte far in', Buffer.concat([Buffer.alloc(300_000, 'word '), Buffer.from([0xff])]), 300_000],
  ])('that is not text is refused with its offset, and nothing is sent: %s', async (_, content, offset) => {
    const files = { 'a.txt': 'fine', 'odd.txt': content };
    const at = `.* offset ${offset}\\b`;
    await refused(['-f a.txt -f odd.txt', { files }], new RegExp(`odd\\.txt${at}`));
    // A long text from a pipe is spoken while it comes: what is wrong far on is found too late to send nothing.
    if (offset < 1000) await refused(['', { stdin: content }], new RegExp(`stdin${at}`));
  });

  it.each<[string, readonly string[], RunOptions]>([
    ['blank words', ['  ', '\n'], {}],
    ['an empty stdin', [], { stdin: '' }],
    ['a blank stdin', [], { stdin: ' \n\t\r\n\u00a0' }],
    ['a mark alone', ['-f', '-'], { stdin: '\ufeff\n' }],
  ])('that is blank is nothing to say: %s', async (_, args, options) => {
    await refused([args, options], /nothing to say/);
  });

  it('cannot be words and -f together, whatever their order', async () => {
    const options = { files: { 'a.txt': 'hi' } };
    await refused([['word', '-f', 'a.txt'], options], /twice/);
    await refused([['-f', 'a.txt', 'word'], options], /twice/);
    await refused([['-f', '-', '-f', '-'], { stdin: 'x' }], /twice/);
  });

  it.each([
    ['{\\rtf1 hi}', 'an RTF document', 'pandoc'],
    ['PK\x03\x04', 'a zip file', 'pandoc'],
    ['\x1f\x8b\x08', 'packed', 'gunzip'],
    ['RIFF\x08\0\0\0WAVE', 'sound', 'a file that holds text'],
    ['\x89PNG\r\n\x1a\n\0', 'a picture', 'tesseract'],
    [`${'Moby_Dick'.padEnd(60, '\0')}BOOKMOBI\0`, 'a book for Kindle', 'ebook-convert'],
    ['<?xml version="1.0"?>\n<speak>Hello</speak>', 'SSML', 'sed .*; --marks reads \\[pause:1s\\]'],
  ])('is not made of what only holds one: %j', async (begin, what, hint) => {
    await refused(
      ['-f -', { stdin: Buffer.from(begin, 'latin1') }],
      new RegExp(`it is ${what}.*\nhint: .*${hint}`),
    );
  });

  it('is cut between paragraphs, however short it is, where a pause between them is set', async () => {
    const stdin = 'One. And one.\n\nTwo.\n\nThree.\n';
    const file = await speaking(['-o', 'out.wav'], { stdin });
    expect(file.spoken).toEqual(['One. And one.\n\nTwo.\n\nThree.']);
    const lengths = [];
    for (const pause of ['0', '1']) {
      const { run, spoken } = await speaking(['--paragraph-pause', pause, '--concurrency', '1'], { stdin });
      expect(spoken.slice(-2)).toEqual(['Two.', 'Three.']);
      lengths.push(run.stdout.length);
    }
    const [shorter = 0, longer = 0] = lengths;
    const { sampleRate, channels, bitsPerSample } = speechFormat;
    // Two pauses of one second.
    expect(longer - shorter).toBe((2 * sampleRate * channels * bitsPerSample) / 8);
  });

  it('has a silence at its headings and scenes, which are not sent, and another silence asks for nothing again', async () => {
    const box = new Sandbox();
    box.file('book.md', '# One\n\nIt began.\n\n---\n\nIt ended.\n');
    box.file('book.txt', 'It began.\n\n* * *\n\nIt ended.\n');
    const server = await serveText();
    const speak = async (...args: string[]) => {
      const { status, stdout } = await box.run(args, { env: named(server.url, { TTS_CACHE: '1' }) });
      expect(status).toBe(0);
      return silencesOf(stdout.subarray(44));
    };
    expect(await speak('-f', 'book.md')).toEqual([0.8, 1.2]);
    expect(server.texts.toSorted()).toEqual(['It began.', 'It ended.', 'One.']);
    expect(await speak('-f', 'book.md', '--pauses', 'heading=2,scene=0')).toEqual([2]);
    expect(await speak('-f', 'book.txt')).toEqual([1.2]);
    expect(server.texts).toHaveLength(3);
  });

  it('loses escape sequences and control characters before it is sent or shown', async () => {
    const stdin = '\x1b[31mError:\x1b[0m no\x07 route';
    expect(await textOf([], { stdin })).toBe('Error: no route');
    expect(await textOf(['\x1b[1mHi\x1b[0m'])).toBe('Hi');
    const { run } = await speaking(['--show-text'], { stdin });
    expect(run.stdout.toString()).toBe('Error: no route\n');
  });

  it('that cannot be read is refused, with its name', async () => {
    await refused([['hi', '--format', 'pdf']], /--format pdf is for files, not for words\nhint: name a file/);
    await refused([['hi', '--format', 'subtitles']], /tts: the text has no cues/);
    await refused(
      [['-f', 'missing.txt']],
      /missing\.txt: there is no such file\nhint: check the name of the file/,
    );
    await refused(
      [['-f', 'https://tts.example.com/a']],
      /there is no such file\nhint: .* curl -s URL \| tts\n/,
    );
    await refused([['-f', '.']], /cannot read \.: it is a folder\nhint: name a file in it/);
  });

  it('is not what lies in a folder', async () => {
    for (const line of ['tts -q < .', 'tts -q -f - < .', 'tts login https://tts.example.com < .'])
      expectFailure(await new Sandbox().shell(line), 2, /stdin is a folder\nhint: redirect a file/);
    expect(await new Sandbox().shell('tts hi -q > out.wav < .')).toMatchObject({ status: 0, stderr: '' });
  });
});

describe('the command line', () => {
  it('speaks what stands after --', async () => {
    expect(await textOf(['--', '--help', '-s', 'serve'])).toBe('--help -s serve');
    expect(await textOf(['one', '--', '-x'])).toBe('one -x');
    expect(await textOf(['--', '--json'])).toBe('--json');
  });

  it.each([
    ['hi --voice 2', /choose a voice with -s/],
    ['hi --rate=2', /--speed 1\.5 is how fast it is heard/],
    ['hi --text 2', /the text needs no option: tts "Hello"/],
    ['hi --lang de', /-s de/],
    ['hi --model x', /--engine FOLDER/],
    ['hi --list 2', /tts speakers lists the voices that can speak here/],
    ['hi -r 1.5', /--sample-rate must be .* and is 1\.5\nhint: --speed 1\.5 is how fast/],
    ['hi -i a.md', /--instructions: a\.md is a file\nhint: -f a\.md speaks what is in it/],
    ['hi --format mp3', /hint: --format says how the text is written;.*-o x\.mp3/],
  ])(
    'helps with what other tools call differently, or is meant for another option: %s',
    async (args, hint) => {
      await refused([args, { files: { 'a.md': 'Hi.' } }], hint);
    },
  );

  it.each([
    ['story.md', '# One\n\nIt began.\n', ['One.', 'It began.']],
    ['Notes.TXT', 'It ended.', ['It ended.']],
    ['page.txt', '<!doctype html><html><p>From a page.</p></html>', ['From a page.']],
    ['page.html', '<p>It went on.</p>', ['It went on.']],
  ])('reads the file that is the only word, and says so: %s', async (name, content, texts) => {
    const options = { files: { [name]: content } };
    const { run, spoken } = await speaking([name, '-o', 'out.wav', '--concurrency', '1'], options);
    expect(spoken).toEqual(texts);
    expect(run).toMatchObject({
      status: 0,
      stderr: `tts: ${name} is a file, so its text is spoken; to speak its name, put -- before it\n`,
    });
    expect((await speaking([name, '-q'], options)).run.stderr).toBe('');
    for (const words of [['speak', name], ['--', name], [`${name} is`], [name, 'too']])
      expect((await speaking(words, options)).spoken).toEqual([
        words.filter((each) => !/^(?:speak|--)$/.test(each)).join(' '),
      ]);
  });

  it('warns once of instructions that the built-in voice does not understand', async () => {
    const text = 'A sentence of some words for the voice. '.repeat(4);
    const wish = 'slowly, with a cheerful süß smile';
    const run = await new Sandbox().run(['-s', '11', '-i', wish, text, '--max-chars=60', '-o', 'a.wav']);
    expect(run.status).toBe(0);
    expect(run.stderr.match(/warning: .*/g)).toEqual([
      expect.stringMatching(/does not understand ".*cheerful süß smile"; it knows words such as slow/),
    ]);
  });

  it('speaks the name of a command after "speak"', async () => {
    expect(await textOf(['speak', 'serve'])).toBe('serve');
    expect(await textOf(['speak', 'speak'])).toBe('speak');
    expect(await textOf(['-q', '-s', '1', 'serve'])).toBe('serve');
  });

  it.each([
    ['--spekaer 3 hi', /did you mean --speaker\?/],
    ['speak hi --no-colbber', /did you mean --no-clobber\?/],
    ['hi --url=http://x', /did you mean --base-url\?/],
    ['hi --sample 8000', /did you mean --sample-rate\?/],
    ['hi --qqqqqqqq', /hint: .*--/],
    // It may be a key.
    ['hi --api-kye=s3cr3tk3y', /^tts: unknown option '--api-kye'\n(?!.*s3cr3tk3y)/],
  ])('never speaks an unknown option, and suggests the nearest: %s', async (args, hint) => {
    const run = await refused([args], /unknown option/);
    expect(run.stderr).toMatch(hint);
  });

  it.each([
    ['cache me outside -o o.wav', 'see tts cache --help'],
    ['serve the people', 'see tts serve --help'],
    ['login now', 'tts login asks for the key .*'],
    ['help me -o o.wav', 'see tts help'],
  ])('says how to speak a text that begins with the name of a command: %s', async (line, otherwise) => {
    const [command] = line.split(' ');
    const message = new RegExp(
      `\nhint: ${otherwise}; to speak the words: tts speak ${command} \\.\\.\\.$`,
      'm',
    );
    await refused([line], message);
    expect((await speaking(`speak ${line}`)).run).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    ['-s 1 config', '"config"'],
    ['-r 8000 cache clear', '"cache clear"'],
    ['-s 1 -- config', undefined],
    ['-s 1 config is text', undefined],
  ])('says that a command after an option is spoken: %s', async (args, named) => {
    const { run } = await speaking(args);
    const note = `tts: ${named} is read as text to speak: a command must come before its options\n`;
    expect(run).toMatchObject({ status: 0, stderr: named ? note : '' });
  });

  it('says with one note that a word is spoken that was meant otherwise', async () => {
    for (const word of [
      'version',
      'list voices',
      '<speak>Hello</speak>',
      'none.txt',
      'https://a.example/b.html',
    ]) {
      const { run, spoken } = await speaking([word]);
      expect(spoken).toEqual([word]);
      expect(run.stderr).toMatch(/^tts: [^\n]* spoken[^\n]*; [^\n]*\n$/);
      for (const silent of [[word, '-q'], ['--', word], [`They said ${word}`]])
        expect((await speaking(silent)).run.stderr).toBe('');
    }
    const files = { '1.md': 'hi', '2.md': 'hi', README: 'hi' };
    const names = await speaking('1.md 2.md', { files });
    expect(names.run.stderr).toBe('tts: the name 1.md is spoken; -f 1.md speaks what is in that file\n');
    expect(await speaking('README', { files })).toMatchObject({ spoken: ['README'], run: { stderr: '' } });
  });

  it.each([
    ['hi -s', /-s/],
    ['hi -r 7999', /^tts: --sample-rate must be 8000 or more, and is 7999\n$/],
    ['hi -r fast', /--sample-rate must be a number, and is "fast"/],
    ['hi --timeout 0', /--timeout/],
    ['hi --base-url example.com', /--base-url must be .*, and is "example\.com"/],
    [['hi', '-o', ''], /--output must be the name of a file, and is ""/],
    ['-f a.txt --file=', /-f: "" is not the name of a file\nhint: name the file that holds the text; "-" is/],
    ['hi --stream=maybe', /--stream/],
  ])('refuses a bad value before anything is sent, naming it: %j', async (args, message) => {
    await refused([args], message);
  });

  it.each([
    ["$'caf\\xe9' au lait -o o.wav", /^tts: the word "caf\ufffd" is not UTF-8\nhint: .*-f, or .* pipe/],
    ["hi -o $'o\\xff.wav'", /^tts: --output: the name "o\ufffd\.wav" is not UTF-8\nhint: rename/],
    [
      "--file=$'n\\xff\\x1b.txt' -o o.wav",
      /^tts: --file: the name "n\ufffd \.txt" is not UTF-8\nhint: rename/,
    ],
    ["hi --api-key $'k3y\\xe9' -o o.wav", /^tts: the value of --api-key is not UTF-8\n(?!.*k3y)/],
    ["login $'http://127.0.0.1:1/caf\\xe9'", /^tts: the word ".*" is not UTF-8\nhint: write it in UTF-8/],
  ])('refuses what is not UTF-8, and says which argument it is: tts %s', async (args, message) => {
    const { box, server, shell } = await machineWith(complete(wav));
    expectFailure(await shell(`tts ${args}`, { stdin: 'text' }), 2, message);
    expect(server.connections.made).toBe(0);
    expect(box.list()).toEqual([]);
  });

  it.runIf(existsSync('/proc/self/cmdline'))('knows one that was typed from what is no UTF-8', async () => {
    expect(await textOf(['a real \ufffd sign'])).toBe('a real \ufffd sign');
  });

  it('prints help and version on stdout, asked for anywhere', async () => {
    for (const args of ['--version', 'hi -V'])
      expect(await new Sandbox().run(args)).toMatchObject({
        status: 0,
        stdout: Buffer.from(`${manifest.version}\n`),
      });
    for (const args of ['hi -h', 'speak --help'])
      expect((await new Sandbox().run(args)).stdout.toString()).toContain('--speaker');
  });

  it('asks for a speaker where the service is not the built-in one', async () => {
    const { run, server } = await machineWith(complete(wav), { TTS_SPEAKER: '' });
    expectFailure(await run('hi'), 2, /speaker.*\nhint: .*TTS_SPEAKER/);
    expect(server.requests).toHaveLength(0);
  });
});

it('--input-timeout ends a text whose writer hangs with 5, and keeps nothing; it does not count while text comes.', async () => {
  const box = new Sandbox();
  const hung = box.start('--input-timeout 0.5 -q -o out.wav', { stdin: 'open' });
  hung.stdin.write('Hello there. And then');
  expect(await hung.ended).toMatchObject({
    status: 5,
    stderr:
      'tts: no text came from stdin for 0.5 s\nhint: check the program that writes it, or wait longer with --input-timeout\n',
  });
  expect(box.list()).toEqual([]);
  const slow = "for word in One two three four.; do printf '%s ' $word; sleep 0.3; done";
  expect(await box.shell(`(${slow}) | tts --input-timeout 1 -q -o out.wav`)).toMatchObject({ status: 0 });
});

it('Footnotes are read where they are referred to, or left out.', async () => {
  const box = new Sandbox();
  box.file('note.md', 'Text with a note[^1] in it.\n\n[^1]: The note.\n');
  const shown = async (...args: string[]) =>
    (await box.run(['--show-text', '-f', 'note.md', ...args])).stdout.toString();
  expect(await shown()).toBe('Text with a note (The note) in it.\n');
  expect(await shown('--footnotes', 'skip')).toBe('Text with a note in it.\n');
});

const FILES = {
  'a.txt': 'The first one.\n\nA second\none.\n',
  'b.txt': '\n\nThe third one.\n\nThe last one.',
  'c.md': '---\ntitle: No\n---\n\n\n# A heading\n\n\n\nIts text.\n',
  'words.txt': 'second one = other\n',
};

function folder(): Sandbox {
  const sandbox = new Sandbox();
  for (const [name, text] of Object.entries(FILES)) sandbox.file(name, text);
  return sandbox;
}

it.each([
  ['-f a.txt', 'second', 'the text is missing from line 3 on, "A second one."'],
  ['"$(cat b.txt)"', 'last', 'the text is missing from line 5 on, "The last one."'],
  ['-f b.txt -f - -f c.md < a.txt', 'second', 'the text of stdin is missing from line 3 on, "A second one."'],
  ['-f a.txt -f c.md -f b.txt', 'heading', 'the text of c.md is missing from line 6 on, "A heading."'],
  ['--format markdown < c.md', 'Its', 'the text is missing from line 10 on, "Its text."'],
  ['-f b.txt --lexicon words.txt', 'last', 'the text is missing from line 5 on, "The last one."'],
])('Text that is missing with %s is told by its place in the input: "%s".', async (args, fails, told) => {
  const server = await serveText({
    fault: (number) => (server.texts[number - 1]?.includes(fails) ? '500' : undefined),
  });
  const line = `tts --max-chars 20 --concurrency 1 -o out.wav ${args}`;
  const run = await folder().shell(line, { env: named(server.url) });
  expectFailure(run, 7, /status 500/);
  expect(run.stderr.split('\n')[0]?.split('; ').at(-1)).toBe(told);
});

it('Subtitles in JSON have the lines of the input.', async () => {
  const server = await serveText();
  const box = folder();
  const line = 'tts -o out.wav --subtitles out.json -f a.txt -f c.md -f - --lexicon words.txt < b.txt';
  expect(await box.shell(line, { env: named(server.url) })).toMatchObject({ status: 0, stderr: '' });
  const { cues } = JSON.parse(box.read('out.json').toString());
  expect(cues.map(({ file, line }: { file: string; line: number }) => `${file} ${line}`)).toEqual([
    'a.txt 1',
    'a.txt 3',
    'c.md 6',
    'c.md 10',
    '- 3',
    '- 5',
  ]);
});
