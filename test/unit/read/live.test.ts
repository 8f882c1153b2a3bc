import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { GrowingMarkdown } from '../../../src/read/markdown.ts';
import { writtenOf } from '../../../src/text/piece.ts';
import { whileArriving } from '../../../src/text/stage.ts';
import { inPieces } from '../text/pieces.ts';

const MARKDOWN = '---\na: b\n---\n# See [one][1]\n\nTwo[^1]\n\n- three\n\n[1]: u\n[^1]: four\n';

async function* live(text: AsyncIterable<string>, signal = new AbortController().signal) {
  const markdown = new GrowingMarkdown({ code: 'announce', footnotes: 'read' }, '');
  for await (const piece of whileArriving(text, markdown, signal)) yield writtenOf(piece);
}

test.each([1, 10, 65_536])(
  'Markdown that comes without a wait is read whole: %i at a time.',
  async (size) => {
    let said = '';
    for await (const piece of live(inPieces(MARKDOWN, size))) said += piece;
    expect(said).toBe('See one.\n\nTwo (four)\n\nthree.');
  },
);

test.each([
  ['in one go', ['# One\n\nTwo\n\n- three\n']],
  ['bit by bit', ['# One', '\n', '\nTw', 'o\n', '\n-', ' three', '\n']],
])('After a pause the blocks come out that are at their end: %s.', async (_, pieces) => {
  let isEnded = false;
  async function* source() {
    for (const piece of pieces) {
      yield piece;
      await sleep(60);
    }
    await sleep(500);
    isEnded = true;
  }
  let said = '';
  for await (const piece of live(source())) {
    said += piece;
    expect(isEnded).toBe(said.includes('three.'));
  }
  expect(said).toBe('One.\n\nTwo\n\nthree.');
});

test('An abort ends the wait for a hanging source with its reason.', async () => {
  const controller = new AbortController();
  async function* hanging() {
    yield 'One';
    await new Promise(() => {});
  }
  const first = live(hanging(), controller.signal).next();
  setTimeout(() => controller.abort(new Error('enough')), 200);
  await expect(first).rejects.toThrow('enough');
});
