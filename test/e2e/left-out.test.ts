import { describe, expect, it } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { answer, complete } from '../support/http-bytes.ts';
import { wholePcm } from '../support/read-wav.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';
import { textOf, wavOf } from '../support/text-audio.ts';

const BOOK = ['First paragraph.', 'Second paragraph.', 'Third one.', 'The fourth.'].join('\n\n');
const ARGS = [
  '-f',
  'book.txt',
  '-o',
  'out.wav',
  '--max-chars',
  '20',
  '--retries',
  '0',
  '--paragraph-pause',
  '0',
];

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

const refused = answer(422, '{"detail":"bad words"}');
const heard = (box: Sandbox, name = 'out.wav') => textOf(wholePcm(box.read(name)));

describe('words that the built-in voice cannot read', () => {
  it.each([
    ['in one request', ['Hello привет world'], undefined],
    ['in a segment of their own', ['-f', 'book.txt', '--max-chars', '20'], undefined],
    ['in a text that is written slowly', ['-f', '-'], 'Hello there.\n\nпривет\n\nGoodbye.'],
    ['with subtitles', ['-f', 'book.txt', '--subtitles', 'out.srt'], undefined],
  ])('are left out with one warning that names a voice: %s', async (_, args, stdin) => {
    const box = new Sandbox();
    box.file('book.txt', 'Hello there.\n\nпривет\n\nGoodbye.');
    const run = await box.run([...args, '-o', 'out.wav'], { ...(stdin && { stdin }) });
    expect(run.status).toBe(0);
    expect(run.stderr.match(/warning: .*/g)).toEqual([
      'warning: the built-in English voice left out "привет"; -s ru, a voice of espeak-ng, could read it',
    ]);
  });

  it('are counted, and part of the result with --json', async () => {
    const box = new Sandbox();
    const run = await box.run(['Hello 你好 world σ and ñ', '-o', 'out.wav', '--json']);
    expect(JSON.parse(run.stdout.toString()).warnings).toEqual([
      'the built-in English voice left out "你好" and 1 more; -s zh, a voice of espeak-ng, could read it',
    ]);
  });

  it('are an error where there is nothing else', async () => {
    const box = new Sandbox();
    box.file('book.txt', 'привет\n\nмир');
    expect(await box.run(['-f', 'book.txt', '-o', 'out.wav', '--max-chars', '8'])).toMatchObject({
      status: 7,
      stderr: expect.stringContaining('there is nothing in this text that it could read'),
    });
    expect(box.list()).toEqual(['book.txt']);
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

  it('is not needed for a text without refusals, and does not help with a refused key', async () => {
    const { box, options } = await serve({});
    expect((await box.run([...ARGS, '--keep-going'], options)).status).toBe(0);
    const locked = await serve({ Second: answer(401, 'no') });
    expectFailure(await locked.box.run([...ARGS, '--keep-going'], locked.options), 3, /key/);
    expect(locked.box.list()).toEqual(['book.txt']);
  });

  it('ends as the first refusal says where all is refused', async () => {
    const { box, options } = await serve({ First: refused, Second: refused, Third: refused, The: refused });
    expect(await box.run([...ARGS, '--keep-going'], options)).toMatchObject({
      status: 7,
      stderr: expect.stringMatching(/\ntts: .*bad words.*\nhint: /),
    });
    expect(box.list()).toEqual(['book.txt']);
  });

  it('without it the run ends there', async () => {
    const { box, options } = await serve({ Second: refused });
    expectFailure(await box.run(ARGS, options), 7, /bad words/);
    expect(box.list()).toEqual(['book.txt']);
  });
});

describe('--keep-partial', () => {
  it('keeps what came before an error as a right WAV of another name', async () => {
    const { box, options } = await serve({ Third: answer(500, 'out of order') });
    const run = await box.run([...ARGS, '--keep-partial'], options);
    expectFailure(run, 7, /out of order.*\nhint: .*out\.partial\.wav has the audio before it/);
    expect(box.list()).toEqual(['book.txt', 'out.partial.wav']);
    expect(heard(box, 'out.partial.wav')).toBe('First paragraph.Second paragraph.');
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

  it('does not touch an older file of the name', async () => {
    const { box, options } = await serve({ Second: answer(500, 'out of order') });
    box.file('out.wav', 'old');
    await box.run([...ARGS, '--keep-partial'], options);
    expect(box.read('out.wav').toString()).toBe('old');
    expect(heard(box, 'out.partial.wav')).toBe('First paragraph.');
  });
});
