import { expect, test } from 'vitest';
import { GrowingMarkdown } from '../../../src/read/markdown.ts';
import type { Piece } from '../../../src/text/piece.ts';
import { WAITS } from '../../../src/text/stage.ts';

const DOCUMENT = [
  '---\ntitle: No\n---\n\n# Heading\n\n',
  'A sentence. And\nanother one.\n\n',
  '- item\n- second\n\n',
  '| a | b |\n|---|---|\n| c | d |\n\n',
  'The end.',
];

const EXPECTED = [
  [5, 'Heading.'],
  [7, 'A sentence.'],
  [10, 'item.'],
  [11, 'second.'],
  [15, 'a: c, b: d.'],
  [17, 'The end.'],
];

/** The line and the beginning of what is spoken of each block. */
function linesOf(pieces: readonly Piece[]) {
  const said = new Map<number | undefined, string>();
  for (const piece of pieces)
    if (piece.kind === 'text') said.set(piece.place.line, (said.get(piece.place.line) ?? '') + piece.text);
  const spoken = [...said].filter(([, text]) => text.trim() !== '');
  return spoken.map(([line, text]) => [line, /^(?:A sentence\.|.*)/u.exec(text.trim())?.[0]]);
}

test('Each block of a document has the line in which it begins.', () => {
  const markdown = new GrowingMarkdown({ code: 'read', footnotes: 'read' }, 'a.md');
  markdown.push(DOCUMENT.join(''));
  const pieces = [...markdown.end()];
  expect(linesOf(pieces)).toEqual(EXPECTED);
  for (const piece of pieces) if (piece.kind === 'text') expect(piece.place.source).toBe('a.md');
});

test('The lines are the same if a part of the document has left before.', () => {
  const markdown = new GrowingMarkdown({ code: 'read', footnotes: 'read' }, 'a.md');
  const pieces = DOCUMENT.flatMap((part) => [
    ...markdown.push(part),
    ...markdown.flush(0),
    ...markdown.flush(WAITS.doubtful),
  ]);
  expect(linesOf([...pieces, ...markdown.end()])).toEqual(EXPECTED);
});
