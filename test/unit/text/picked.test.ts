import { describe, expect, it } from 'vitest';
import { type ChapterRange, PickedChapters } from '../../../src/text/chapters.ts';
import type { Piece } from '../../../src/text/piece.ts';

const place = { source: '' };
const text = (words: string): Piece => ({ kind: 'text', text: words, place });
const chapter = (title: string): Piece => ({ kind: 'chapter', title, level: 1 });

const PIECES: readonly Piece[] = [
  text('before'),
  chapter('empty'),
  { kind: 'paragraph' },
  chapter('A'),
  { kind: 'paragraph' },
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
      { kind: 'paragraph' },
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
