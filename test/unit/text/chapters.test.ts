import { describe, expect, it } from 'vitest';
import {
  type ChapterRange,
  HeadingChapters,
  PageChapters,
  PickedChapters,
  UntitledChapters,
} from '../../../src/text/chapters.ts';
import type { Piece } from '../../../src/text/piece.ts';
import type { Stage } from '../../../src/text/stage.ts';

const place = { source: '', line: 1 };
const text = (words: string, line = 1): Piece => ({ kind: 'text', text: words, place: { source: '', line } });
const chapter = (title: string): Piece => ({ kind: 'chapter', title, level: 1 });
const paragraph: Piece = { kind: 'paragraph' };
const heading = (words: string, level: number): readonly Piece[] => [
  { kind: 'heading', level },
  text(words),
  { kind: 'heading', level },
];

function read(stage: Stage<Piece, Piece>, pieces: readonly Piece[]): string {
  const all = [...pieces.flatMap((piece) => [...stage.push(piece)]), ...stage.end()];
  return all
    .map((piece) => {
      if (piece.kind === 'text') return piece.text;
      return piece.kind === 'chapter' ? `{${piece.level} ${piece.title ?? ''}}` : '|';
    })
    .join('');
}

describe('chapters by headings', () => {
  it('begin in front of the two highest levels', () => {
    const pieces = [
      text('x'),
      ...heading('A.', 1),
      text('a'),
      ...heading('B b!', 2),
      ...heading('C.', 3),
      text('c'),
    ];
    expect(read(new HeadingChapters(), pieces)).toBe('x{1 A}|A.|a{2 B b!}|B b!||C.|c');
  });

  it('have the size of the first heading where it is a small one', () => {
    expect(read(new HeadingChapters(), [...heading('A.', 3), ...heading('B.', 4)])).toBe('{3 A}|A.||B.|');
  });
});

describe('chapters by form feeds', () => {
  it('have a short first line as their title', () => {
    const long = 'word '.repeat(30);
    const pieces = [text('One\n\ntext'), text('\fTw'), text('o\nb\f\f'), text(`\n${long}`)];
    const known = new PageChapters({ hasLaterPages: true });
    expect(read(known, pieces)).toBe(`{1 One}One\n\ntext{1 Two}Two\nb{1 }{1 }\n${long}`);
  });

  it('begin at the first form feed where nothing is known of any', () => {
    const unknown = new PageChapters({ hasLaterPages: false });
    expect(read(unknown, [text('One\n\ntext'), text('\fTwo\nb')])).toBe('One\n\ntext{1 Two}Two\nb');
  });

  it('know the line of each page', () => {
    const stage = new PageChapters({ hasLaterPages: true });
    const all = [...stage.push({ kind: 'text', text: 'a\nb\n\fc\n', place }), ...stage.end()];
    expect(all.filter(({ kind }) => kind === 'text')).toEqual([text('a\nb\n', 1), text('c\n', 3)]);
  });
});

describe('titles that are left out', () => {
  it.each([
    [
      'headings',
      [chapter('I: One'), ...heading('I.', 1), ...heading('One.', 2), text('a'), ...heading('B.', 2)],
      '{1 I: One}a|B.|',
    ],
    [
      'blocks that repeat the title',
      [chapter('I: One'), text('I'), paragraph, text('One.'), paragraph, text('a')],
      '{1 I: One}||a',
    ],
    ['lines of plain text', [chapter('One'), text('One\n\na\nb')], '{1 One}a\nb'],
    ['no text', [chapter('One'), text('One'), text(' more'), paragraph, text('a')], '{1 One}One more|a'],
    ['no text in front of a chapter', [text('One'), chapter('One'), ...heading('One', 1)], 'One{1 One}'],
    ['no text after a chapter without a title', [chapter(''), text('One')], '{1 }One'],
  ] as const)('are %s', (_, pieces, expected) => {
    expect(read(new UntitledChapters(), pieces)).toBe(expected);
  });
});

const PIECES: readonly Piece[] = [
  text('before'),
  chapter('empty'),
  paragraph,
  chapter('A'),
  paragraph,
  text('a'),
  chapter('B'),
  { kind: 'voice', voice: 'anna', place },
  text('b'),
  chapter('C'),
  text('c'),
  { kind: 'pause', seconds: 1 },
];

function picked(ranges: readonly ChapterRange[], pieces = PIECES): readonly Piece[] {
  const stage = new PickedChapters(ranges);
  return [...pieces.flatMap((piece) => [...stage.push(piece)]), ...stage.end()];
}

describe('the chapters that were asked for', () => {
  it('keep their numbers, and the voice that was named before them', () => {
    expect(
      picked([
        [1, 1],
        [3, 3],
      ]),
    ).toEqual([
      { kind: 'chapter', title: 'A', level: 1, number: 1 },
      paragraph,
      text('a'),
      { kind: 'voice', voice: 'anna', place },
      { kind: 'chapter', title: 'C', level: 1, number: 3 },
      text('c'),
      { kind: 'pause', seconds: 1 },
    ]);
  });

  it('have the voice that a chapter without a word names', () => {
    const voice: Piece = { kind: 'voice', voice: 'anna', place };
    const pieces = [chapter('empty'), voice, chapter('A'), text('a')];
    expect(picked([[1, 1]], pieces)).toEqual([
      voice,
      { kind: 'chapter', title: 'A', level: 1, number: 1 },
      text('a'),
    ]);
  });

  it('are all there', () => {
    expect(() => picked([[2, 4]])).toThrow('there is no chapter 4: the text has 3 of them');
  });
});
