import { symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { serveText } from '../support/book.ts';
import { isThere } from '../support/programs.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';

const SOUND = { sampleRate: 8000, framesPerByte: 100 };
const TEXT = 'One & two <i>. Is it three?\n\nA second\nparagraph.\n';
/** Bytes of the three sentences, and the pause of 0.3 s between the paragraphs, in frames of 8000 Hz. */
const [FIRST, SECOND, THIRD, PAUSE] = [1400, 1200, 1900, 2400] as const;

async function speak(args: readonly string[], text = TEXT) {
  const server = await serveText(SOUND);
  const sandbox = new Sandbox();
  sandbox.file('text.txt', text);
  const run = await sandbox.run(['-f', 'text.txt', ...args], { env: named(server.url) });
  return { run, sandbox, server };
}

test('SubRip subtitles have a cue for each sentence, at the millisecond at which it is heard.', async () => {
  const { run, sandbox } = await speak(['-o', 'out.wav', '--subtitles', 'out.srt']);
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  expect(sandbox.read('out.srt').toString()).toBe(
    [
      '1\n00:00:00,000 --> 00:00:00,175\nOne & two <i>.\n',
      '2\n00:00:00,175 --> 00:00:00,325\nIs it three?\n',
      '3\n00:00:00,625 --> 00:00:00,863\nA second paragraph.\n\n',
    ].join('\n'),
  );
});

test('WebVTT subtitles keep what would be markup as text, also while the sound goes to stdout.', async () => {
  const { run, sandbox } = await speak(['--subtitles', 'out.vtt', '--stream']);
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  const lines = sandbox.read('out.vtt').toString().split('\n');
  expect(lines.slice(0, 5)).toEqual([
    'WEBVTT',
    '',
    '1',
    '00:00:00.000 --> 00:00:00.175',
    'One &amp; two &lt;i&gt;.',
  ]);
});

test('Segments of several sentences are one cue each in JSON, with the sentences placed and marked.', async () => {
  const { sandbox } = await speak(['-o', 'out.wav', '--subtitles', 'out.json', '--max-chars', '30']);
  const { sampleRate, cues } = JSON.parse(sandbox.read('out.json').toString());
  expect(sampleRate).toBe(8000);
  // The space between the two sentences was spoken as well.
  const border = FIRST + 100 + SECOND;
  expect(cues).toMatchObject([
    { startFrame: 0, endFrame: border, line: 1, estimated: true },
    { startFrame: border + PAUSE, endFrame: border + PAUSE + THIRD, line: 3, estimated: false },
  ]);
  expect(cues[0].sentences).toMatchObject([
    { start: 0, text: 'One & two <i>.', estimated: true },
    { end: border / sampleRate, text: 'Is it three?', estimated: true },
  ]);
});

test('Where the sound fails, there are no subtitles, and those of before stay.', async () => {
  const server = await serveText({ fault: (number) => (number >= 2 ? '500' : undefined) });
  const sandbox = new Sandbox();
  sandbox.file('out.srt', 'of before');
  const run = await sandbox.run(['-o', 'out.wav', '--subtitles', 'out.srt', TEXT], {
    env: named(server.url),
  });
  expectFailure(run, 7, /status 500/);
  expect(sandbox.list()).toEqual(['out.srt']);
  expect(sandbox.read('out.srt').toString()).toBe('of before');
});

test.each([
  { args: ['--subtitles', 'out.txt'], message: /out\.txt must end in \.srt, \.vtt, \.ass or \.json/ },
  { args: ['--subtitles', 'out'], message: /must end in/ },
  {
    args: ['--subtitles', 'out.srt', '--callback-url', 'http://127.0.0.1:9/'],
    message: /no subtitles with --callback-url/,
  },
  {
    args: ['--subtitles', 'out.srt', '-o', './out.srt', '--encode', 'wav'],
    message: /are the same file: out\.srt/,
  },
])('What cannot be subtitles is refused before anything is sent: $args.', async ({ args, message }) => {
  const { run, sandbox, server } = await speak(args);
  expectFailure(run, 2, message);
  expect({ requests: server.requests, files: sandbox.list() }).toEqual({ requests: 0, files: ['text.txt'] });
});

test('A device is not replaced by them.', async () => {
  const sandbox = new Sandbox();
  symlinkSync('/dev/null', sandbox.path('null.srt'));
  const run = await sandbox.run([TEXT, '-o', 'out.wav', '--subtitles', 'null.srt']);
  expectFailure(run, 2, /null\.srt is not a regular file/);
  expect(sandbox.list()).toEqual(['null.srt']);
});

test('Where the subtitles cannot get their name, the sound does not get its own either.', async () => {
  const server = await serveText(SOUND);
  const box = new Sandbox();
  const line = '(echo "One. Two."; sleep 0.7; touch out.srt)';
  const options = '-o out.wav --subtitles out.srt --no-clobber';
  const run = await box.shell(`${line} | tts ${options}`, { env: named(server.url) });
  expectFailure(run, 8, /out\.srt exists/);
  expect(box.list().sort()).toEqual(['out.srt']);
});

test('Subtitles that come later cost nothing: sound that was made without them is used.', async () => {
  const server = await serveText(SOUND);
  const box = new Sandbox();
  const env = named(server.url, { TTS_CACHE: '1' });
  const paragraph = (number: number) =>
    `Paragraph ${number} has a sentence. It has one more, and it is longer. `.repeat(3);
  box.file('text.txt', [1, 2, 3, 4, 5, 6, 7].map(paragraph).join('\n\n'));
  box.file('short.txt', TEXT);
  for (const file of ['text.txt', 'short.txt']) {
    await box.run(['-f', file, '-o', 'plain.wav'], { env });
    const { requests } = server;
    const args = ['-f', file, '-o', 'out.wav', '--subtitles', 'out.json', '--json'];
    const dry = await box.run([...args, '--dry-run'], { env });
    expect(JSON.parse(dry.stdout.toString())).toMatchObject({ requests: 0, charactersToSend: 0 });
    expect(await box.run(args, { env })).toMatchObject({ status: 0 });
    expect(server.requests).toBe(requests);
    expect(box.read('out.wav')).toEqual(box.read('plain.wav'));
    const { cues } = JSON.parse(box.read('out.json').toString());
    for (const { text } of cues) expect(text.length).toBeLessThanOrEqual(84);
    expect(cues.at(-1).endFrame).toBe((box.read('out.wav').length - 44) / 2);
  }
  box.file('text.txt', [1, 2, 3, 4, 5, 6, 8].map(paragraph).join('\n\n'));
  const before = server.requests;
  await box.run('-f text.txt -o out.wav --subtitles out.srt', { env });
  // The new paragraph is cut into its sentences; two of them are different.
  expect(server.requests - before).toBe(2);
});

test('A long segment is divided into cues of two lines and 7 s, which JSON marks as estimated.', async () => {
  const text = `${'This is a very long sentence that goes on and on, '.repeat(6)}until it ends.`;
  const { sandbox } = await speak(['-o', 'out.wav', '--subtitles', 'out.json'], text);
  const { cues } = JSON.parse(sandbox.read('out.json').toString());
  expect(cues.length).toBeGreaterThan(3);
  expect(cues.map(({ text }: { text: string }) => text).join(' ')).toBe(text);
  for (const { estimated, start, end } of cues) {
    expect(estimated).toBe(true);
    expect(end - start).toBeLessThanOrEqual(7);
  }
  const again = await speak(['-o', 'out.wav', '--subtitles', 'out.srt'], text);
  for (const line of again.sandbox.read('out.srt').toString().split('\n'))
    expect(line.length).toBeLessThanOrEqual(42);
});

const WORDY = 'Hello **world**, it costs \u20ac5.\n\nThe second sentence is here.\n';

/** The words of a subtitle file in JSON, checked against their cues. */
async function wordsOf(args: readonly string[], env = {}) {
  const box = new Sandbox();
  box.file('text.md', WORDY);
  const run = await box.run(
    ['-q', '-f', 'text.md', '-o', 'out.wav', '--subtitles', 'out.json', '--words', ...args],
    { env },
  );
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  const { cues } = JSON.parse(box.read('out.json').toString());
  for (const { start, end, words, text } of cues) {
    expect(words.map((word: { text: string }) => word.text).join(' ')).toBe(text);
    for (const word of words) {
      expect(word.start).toBeGreaterThanOrEqual(start);
      expect(word.end).toBeLessThanOrEqual(end + 1e-6);
    }
  }
  return cues;
}

test('--words tells when each word is said, exactly for a built-in voice, and where it is in the input.', async () => {
  const cues = await wordsOf([]);
  const [first] = cues;
  expect(first).toMatchObject({ source: 'exact', error: 0.005 });
  const spans = first.words.map(({ from, to }: { from: number; to: number }) => WORDY.slice(from, to));
  expect(spans.map((span: string) => span.replace(/\W/g, ''))).toEqual([
    'Hello',
    'world',
    'it',
    'costs',
    '5',
  ]);
  // At half the time the words are heard at half the time.
  const [quick] = await wordsOf(['--speed', '2']);
  expect(quick.source).toBe('exact');
  for (const [at, { start }] of quick.words.entries())
    expect(start).toBeCloseTo(first.words[at].start / 2, 1);
});

test('Words of other voices are aligned to the built-in one, or share the time where that cannot read the text.', async () => {
  const [spread] = await wordsOf([], named((await serveText(SOUND)).url));
  expect(spread.source).toMatch(/aligned|spread/);
  const [none] = await wordsOfRussian({ PATH: '/nowhere' });
  expect(none).toMatchObject({ source: 'spread', words: [{ text: 'Привет,' }, { text: 'мир.' }] });
});

test.runIf(isThere('espeak-ng'))(
  'Words of other languages are aligned to espeak-ng (skipped without espeak-ng).',
  async () => {
    for (const cue of await wordsOfRussian({})) expect(cue).toMatchObject({ source: 'aligned', error: 0.03 });
  },
);

async function wordsOfRussian(env: Readonly<Record<string, string>>) {
  const box = new Sandbox();
  box.file('text.txt', 'Привет, мир. Это второе предложение.');
  const args = ['-f', 'text.txt', '-o', 'out.wav', '--subtitles', 'out.json', '--words'];
  const run = await box.run(args, { env: { ...named((await serveText(SOUND)).url), ...env } });
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(box.read('out.json').toString()).cues;
}

test.each([
  [
    'vtt',
    /^NOTE word times: exact, 5 ms off on average$/m,
    /^<00:00:00\.\d{3}>Hello <00:00:0\d\.\d{3}>world, /m,
  ],
  [
    'ass',
    /^Comment: .*word times: exact/m,
    /^Dialogue: 0,0:00:00\.00,0:00:0\d\.\d\d,Default,,0,0,0,,\{\\k\d+\}\{\\k\d+\}Hello \{\\k\d+\}world, /m,
  ],
  ['srt', /^1$/m, /^00:00:00,000 --> 00:00:0\d,\d{3}\nHello world,\n\n2\n/m],
])('--words in .%s', async (ending, note, words) => {
  const box = new Sandbox();
  box.file('text.md', WORDY);
  const name = `out.${ending}`;
  const run = await box.run(['-q', '-f', 'text.md', '-o', 'out.wav', '--subtitles', name, '--words']);
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  const text = box.read(name).toString();
  expect(text).toMatch(note);
  expect(text).toMatch(words);
});

test('--words needs the name of a subtitle file.', async () => {
  const run = await new Sandbox().run(['Hello', '-o', 'out.wav', '--words']);
  expectFailure(run, 2, /--words only works with --subtitles/);
});
