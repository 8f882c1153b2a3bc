import { describe, expect, it } from 'vitest';
import {
  beginsNumbered,
  type ChapterRange,
  chapterLevelOf,
  HeadingChapters,
  isNumbered,
  PageChapters,
  PickedChapters,
  UntitledChapters,
} from '../../../src/text/chapters.ts';
import type { Piece } from '../../../src/text/piece.ts';
import type { Stage } from '../../../src/text/stage.ts';
import { passed, textPiece as text } from './pieces.ts';

const place = { source: '', line: 1 };
const chapter = (title: string): Piece => ({ kind: 'chapter', title, level: 1 });
const paragraph: Piece = { kind: 'paragraph' };
const heading = (words: string, level: number): readonly Piece[] => [
  { kind: 'heading', level },
  text(words),
  { kind: 'heading', level },
];

function read(stage: Stage<Piece, Piece>, pieces: readonly Piece[]): string {
  return passed(stage, pieces)
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

  /** `1 Title` is a heading; all else is text. */
  const piecesOf = (lines: readonly string[]) =>
    lines.flatMap((line) => {
      const [, level, title] = /^([1-6]) (.*)$/u.exec(line) ?? [];
      return title === undefined ? [text(line)] : heading(title, Number(level));
    });
  const told = 'It was a long day. '.repeat(5);

  it.each<readonly [what: string, lines: readonly string[], chapters: readonly string[]]>([
    [
      'a number and its title',
      ['1 I.', '2 The Hill.', told, '1 II.', '2 The Sea.', told],
      ['1 I. The Hill', '1 II. The Sea'],
    ],
    ['a number in words', ['1 Chapter One.', '1 The Hill.', told], ['1 Chapter One. The Hill']],
    [
      'a part, a number and a title',
      ['1 Part I.', '2 Chapter 1.', '3 The Hill.', told],
      ['1 Part I. Chapter 1. The Hill'],
    ],
    [
      'a part with a name',
      ['1 The Youth.', '2 Chapter 1.', told, '2 Chapter 2.', told],
      ['2 Chapter 1', '2 Chapter 2'],
    ],
    [
      'the title of the book above',
      ['1 The Book.', '2 The Hill.', told, '2 The Sea.', told],
      ['2 The Hill', '2 The Sea'],
    ],
    ['a line below the title', ['1 The Book.', '2 by', '2 Ann Author.', '2 The Hill.', told], ['2 The Hill']],
    ['the author in a line of text', ['1 The Book of Days.', 'by Ann', '1 The Hill.', told], ['1 The Hill']],
    [
      'a short answer',
      ['2 Is it a long way?', 'No.', '2 Is it far?', told],
      ['2 Is it a long way?', '2 Is it far?'],
    ],
    ['a title at the end', ['1 The Hill.', told, '1 The End.'], ['1 The Hill', '1 The End']],
    [
      'small headings below the title',
      ['1 The Book.', told, '3 The Hill.', told, '3 The Sea.', told],
      ['1 The Book', '3 The Hill', '3 The Sea'],
    ],
    [
      'small headings below that of the contents',
      ['1 The Book.', '2 Preface.', 'Short words here.', '4 The Hill.', told, '4 The Sea.', told],
      ['2 Preface', '4 The Hill', '4 The Sea'],
    ],
    [
      'sections of chapters',
      ['1 The Hill.', told, '3 Up.', told, '1 The Sea.', told],
      ['1 The Hill', '1 The Sea'],
    ],
  ])('have the titles of their headings: %s', async (_, lines, chapters) => {
    const pieces = piecesOf(lines);
    const level = await chapterLevelOf(
      (async function* () {
        yield* pieces;
      })(),
    );
    const shown = read(new HeadingChapters(level), pieces);
    expect([...shown.matchAll(/\{(.*?)\}/gu)].map(([, title]) => title)).toEqual(chapters);
    expect(shown.replace(/\{.*?\}|\|/gu, '')).toBe(
      lines.map((line) => line.replace(/^[1-6] /u, '')).join(''),
    );
  });

  it.each([
    'I',
    'IV.',
    '[XII]',
    '7',
    'Chapter 4.',
    'CHAPTER THE FIRST',
    'Part Two',
    'Kapitel 12',
    'twenty-one',
    '第三章',
    '— 5 —',
  ])('are numbered: %s', (title) => expect(isNumbered(title)).toBe(true));

  it.each(['Mix', 'Civil', 'The Hill', 'One Night', 'Chapter Room', '1984 in Books', '12345', ''])(
    'are not numbered: %j',
    (title) => expect(isNumbered(title)).toBe(false),
  );

  it.each([
    ['Chapter 4. The Storm', true],
    ['BOOK I: 1805', true],
    ['Act Two — A Room', true],
    ['Chapter and Verse', false],
    ['4. The Storm', false],
  ])('begin with a number: %s', (title, expected) => expect(beginsNumbered(title)).toBe(expected));
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
    expect(read(unknown, [text('One\n\ntext'), text('\fTw'), text('o\nb')])).toBe('One\n\ntext{1 Two}Two\nb');
  });

  it('know the line of each page', () => {
    const stage = new PageChapters({ hasLaterPages: true });
    const all = passed(stage, [text('a\nb\n\fc\n')]);
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

const picked = (ranges: readonly ChapterRange[], pieces = PIECES) =>
  passed(new PickedChapters(ranges), pieces);

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
