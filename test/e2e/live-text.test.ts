import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { expectSpoken, serveText } from '../support/book.ts';
import { isThere } from '../support/programs.ts';
import { page } from '../support/readme.ts';
import { named, Sandbox } from '../support/run.ts';
import { textOf } from '../support/text-audio.ts';

/** Requests come one after the other, so their texts stand in order. */
const inTurn = (url: string) => named(url, { TTS_CONCURRENCY: '1' });

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
