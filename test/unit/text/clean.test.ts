import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Cutter } from '../../../src/text/cut.ts';
import { unwrapped } from '../../../src/text/lines.ts';
import type { Limit, Segment } from '../../../src/text/segment.ts';
import { cleaned } from '../../../src/text/unicode.ts';
import { anyText } from './any-text.ts';
import { plainPieces } from './pieces.ts';

const said = (text: string) => cleaned(unwrapped(text));

function segmentsOf(text: string, voice: Limit): Segment[] {
  const segmenter = new Cutter({ voice, pace: 'full' });
  const all = [...segmenter.push(plainPieces()(text)), ...segmenter.end()];
  return all.filter((each) => each.kind === 'segment');
}

const textsOf = (text: string, maxChars: number) => segmentsOf(text, { maxChars }).map((each) => each.text);

describe('clean text', () => {
  it.each([
    [
      'a line break in a sentence',
      'sitting by her sister on the\nbank, and of having',
      'sitting by her sister on the bank, and of having',
    ],
    ['an indented line', 'on the\n   bank', 'on the bank'],
    ['two spaces after a sentence', 'It ends.  It begins.', 'It ends. It begins.'],
    ['a soft hyphen', 'co\u00adoperate', 'cooperate'],
    ['zero-width characters', 'a\u200bb\u2060c\ufeffd\u200ee', 'abcde'],
    ['joiners between Latin letters', 'a\u200db\u200cc', 'abc'],
    ['decomposed letters', 'cafe\u0301', 'café'],
    ['line and paragraph separators', 'one\u2028two', 'one two'],
  ])('has not %s', (_name, text, clean) => {
    expect(said(text)).toBe(clean);
  });

  it.each([
    ['paragraphs', 'One.\n\nTwo.'],
    ['sentences on short lines', 'One.\nTwo.'],
    ['items', '- one\n- two'],
    ['a heading', 'Chapter 1\nIt was a dark and stormy night; the rain fell in torrents.'],
    ['spaces between words', 'a   b'],
    ['a tab', 'one\ttwo'],
    ['a no-break space', '10\u00a0km'],
    ['a family', '👩\u200d👩\u200d👧 and ❤️\u200d🔥'],
    ['Persian', 'می\u200cخواهم'],
    ['Sinhala', 'ශ්\u200dරී'],
    ['a space with a mark', 'a \u0301b'],
  ])('keeps %s', (_name, text) => {
    expect(said(text)).toBe(text);
  });

  it('is clean already', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(cleaned(cleaned(text))).toBe(cleaned(text));
      }),
    );
  });
});

const WORDS = [
  'the',
  'lamps',
  'were',
  'lit',
  'early,',
  'nobody',
  'had',
  'counted',
  'them',
  'since',
  'Tuesday',
];
const sentence = fc
  .array(fc.constantFrom(...WORDS), { minLength: 4, maxLength: 25 })
  .map((words) => `It is ${words.join(' ')}.`);
const paragraphs = fc.array(fc.array(sentence, { minLength: 1, maxLength: 12 }), {
  minLength: 1,
  maxLength: 5,
});

/** As `fmt` does it: two spaces after a sentence, none at the end of a line. */
function wrapped(sentences: readonly string[], width: number): string {
  const lines = [''];
  for (const word of sentences.join('  ').split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line.length + 1 + word.length > width && word !== '') lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.map((line) => line.trimEnd()).join('\n');
}

it('A book with other line breaks has the same segments.', () => {
  fc.assert(
    fc.property(paragraphs, fc.integer({ min: 50, max: 120 }), (book, width) => {
      const flat = book.map((each) => each.join(' ')).join('\n\n');
      const other = book.map((each) => wrapped(each, width)).join('\n\n');
      expect(textsOf(other, 300)).toEqual(textsOf(flat, 300));
    }),
    { numRuns: 30 },
  );
});

it('What is written in the segments is the text, whatever is cleaned away.', () => {
  const dirty = fc
    .array(
      fc.oneof(anyText, fc.constantFrom('\u00ad', '\u200b', ' \n ', 'e\u0301', '\u2060'.repeat(9), 'word ')),
      { maxLength: 40 },
    )
    .map((parts) => parts.join(''));
  const bare = (text: string) => cleaned(text).replace(/\s+/gu, '').normalize('NFC');
  fc.assert(
    fc.property(dirty, fc.integer({ min: 1, max: 60 }), (text, maxChars) => {
      const all = segmentsOf(text, { maxChars });
      expect(bare(all.map((each) => each.written).join(''))).toBe(bare(text));
      expect(bare(all.map((each) => each.text).join(''))).toBe(bare(text));
    }),
    { numRuns: 40 },
  );
});
