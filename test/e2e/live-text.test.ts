import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { expectSpoken, serveText } from '../support/book.ts';
import { isThere } from '../support/programs.ts';
import { page } from '../support/readme.ts';
import { named, Sandbox } from '../support/run.ts';
import { soundOf, textOf } from '../support/text-audio.ts';

/** Requests come one after the other, so their texts stand in order. */
const inTurn = (url: string) => named(url, { TTS_CONCURRENCY: '1' });

const SOUND = { sampleRate: 8000, framesPerByte: 100 };

test('The first sentence is asked for while the text is still being written.', async () => {
  const server = await serveText();
  const run = new Sandbox().start('--stream', { env: inTurn(server.url), stdin: 'open' });
  run.stdin.write('Hello there. How are');
  await vi.waitFor(() => expect(server.texts).toEqual(['Hello there.']), 60_000);
  run.stdin.end(' you?');
  const { status, stdout } = await run.ended;
  expect({ status, texts: server.texts }).toEqual({ status: 0, texts: ['Hello there.', 'How are you?'] });
  expect(textOf(stdout.subarray(44))).toBe('Hello there.How are you?');
});

test('A sentence is not asked for before its end, however long that takes.', async () => {
  const server = await serveText();
  const run = new Sandbox().start('--stream', { env: inTurn(server.url), stdin: 'open' });
  run.stdin.write('This one has no\n');
  await sleep(800);
  expect(server.texts).toEqual([]);
  run.stdin.write('end. ');
  await vi.waitFor(() => expect(server.texts).toEqual(['This one has no end.']), 60_000);
  run.stdin.end();
  expect((await run.ended).status).toBe(0);
});

test.skipIf(!isThere('sed'))(
  'A log is asked for line by line as docs/texts.md has it, with full stops from sed (skipped without sed).',
  async () => {
    const filter = "sed -u 's/$/./'";
    expect(page('docs/texts.md')).toContain(`tail -f log | ${filter} | tts --stream`);
    const server = await serveText();
    const box = new Sandbox();
    const log = '(echo door one opened; until [ -e done ]; do sleep 0.1; done; echo door two opened)';
    const run = box.shell(`${log} | ${filter} | tts --stream`, { env: inTurn(server.url) });
    await vi.waitFor(() => expect(server.texts).toEqual(['door one opened.']), 60_000);
    box.file('done', '');
    expect((await run).status).toBe(0);
    expect(server.texts).toEqual(['door one opened.', 'door two opened.']);
  },
);

test('Markdown that is still being written is asked for block by block.', async () => {
  const server = await serveText();
  const args = ['--stream', '--format', 'markdown'];
  const run = new Sandbox().start(args, { env: inTurn(server.url), stdin: 'open' });
  run.stdin.write('# A *heading*\n\nHello **there**, see [this](u)');
  await vi.waitFor(() => expect(server.texts).toEqual(['A heading.']), 60_000);
  run.stdin.write(' page\n\n- one\n');
  await vi.waitFor(() => expect(server.texts.at(-1)).toBe('Hello there, see this page'), 60_000);
  run.stdin.write('- two\n\n```js\nlet x;\n');
  await vi.waitFor(() => expect(server.texts.at(-1)).toBe('one.\ntwo.'), 60_000);
  run.stdin.end();
  const { status, stdout } = await run.ended;
  expect(status).toBe(0);
  expectSpoken(
    textOf(stdout.subarray(44)),
    'A heading. Hello there, see this page one. two. Code in js omitted.',
  );
});

test('While a writer of Markdown hangs, what is complete is asked for: a sentence, the items of a list.', async () => {
  const server = await serveText();
  const args = ['--stream', '--format', 'markdown'];
  const run = new Sandbox().start(args, { env: inTurn(server.url), stdin: 'open' });
  run.stdin.write('Let me **look**. I have');
  await vi.waitFor(() => expect(server.texts).toEqual(['Let me look.']), 60_000);
  run.stdin.write(' found *two*.');
  await vi.waitFor(() => expect(server.texts.at(-1)).toBe('I have found two.'), 60_000);
  run.stdin.write('\n\n1. one\n2. two\n');
  await vi.waitFor(() => expect(server.texts.slice(2)).toEqual(['1. one.', '2. two.']), 60_000);
  run.stdin.write('   - deeper\n3. three\n');
  run.stdin.end();
  const { status } = await run.ended;
  expect(status).toBe(0);
  expect(server.texts.slice(4).join(' ')).toMatch(/^deeper\.\s3\. three\.$/);
});

test('Letter by letter, torn characters included, gives the same speech as in one piece.', async () => {
  const text = 'Grüße! 你好。नमस्ते। A family 👩‍👩‍👧‍👦 waves.\n\nThe end — really.';
  const server = await serveText();
  const run = new Sandbox().start('--stream', { env: inTurn(server.url), stdin: 'open' });
  for (const byte of Buffer.from(text)) {
    run.stdin.write(Buffer.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
  run.stdin.end();
  const { status, stdout } = await run.ended;
  expect(status).toBe(0);
  expectSpoken(textOf(stdout.subarray(44)), text);
});

test('Between paragraphs, and only there, is as much silence as was asked for, to the frame.', async () => {
  const server = await serveText(SOUND);
  const args = [
    '--concurrency',
    '1',
    '--max-chars',
    '12',
    '--paragraph-pause',
    '0.1234',
    'One. Two. Three.\nFour.\n\nFive.\n\nSix.',
  ];
  const { stdout } = await new Sandbox().run(args, { env: inTurn(server.url) });
  const silence = Buffer.alloc(Math.round(8000 * 0.1234) * 2);
  expect(server.texts).toEqual(['One.', 'Two. Three.', 'Four.', 'Five.', 'Six.']);
  const sound = server.texts.map((text) => soundOf(text, 100));
  const [one, two, four, five, six] = sound as [Buffer, Buffer, Buffer, Buffer, Buffer];
  expect(stdout.subarray(44).equals(Buffer.concat([one, two, four, silence, five, silence, six]))).toBe(true);
});

test('A model that stalls in numbers, names, quotes and lists is heard in whole sentences.', async () => {
  const server = await serveText();
  const run = new Sandbox().start('--stream', { env: inTurn(server.url), stdin: 'open' });
  const pieces = [
    'Pi is 3.',
    '14159 or so. ',
    'Use Node.',
    'js for it. ',
    'She said: “It is over.',
    ' Go home.” ',
    'Do 1. Wash. 2.',
    ' Rinse. ',
    'Then',
  ];
  for (const piece of pieces) {
    run.stdin.write(piece);
    await sleep(800);
  }
  run.stdin.end(' stop.');
  expect((await run.ended).status).toBe(0);
  expect(server.texts).toEqual([
    'Pi is 3.14159 or so.',
    'Use Node.js for it.',
    'She said: “It is over.',
    'Go home.”',
    'Do 1. Wash.',
    '2. Rinse.',
    'Then stop.',
  ]);
});
