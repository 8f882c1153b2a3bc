import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { serveText } from '../support/book.ts';
import { serveBytes } from '../support/byte-server.ts';
import { complete } from '../support/http-bytes.ts';
import { expectFailure, named, type RunOptions, Sandbox } from '../support/run.ts';
import { silencesOf } from '../support/text-audio.ts';
import { plainWav, sound, speechFormat } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(200));

/** Runs in a sandbox with files; `spoken` is what the service was asked for. */
async function speaking(
  args: readonly string[],
  { files = {}, ...options }: RunOptions & { files?: Readonly<Record<string, string | Uint8Array>> } = {},
) {
  const server = await serveBytes(complete(wav));
  const box = new Sandbox();
  for (const [name, content] of Object.entries(files)) box.file(name, content);
  const run = await box.run(args, { ...options, env: named(server.url) });
  const spoken = server.requests.map(({ json }) => (json as { text: string }).text);
  return { run, spoken };
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

const utf16 = (text: string, order: 'le' | 'be') => {
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
  return order === 'le' ? bytes : bytes.swap16();
};

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

  it.each([
    ['a byte order mark', '\ufeffhello', 'hello'],
    ['UTF-16, little end first', utf16('hé 你', 'le'), 'hé 你'],
    ['UTF-16, big end first', utf16('hé 你', 'be'), 'hé 你'],
    ['CRLF', 'one\r\ntwo\r\n', 'one\ntwo'],
    ['characters beyond 16 bits', '👩‍👩‍👧 𝄞', '👩‍👩‍👧 𝄞'],
  ])('is read as what it is: %s', async (_, content, expected) => {
    const normal = (text: string | undefined) => text?.replace(/\s+/g, ' ');
    expect(normal(await textOf(['-f', 'a.txt'], { files: { 'a.txt': content } }))).toBe(normal(expected));
    expect(normal(await textOf([], { stdin: content }))).toBe(normal(expected));
  });

  it.each([
    ['Latin-1', Buffer.from('caf\xe9 ol\xe9', 'latin1'), 3],
    ['a lone continuation byte', Buffer.from([0x61, 0x80]), 1],
    ['a NUL', Buffer.from('ab\0cd'), 2],
    ['a cut character', Buffer.from('né').subarray(0, 2), 1],
    ['a bad byte far in', Buffer.concat([Buffer.alloc(300_000, 'word '), Buffer.from([0xff])]), 300_000],
  ])('that is not text is refused with its offset, and nothing is sent: %s', async (_, content, offset) => {
    const files = { 'a.txt': 'fine', 'odd.txt': content };
    const at = `.* offset ${offset}\\b`;
    await refused([['-f', 'a.txt', '-f', 'odd.txt'], { files }], new RegExp(`odd\\.txt${at}`));
    // A long text from a pipe is spoken while it comes: what is wrong far on is found too late to send nothing.
    if (offset < 1000) await refused([[], { stdin: content }], new RegExp(`stdin${at}`));
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    box.file('odd.txt', content);
    expectFailure(
      await box.shell('tts -o o.wav < odd.txt', { env: named(server.url) }),
      2,
      new RegExp(`stdin${at}`),
    );
    expect(server.requests).toEqual([]);
  });

  it('in a file on stdin is read from where others have left it', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    box.file('a.txt', Buffer.from('\xff\xd8 no text\nTwo.\n', 'latin1'));
    const env = named(server.url);
    expect(await box.shell('(read -r line; tts -o o.wav) < a.txt', { env })).toMatchObject({ status: 0 });
    expect(server.requests.map(({ json }) => json)).toMatchObject([{ text: 'Two.' }]);
  });

  it.each([
    ['no words', [''], {}],
    ['blank words', ['  ', '\n'], {}],
    ['an empty stdin', [], { stdin: '' }],
    ['a blank stdin', [], { stdin: ' \n\t\r\n\u00a0' }],
    ['an empty file', ['-f', 'a.txt'], { files: { 'a.txt': '' } }],
    ['a mark alone', ['-f', 'a.txt'], { files: { 'a.txt': '\ufeff\n' } }],
    ['no stdin', [], {}],
  ])('that is blank is nothing to say: %s', async (_, args, options) => {
    await refused([args, options], /nothing to say/);
  });

  it('cannot be words and -f together, whatever their order', async () => {
    const options = { files: { 'a.txt': 'hi' } };
    await refused([['word', '-f', 'a.txt'], options], /twice/);
    await refused([['-f', 'a.txt', 'word'], options], /twice/);
    await refused([['-f', '-', '-f', '-'], { stdin: 'x' }], /twice/);
  });

  it('of several files needs -f for each, as the hint says where a shell has found them', async () => {
    const options = { files: { '1.md': 'hi', '2.md': 'hi' } };
    await refused([['-f', '1.md', '2.md'], options], /twice.*\nhint: .* -f 1\.md -f 2\.md\n/);
  });

  it.each([
    ['%PDF-1.4\n', 'a PDF', 'pdftotext'],
    ['{\\rtf1 hi}', 'an RTF document', 'pandoc'],
    ['PK\x03\x04', 'a zip file', 'pandoc'],
    ['\x1f\x8b\x08', 'packed', 'gunzip'],
    ['RIFF\x08\0\0\0WAVE', 'sound', 'a file that holds text'],
    ['RIFF\x08\0\0\0WEBPVP8 ', 'a picture', 'tesseract'],
    ['\x89PNG\r\n\x1a\n\0', 'a picture', 'tesseract'],
    ['\xff\xd8\xff\xe0', 'a picture', 'tesseract'],
    ['GIF89a', 'a picture', 'tesseract'],
    [`${'Moby_Dick'.padEnd(60, '\0')}BOOKMOBI\0`, 'a book for Kindle', 'ebook-convert'],
    ['<speak version="1.1">Hello</speak>', 'SSML', 'sed .*; --marks reads \\[pause:1s\\]'],
    ['<?xml version="1.0"?>\n<speak>Hello</speak>', 'SSML', 'sed'],
  ])('is not made of what only holds one: %j', async (begin, what, hint) => {
    const file = Buffer.from(begin, 'latin1');
    const told = new RegExp(`it is ${what}.*\nhint: .*${hint}`);
    await refused([['-f', 'a'], { files: { a: file } }], told);
    await refused([['-f', '-'], { stdin: file }], told);
    expect((await speaking(['-f', '-'], { stdin: 'RIFFLE the pages.' })).run.status).toBe(0);
  });

  it('is not made of a page of HTML where text is asked for, and is made of other tags', async () => {
    const options = { files: { 'a.HTML': 'Hello' } };
    await refused([['-f', 'a.HTML', '--format', 'text'], options], /a\.HTML is not text: it is HTML\n/);
    expect(await textOf(['-f', '-'], { stdin: '<3 you' })).toBe('<3 you');
    expect(await textOf(['-f', 'a.md'], { files: { 'a.md': '<p align="center">Hi</p>\n' } })).toBe('Hi');
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

  it('comes to its end behind pages of invisible characters', async () => {
    const server = await serveBytes(complete(wav));
    const stdin = `Hello. ${'\u00ad'.repeat(40_000)} And more.`;
    const run = await new Sandbox().tts([], { stdin, env: named(server.url) });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(server.requests.map(({ json }) => (json as { text: string }).text)).toEqual([
      'Hello.',
      'And more.',
    ]);
  });

  it('that cannot be read is refused, with its name', async () => {
    await refused([['-f', 'missing.txt']], /missing\.txt: there is no such file/);
    await refused([['-f', '.']], /folder/);
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
    ['--voice', /choose a voice with -s/],
    ['--pitch', /-i "deeper"/],
    ['--rate', /--speed 1\.5 is how fast it is heard/],
    ['--input', /-f FILE speaks what is in a file/],
    ['--text', /the text needs no option: tts "Hello"/],
    ['--list', /tts speakers lists the voices that can speak here/],
    ['--gender', /-s slt is a woman and -s rms a man/],
  ])('helps with %s, an option of other tools', async (option, hint) => {
    for (const args of [
      ['hi', option, '2'],
      ['hi', `${option}=2`],
    ]) {
      const { run, spoken } = await speaking(args);
      expectFailure(run, 2, hint);
      expect(spoken).toEqual([]);
    }
  });

  it.each([
    [['hi', '-r', '1.5'], /--sample-rate must be .* and is 1\.5\nhint: --speed 1\.5 is how fast/],
    [['hi', '-r', '180'], /hint: --speed 1\.5 is how fast/],
    [['hi', '-i', 'a.md'], /--instructions: a\.md is a file\nhint: -f a\.md speaks what is in it/],
    [['-i', 'a.md', '-o', 'a.mp3'], /--instructions: a\.md is a file\nhint: -f a\.md speaks/],
  ])('helps with a value that is meant for another option: %j', async (args, hint) => {
    await refused([args, { files: { 'a.md': 'Hi.' } }], hint);
  });

  it('helps with a voice that is asked for by gender', async () => {
    const run = await new Sandbox().run(['hi', '-s', 'female']);
    expectFailure(run, 2, /no speaker is called "female"\nhint: -s slt is a woman and -s rms a man/);
  });

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
      stderr: `tts: ${name} is a file, so what is in it is spoken; with -- in front of it, its name\n`,
    });
    expect((await speaking([name, '-q'], options)).run.stderr).toBe('');
    for (const words of [['speak', name], ['--', name], [`${name} is`], [name, 'too']])
      expect((await speaking(words, options)).spoken).toEqual([
        words.filter((each) => !/^(?:speak|--)$/.test(each)).join(' '),
      ]);
  });

  it('speaks a word without such an ending, whatever lies in the folder', async () => {
    for (const word of ['hello', 'README', 'hello.py']) {
      const { spoken } = await speaking([word], { files: { [word]: 'not this' } });
      expect(spoken).toEqual([word]);
    }
  });

  it('helps with an output format', async () => {
    expectFailure(
      (await speaking(['hi', '--format', 'mp3'])).run,
      2,
      /hint: --format says how the text is written;.*-o x\.mp3/,
    );
  });

  it('warns once of instructions that the built-in voice does not understand', async () => {
    const text = `${'A sentence of some words for the voice. '.repeat(60)}`;
    const run = await new Sandbox().run([
      '-s',
      '11',
      '-i',
      'slowly, with a cheerful süß smile',
      text,
      '-o',
      'a.wav',
    ]);
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
    [['--spekaer', '3', 'hi'], '--speaker'],
    [['hi', '--strem'], '--stream'],
    [['hi', '--base-ulr=http://x'], '--base-url'],
    [['hi', '--outptu', 'x'], '--output'],
    [['speak', 'hi', '--no-colbber'], '--no-clobber'],
    [['hi', '--no-strem'], '--no-stream'],
    [['hi', '--out', 'x'], '--output'],
    [['hi', '--sample', '8000'], '--sample-rate'],
    [['hi', '--url=http://x'], '--base-url'],
    [['hi', '--key', 'x'], '--api-key'],
    [['hi', '--con', '3'], '--config'],
  ])('never speaks an unknown option, and suggests the nearest: %j', async (args, nearest) => {
    const run = await refused([args], /unknown option/);
    expect(run.stderr).toContain(`did you mean ${nearest}?`);
  });

  it.each([[['-x', 'hi']], [['hi', '--qqqqqqqq']]])(
    'never speaks an unknown option that is near to none, and says how to: %j',
    async (args) => {
      const run = await refused([args], /unknown option/);
      expect(run.stderr).toMatch(/hint: .*--/);
    },
  );

  it.each([
    ['cache me outside -o o.wav', 'see tts cache --help'],
    ['cache me outside', 'there is tts cache, and tts cache clear'],
    ['serve the people', 'see tts serve --help'],
    ['serve the people -o o.wav', 'see tts serve --help'],
    ['login -r 8000 now', 'see tts login --help'],
    ['login now', 'tts login asks for the key .*'],
    ['doctor who', 'see tts doctor --help'],
    ['manual labour -o o.wav', 'see tts manual --help'],
    ['completion now', 'there are: bash.*'],
    ['help me -o o.wav', 'see tts help'],
  ])('says how to speak a text that begins with the name of a command: %s', async (line, otherwise) => {
    const words = line.split(' ');
    await refused(
      [words],
      new RegExp(`\nhint: ${otherwise}; to speak the words: tts speak ${words[0]} \\.\\.\\.$`, 'm'),
    );
    expect((await speaking(['speak', ...words])).run).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    [['-s', '1', 'config'], '"config"'],
    [['-r', '8000', 'cache', 'clear'], '"cache clear"'],
    [['-q', 'config'], undefined],
    [['-s', '1', '--', 'config'], undefined],
    [['speak', 'config'], undefined],
    [['-s', '1', 'config', 'is', 'text'], undefined],
  ])('says that a command after an option is spoken: %j', async (args, named) => {
    const { run } = await speaking(args);
    const note = named
      ? `tts: ${named} is read as text to speak: a command must come before its options\n`
      : '';
    expect(run).toMatchObject({ status: 0, stderr: note });
  });

  it.each([...['version', 'list voices', 'install voice', 'voice list', '<speak>Hello</speak>']])(
    'says with one note that a word is spoken that was meant otherwise: %s',
    async (word) => {
      const { run, spoken } = await speaking([word]);
      expect(spoken).toEqual([word]);
      expect(run.stderr).toMatch(/^tts: [^\n]* spoken[^\n]*; [^\n]*\n$/);
      for (const silent of [[word, '-q'], ['--', word], ['speak', word], [`They said ${word}`]])
        expect((await speaking(silent)).run.stderr).toBe('');
    },
  );

  it.each(['hello', 'example.com', 'Node.js', 'v1.2', 'etc.', 'U.S.A'])(
    'is silent about an ordinary word: %s',
    async (word) => {
      expect((await speaking([word])).run.stderr).toBe('');
    },
  );

  it.each([
    [['1.md', '2.md'], true],
    [['1.md', 'word'], false],
    [['--', '1.md'], false],
  ])('says that the names of files are spoken: %j', async (args, isSaid) => {
    const { run } = await speaking(args, { files: { '1.md': 'hi', '2.md': 'hi' } });
    const note = 'tts: the name 1.md is spoken; -f 1.md speaks what is in that file\n';
    expect(run).toMatchObject({ status: 0, stderr: isSaid ? note : '' });
  });

  it('does not show what was meant for an option that is mistyped: it may be a key', async () => {
    const run = await refused([['hi', '--api-kye=s3cr3tk3y']], /unknown option '--api-kye'/);
    expect(run.stderr).not.toContain('s3cr3tk3y');
  });

  it.each([
    [['hi', '-s'], /-s/],
    [['hi', '-o'], /-o/],
    [['hi', '-r', '7999'], /^tts: --sample-rate must be 8000 or more, and is 7999\n$/],
    [['hi', '-r', '48001'], /--sample-rate/],
    [['hi', '-r', 'fast'], /--sample-rate must be a number, and is "fast"/],
    [['hi', '--timeout', '0'], /--timeout/],
    [['hi', '--timeout', '-1'], /--timeout/],
    [['hi', '--timeout', '1e3'], /--timeout/],
    [['hi', '--retries', '1.5'], /--retries/],
    [['hi', '--retries', 'many'], /--retries/],
    [['hi', '-s', '-1.5'], /--speaker/],
    [['hi', '-s', '1.5'], /--speaker/],
    [['hi', '-i', ' '], /--instructions/],
    [['hi', '--base-url', 'example.com'], /--base-url must be .*, and is "example\.com"/],
    [['hi', '-o', ''], /--output must be the name of a file, and is ""/],
    [['-f', ''], /-f: "" is not the name of a file\nhint: name the file that holds the text; "-" is stdin/],
    [['-f', 'a.txt', '--file='], /-f: "" is not the name/],
    [['hi', '--subtitles='], /--subtitles must be the name of a file, and is ""/],
    [['hi', '--stream=maybe'], /--stream/],
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
    ["-f - -f $'n\\xff' -o o.wav", /^tts: --file: the name "n\ufffd" is not UTF-8/],
    ["hi -i $'ol\\xe9' -o o.wav", /^tts: the value of --instructions is not UTF-8\nhint: write it in UTF-8/],
    ["hi --api-key $'k3y\\xe9' -o o.wav", /^tts: the value of --api-key is not UTF-8\n(?!.*k3y)/],
    ["serve --ready-file $'r\\xff'", /^tts: --ready-file: the name "r\ufffd" is not UTF-8\n/],
    ["help $'\\xff'", /^tts: the word "\ufffd" is not UTF-8\nhint: write it in UTF-8/],
    ["help config $'\\xff'", /^tts: the word "\ufffd" is not UTF-8\nhint: write it in UTF-8/],
    ["login $'http://127.0.0.1:1/caf\\xe9'", /^tts: the word ".*" is not UTF-8\nhint: write it in UTF-8/],
  ])('refuses what is not UTF-8, and says which argument it is: tts %s', async (args, message) => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    expectFailure(await box.shell(`tts ${args}`, { env: named(server.url), stdin: 'text' }), 2, message);
    expect(server.connections.made).toBe(0);
    expect(box.list()).toEqual([]);
  });

  it('still speaks a U+FFFD that is part of the text', async () => {
    expect(await textOf([], { stdin: 'what is \ufffd?' })).toBe('what is \ufffd?');
    expect(await textOf(['-f', 'a.txt'], { files: { 'a.txt': '\ufffd' } })).toBe('\ufffd');
  });

  it.runIf(existsSync('/proc/self/cmdline'))('knows one that was typed from what is no UTF-8', async () => {
    expect(await textOf(['a real \ufffd sign'])).toBe('a real \ufffd sign');
  });

  it('prints help and version on stdout, asked for anywhere', async () => {
    const box = new Sandbox();
    const { version } = JSON.parse(
      `${await import('node:fs').then(({ readFileSync }) => readFileSync('package.json'))}`,
    );
    for (const args of [['--version'], ['-V'], ['hi', '--version'], ['speak', '-V']])
      expect(await box.run(args)).toMatchObject({
        status: 0,
        stderr: '',
        stdout: Buffer.from(`${version}\n`),
      });
    for (const args of [['--help'], ['-h'], ['hi', '-h'], ['speak', '--help']]) {
      const run = await box.run(args);
      expect(run).toMatchObject({ status: 0, stderr: '' });
      expect(run.stdout.toString()).toContain('--speaker');
    }
  });

  it('has a help that fits one screen, examples first', async () => {
    const lines = (await new Sandbox().run(['--help'])).stdout.toString().trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(lines.findIndex((line) => line.includes('tts "'))).toBeLessThan(
      lines.findIndex((line) => line.includes('--speaker')),
    );
  });

  it('asks for a speaker where the service is not the built-in one', async () => {
    const server = await serveBytes(complete(wav));
    const run = await new Sandbox().run(['hi'], {
      env: { TTS_BASE_URL: server.url, TTS_API_KEY: 'some-key' },
    });
    expectFailure(run, 2, /speaker/);
    expect(run.stderr).toMatch(/hint: .*TTS_SPEAKER/);
    expect(server.requests).toHaveLength(0);
  });
});

describe('a file that is missing', () => {
  it('is told of before a text in front of it is sent', async () => {
    const server = await serveBytes(complete(wav));
    const text = "yes 'Hello there.' | head -2000";
    const run = await new Sandbox().shell(`${text} | tts -o out.wav -f - -f missing.txt`, {
      env: named(server.url),
    });
    expectFailure(run, 2, /missing\.txt: there is no such file/);
    expect(server.requests).toHaveLength(0);
  });
});

describe('--input-timeout', () => {
  it('ends a text whose writer hangs, and keeps nothing that looks whole', async () => {
    const box = new Sandbox();
    const line = "(printf 'Hello there. And then'; sleep 20) | tts --input-timeout 0.5 -q -o out.wav";
    const run = await box.shell(`set -o pipefail; timeout 10 sh -c ${JSON.stringify(line)} & wait $!; true`);
    expect(run.stderr).toBe(
      'tts: no text came from stdin for 0.5 s\nhint: check the program that writes it, or wait longer with --input-timeout\n',
    );
    expect(box.list()).toEqual([]);
  });

  it('has status 5, and does not count while text comes', async () => {
    const box = new Sandbox();
    const hung = box.start(['--input-timeout', '0.5', '-q', '-o', 'out.wav'], { stdin: 'open' });
    expect(await hung.ended).toMatchObject({ status: 5 });
    const slow = "for word in One two three four.; do printf '%s ' $word; sleep 0.4; done";
    expect(await box.shell(`(${slow}) | tts --input-timeout 1.5 -q -o out.wav`)).toMatchObject({ status: 0 });
  });
});

it('Footnotes are read where they are referred to, or left out.', async () => {
  const box = new Sandbox();
  box.file('note.md', 'Text with a note[^1] in it.\n\n[^1]: The note.\n');
  const shown = async (...args: string[]) =>
    (await box.run(['--show-text', '-f', 'note.md', ...args])).stdout.toString();
  expect(await shown()).toBe('Text with a note (The note) in it.\n');
  expect(await shown('--footnotes', 'skip')).toBe('Text with a note in it.\n');
});
