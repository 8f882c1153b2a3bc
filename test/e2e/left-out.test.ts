import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { epubOf } from '../support/epub.ts';
import { fakeEspeak } from '../support/fake-espeak.ts';
import { answer, complete } from '../support/http-bytes.ts';
import { wholePcm } from '../support/read-wav.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';
import { textOf, wavOf } from '../support/text-audio.ts';

const BOOK = ['First paragraph.', 'Second paragraph.', 'Third one.', 'The fourth.'].join('\n\n');
const ARGS = '-f book.txt -o out.wav --max-chars 20 --retries 0 --paragraph-pause 0'.split(' ');

/** Speaks each text as its bytes, except where a script takes its place. */
async function serve(scripts: Readonly<Record<string, Script>>) {
  const server = await serveBytes((wire, request, number) => {
    const { text } = request.json as { text: string };
    const script = scripts[text.split(' ')[0] as string] ?? complete(wavOf(text));
    return script(wire, request, number);
  });
  const box = new Sandbox();
  box.file('book.txt', BOOK);
  return { server, box, options: { env: named(server.url, { TTS_CONCURRENCY: '1' }) } };
}

/** A machine without espeak-ng. */
const NO_ESPEAK = { PATH: '/nowhere' };

const refused = answer(422, '{"detail":"bad words"}');
const heard = (box: Sandbox, name = 'out.wav') => textOf(wholePcm(box.read(name)));

describe('words that the built-in voice cannot read', () => {
  it.each([
    ['of words', ['Hello привет world']],
    ['of a text with subtitles', ['-f', 'book.txt', '--subtitles', 'out.srt']],
  ])('are left out with one warning that names a voice: %s', async (_, args) => {
    const box = new Sandbox();
    box.file('book.txt', 'Hello there. My привет\n\nGoodbye.');
    const run = await box.run([...args, '-o', 'out.wav'], { env: NO_ESPEAK });
    expect(run.status).toBe(0);
    expect(run.stderr.match(/warning: .*/g)).toEqual([
      'warning: the built-in English voice left out "привет"; tts voices install denis (63 MB, CC0 data)',
    ]);
  });

  it.each([
    ['of a file with subtitles', '-f book.txt --max-chars 20 --subtitles out.srt', undefined],
    ['of a text that is written slowly', '-f - --max-chars 20', 'Hello there.\n\nпривет\n\nGoodbye.'],
  ])('make the run partial where a segment has nothing else, and are listed: %s', async (_, args, stdin) => {
    const box = new Sandbox();
    box.file('book.txt', 'Hello there.\n\nпривет\n\nGoodbye.');
    const run = await box.run(`${args} -o out.wav --json`, {
      env: NO_ESPEAK,
      ...(stdin && { stdin }),
    });
    expect(run.status).toBe(9);
    expect(JSON.parse(run.stdout.toString()).warnings).toEqual([
      expect.stringMatching(/^"привет"( of line 3)? is left out: the built-in English voice cannot read it$/),
    ]);
    expect(JSON.parse(run.stderr.trim().split('\n').at(-1) ?? '').error).toMatchObject({
      message: '1 segment is left out: the built-in English voice cannot read it',
      hint: 'tts voices install denis (63 MB, CC0 data)',
    });
    expect(box.list()).toContain('out.wav');
  });

  it('are told for each row of a batch, which fails where it has next to nothing else', async () => {
    const box = new Sandbox();
    const rows = [
      'a,Hello there.',
      'b,My привет to you.',
      'c,Hi приветприветприветпривет',
      'd,So мир it is.',
    ];
    box.file('rows.csv', ['id,text', ...rows].join('\n'));
    const run = await box.run('batch rows.csv', { env: NO_ESPEAK });
    expect(run.status).toBe(9);
    expect(run.stderr.match(/(?<=warning: rows).*(?=;)/g)?.sort()).toEqual([
      '.csv, line 3 (b): the built-in English voice left out "привет"',
      '.csv, line 5 (d): the built-in English voice left out "мир"',
    ]);
    expect(run.stderr).toMatch(/rows\.csv, line 4 \(c\): .* can read next to nothing of this text/);
    expect(box.list().filter((name) => name.endsWith('.wav'))).toEqual(['a.wav', 'b.wav', 'd.wav']);
  });

  it('are an error where there is nothing else', async () => {
    const box = new Sandbox();
    box.file('book.txt', 'привет\n\nмир');
    expect(await box.run('-f book.txt -o out.wav --max-chars 8')).toMatchObject({
      status: 7,
      stderr: expect.stringContaining(
        'can read next to nothing of this text, which is in Russian\nhint: tts voices install denis (',
      ),
    });
    expect(box.list()).toEqual(['book.txt']);
  });

  it('are an error before anything is spoken where they are nearly all', async () => {
    const out = 'out.mp3';
    const box = new Sandbox();
    const text = `${'吾輩は猫である。名前はまだ無い。'.repeat(200)} The End.`;
    const metadata = '<dc:language>ja</dc:language>';
    box.file('book.epub', epubOf({ metadata, documents: { 'a.xhtml': `<p>${text}</p>` } }));
    for (const args of [
      ['-f', 'book.epub', '-o', out],
      ['-f', 'book.epub', '-o', out, '--dry-run'],
    ]) {
      const run = await box.run(args);
      expectFailure(
        run,
        7,
        /^tts: the built-in voice speaks English only, .* which is in Japanese\nhint: tts voices install supertonic \(145 MB, [^\n]*\n$/,
      );
    }
    expect(box.list()).toEqual(['book.epub']);
  });
});

describe('a text in another language than its voice', () => {
  const GERMAN =
    'Der Hund und die Katze sind nicht im Haus, aber ich war mit dem Kind auf der Straße und habe sie gesehen.';

  it('is told once, with a voice that speaks it', async () => {
    const box = new Sandbox();
    box.file('brief.txt', GERMAN);
    const run = await box.run('-f brief.txt -o out.wav', { env: NO_ESPEAK });
    expect(run.status).toBe(0);
    expect(run.stderr.match(/warning: .*/g)).toEqual([
      'warning: the text is in German, and the voice speaks English: tts voices install thorsten (63 MB, CC0 data)',
    ]);
    const env = { PATH: `${box.path('bin')}:/usr/bin:/bin` };
    mkdirSync(box.path('bin'));
    const program = fakeEspeak(box.path('bin'), 'exit 1');
    writeFileSync(program, readFileSync(program, 'utf8').replace('yy   ', 'de   '));
    const robot = await box.run('-f brief.txt -o out.wav', { env });
    expect(robot.stderr).toContain('CC0 data); until then, -s de takes espeak-ng\n');
  });

  it('is not told of a text in the language of the voice, or without one', async () => {
    const box = new Sandbox();
    for (const text of [
      'The dog and the cat are not in the house, but I was there with his child.',
      '1 2 3',
      'Grüß Gott',
    ]) {
      const run = await box.run([text, '-o', 'out.wav']);
      expect(run.stderr).not.toContain('warning');
    }
  });
});

describe('a segment without words', () => {
  it('is skipped in silence where the voice refuses it', async () => {
    const { server, box, options } = await serve({ '...': refused });
    const texts = ['First.', '...', 'Last.'];
    const stdin = texts.map((text) => `${JSON.stringify({ text, end: true })}\n`).join('');
    const run = await box.run('--input jsonl --assistant --player cat --retries 0', { ...options, stdin });
    expect([run.status, run.stderr]).toEqual([0, '']);
    expect(server.requests.map(({ json }) => (json as { text: string }).text)).toEqual(texts);
  });

  it.each([
    ['...', 2, 'tts: nothing to say: the text has no words that are spoken\nhint: '],
    ['batch p.csv', 9, 'line 2 (a): the text of the row has no words'],
  ])('is nothing to say where it is alone: %s', async (args, status, message) => {
    const box = new Sandbox();
    box.file('p.csv', 'id,text\na,...\n');
    const run = await box.run(`${args} -o x.wav -q`);
    expect([run.status, run.stderr]).toEqual([status, expect.stringContaining(message)]);
  });
});

describe('--keep-going', () => {
  it('leaves out what a service refuses, warns, and ends with 9', async () => {
    const { box, options } = await serve({ Second: refused });
    const run = await box.run([...ARGS, '--keep-going'], options);
    expect(run.status).toBe(9);
    expect(run.stderr).toMatch(
      /\ntts: 1 segment is left out: the service refused it\nhint: the audio has all the others; /,
    );
    expect(run.stderr).toMatch(/warning: "Second paragraph\." of line 3 is left out: .*bad words/);
    expect(heard(box)).toBe('First paragraph.Third one.The fourth.');
  });

  it('ends as the first refusal says where all is refused', async () => {
    const { box, options } = await serve({ First: refused, Second: refused, Third: refused, The: refused });
    expect(await box.run([...ARGS, '--keep-going'], options)).toMatchObject({
      status: 7,
      stderr: expect.stringMatching(/\ntts: .*bad words.*\nhint: /),
    });
    expect(box.list()).toEqual(['book.txt']);
  });

  it('makes the other chapters of a book, one of which is refused whole', async () => {
    const { server, box, options } = await serve({ Second: refused });
    box.file('book.md', '# One\n\nFirst one.\n\n# Two\n\nSecond one.\n\n# Three\n\nThird one.\n');
    const args = '-f book.md --split chapters --no-titles -o {n}.wav --retries 0 --keep-going --json';
    for (const states of [
      ['made', 'failed', 'made'],
      ['unchanged', 'failed', 'unchanged'],
    ]) {
      const run = await box.run(args, options);
      expect(run).toMatchObject({ status: 9, stderr: expect.stringContaining('bad words') });
      const { chapters } = JSON.parse(run.stdout.toString()) as { chapters: { state: string }[] };
      expect(chapters.map(({ state }) => state)).toEqual(states);
    }
    expect(box.list().filter((name) => name.endsWith('.wav'))).toEqual(['1.wav', '3.wav']);
    expect(server.requests).toHaveLength(4);
    const { stderr } = await box.run(args.replace(' --json', ''), options);
    expect(stderr).toContain('3 chapters: 0 made, 2 unchanged, 1 failed');
  });
});

describe('--keep-partial', () => {
  it('keeps what came before an error as a right WAV of another name', async () => {
    const { box, options } = await serve({ Third: answer(500, 'out of order') });
    const run = await box.run([...ARGS, '--keep-partial'], options);
    expectFailure(run, 7, /out of order.*\nhint: .*out\.partial\.wav has the audio before it/);
    expect(box.list()).toEqual(['book.txt', 'out.partial.wav']);
    expect(heard(box, 'out.partial.wav')).toBe('First paragraph.Second paragraph.');
    const again = await box.run([...ARGS, '--keep-partial', '--no-clobber'], options);
    expectFailure(again, 7, /out of order.*\nhint: (?!.*partial)/);
  });

  it('keeps what came before Ctrl-C', async () => {
    const { box, options } = await serve({ Third: () => {} });
    const run = box.start([...ARGS, '--keep-partial'], options);
    await expect.poll(() => box.list().some((name) => name.endsWith('.part'))).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await run.endBy('SIGINT')).ended.status).toBe(130);
    expect(heard(box, 'out.partial.wav')).toBe('First paragraph.Second paragraph.');
  });

  it('leaves nothing where there was no sound, and makes the whole file where all is well', async () => {
    const bad = await serve({ First: answer(500, 'out of order') });
    expectFailure(await bad.box.run([...ARGS, '--keep-partial'], bad.options), 7, /out of order/);
    expect(bad.box.list()).toEqual(['book.txt']);
    const good = await serve({});
    expect((await good.box.run([...ARGS, '--keep-partial'], good.options)).status).toBe(0);
    expect(good.box.list()).toEqual(['book.txt', 'out.wav']);
  });
});
