import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { type CutOptions, Cutter } from '../../../src/text/cut.ts';
import { unwrapped } from '../../../src/text/lines.ts';
import type { Piece } from '../../../src/text/piece.ts';
import type { Limit, Segment, Silence } from '../../../src/text/segment.ts';
import { cleaned } from '../../../src/text/unicode.ts';
import { heldMemory } from '../../support/memory.ts';
import { anyText } from './any-text.ts';
import { inTime, passed, plainPieces, textPiece } from './pieces.ts';

interface Options extends Omit<CutOptions, 'voice'> {
  readonly maxChars: number;
}

const FULL: Options = { maxChars: 1000, pace: 'full' };

/** The segments of a text in pieces; with `flushes`, after each of them all is given out that can be. */
function cut(pieces: Iterable<string>, { maxChars, ...options }: Options, flushes = false): Segment<Limit>[] {
  const cutter = new Cutter({ voice: { maxChars }, ...options });
  const pieceOf = plainPieces();
  const all: (Segment<Limit> | Silence)[] = [];
  for (const piece of pieces) {
    all.push(...cutter.push(pieceOf(piece)));
    if (flushes) all.push(...cutter.flush(0));
  }
  return [...all, ...cutter.end()].filter((each) => each.kind === 'segment');
}

const writtenOf = (text: string, options: Partial<Options> = {}) =>
  cut([text], { ...FULL, ...options }).map(({ written }) => written);

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const clustersOf = (text: string) => [...graphemes.segment(text)];
const bare = (text: string) => text.replace(/\s+/gu, '');
const piecesOf = (text: string, size: number) => text.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [];
const anySize = fc.constantFrom(1, 3, 40, 65_536);
const anyOptions = fc.record({
  maxChars: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 400 })),
  pace: fc.constantFrom<Options['pace'][]>('full', 'ramp', 'sentence'),
});

test('Segments are the text but for white space, in order and within the limit, and cut no grapheme cluster.', () =>
  fc.assert(
    fc.property(anyText, anySize, anyOptions, fc.boolean(), (text, size, options, flushes) => {
      const all = cut(piecesOf(text, size), options, flushes);
      const said = bare(all.map(({ written }) => written).join(''));
      // Marks that come after their sentence was given out stay unsaid.
      if (flushes) expect(bare(text).slice(said.length)).not.toMatch(/[\p{L}\p{N}]/u);
      else expect(said).toBe(bare(text));
      expect(bare(text).startsWith(said)).toBe(true);
      const borders = new Set([text.length, ...clustersOf(text).map(({ index }) => index)]);
      let end = 0;
      for (const { text: clean, written } of all) {
        const start = text.indexOf(written, end);
        end = start + written.length;
        expect(borders).toContain(start);
        if (!flushes) expect(borders).toContain(end);
        expect(written).not.toMatch(/^$|\s$/u);
        if ([...clean].length > options.maxChars) expect(clustersOf(written)).toHaveLength(1);
      }
    }),
    { numRuns: 150 },
  ));

test('Pieces of any size give the same segments.', () => {
  fc.assert(
    fc.property(anyText, anySize, anyOptions, (text, size, options) => {
      expect(cut(piecesOf(text, size), options)).toEqual(cut([text], options));
    }),
    { numRuns: 60 },
  );
  const long = fc.sample(anyText, { numRuns: 500, seed: 7 }).join(' ').replace(/\n\s*/gu, ' ');
  expect(long.length).toBeGreaterThan(20_000);
  const options = { ...FULL, maxChars: 300 };
  expect(cut(piecesOf(long, 4097), options)).toEqual(cut([long], options));
});

test('What is written in the segments is the text, whatever is cleaned away.', () => {
  const signs = fc.constantFrom('\u00ad', '\u200b', ' \n ', 'e\u0301', '\u2060'.repeat(9), 'word ');
  const dirty = fc.array(fc.oneof(anyText, signs), { maxLength: 40 }).map((parts) => parts.join(''));
  const said = (text: string) => bare(cleaned(text)).normalize('NFC');
  fc.assert(
    fc.property(dirty, fc.integer({ min: 1, max: 60 }), (text, maxChars) => {
      const all = cut([text], { ...FULL, maxChars });
      expect(said(all.map((each) => each.written).join(''))).toBe(said(text));
      expect(said(all.map((each) => each.text).join(''))).toBe(said(text));
    }),
    { numRuns: 40 },
  );
});

test('A border is not in front of what joins a space, as the vowels of Thai and Lao do that are letters.', () => {
  for (const vowel of ['\u0e33', '\u0eb3'])
    expect(writtenOf(`Hello. ${vowel} world.`, { pace: 'sentence' })).toEqual([`Hello. ${vowel} world.`]);
});

const sentence = fc
  .array(fc.constantFrom('Dr. Smith', 'e.g. tea', '3.14', 'мир', '世界', '😀', 'and', '“so”'), {
    minLength: 1,
    maxLength: 9,
  })
  .map((words) => `It is ${words.join(' ')}.`);
const paragraph = fc.array(sentence, { minLength: 1, maxLength: 6 });

test('Editing one sentence changes the segments of its paragraph only.', () =>
  fc.assert(
    fc.property(
      fc.array(paragraph, { minLength: 2, maxLength: 6 }),
      sentence,
      fc.nat(),
      anyOptions.filter(({ maxChars }) => maxChars < 100),
      (book, edit, place, options) => {
        const edited = place % book.length;
        const other = book.map((all, at) => (at === edited ? [edit, ...all.slice(1)] : all));
        const perParagraph = (paragraphs: string[][]) => {
          const padded = [...paragraphs.map((all) => all.join(' ')), `It ends${' so'.repeat(40)}.`];
          const groups: string[][] = [];
          for (const { written, pause } of cut([padded.join('\n\n')], options)) {
            if (pause === 'paragraph') groups.push([]);
            groups.at(-1)?.push(written);
          }
          return groups;
        };
        const [before, after] = [perParagraph(book), perParagraph(other)];
        expect(before).toHaveLength(book.length + 1);
        expect(after.toSpliced(edited, 1)).toEqual(before.toSpliced(edited, 1));
      },
    ),
    { numRuns: 30 },
  ));

test('A text that fits is one segment, as given but for outer white space.', () => {
  const text = 'CHAPTER I\n\n  It was.  Or\tnot.\n\n\nThe end.';
  const [segment, ...more] = cut([` \n${text}\n\n`], { ...FULL, maxChars: text.length });
  expect(segment).toMatchObject({ written: text, place: { line: 2 }, pause: 'paragraph', index: 0 });
  expect(more).toEqual([]);
  expect(writtenOf(text, { maxChars: cleaned(text).length - 1 }).length).toBeGreaterThan(1);
});

test('The limit counts code points.', () => {
  expect(writtenOf('😀'.repeat(20), { maxChars: 20 })).toEqual(['😀'.repeat(20)]);
  expect(writtenOf('😀'.repeat(21), { maxChars: 20 })).toEqual(['😀'.repeat(20), '😀']);
});

test('No segment spans two paragraphs, and each knows its line.', () => {
  const all = cut(['\nOne. Two.\n \t\nThree.\nFour.\n\n\nFive.'], { ...FULL, maxChars: 20 });
  expect(all.map(({ written, place, pause, index }) => [index, place.line, pause, written])).toEqual([
    [0, 2, 'paragraph', 'One. Two.'],
    [1, 4, 'paragraph', 'Three.\nFour.'],
    [2, 8, 'paragraph', 'Five.'],
  ]);
});

test('A paragraph without a letter or digit is spoken with its neighbour.', () => {
  expect(writtenOf('* * *\n\nOne is one.\n\n* * *\n\nTwo.\n\n***', { maxChars: 22 })).toEqual([
    '* * *\n\nOne is one.',
    '* * *',
    'Two.\n\n***',
  ]);
});

test.each([
  ['sentence', 'One two. Three four five.', 20, ['One two.', 'Three four five.']],
  ['clause', 'One two three, four five six seven', 20, ['One two three,', 'four five six seven']],
  ['word, where a clause would be a fragment', 'So, one two three four', 20, ['So, one two three', 'four']],
  ['word', 'One two three four five six', 20, ['One two three four', 'five six']],
  ['word that ends at the limit', 'abcde fghij', 5, ['abcde', 'fghij']],
  ['Chinese clause', '春天来了，花都开了，很好看', 10, ['春天来了，花都开了，', '很好看']],
  ['Thai word', 'สวัสดีชาวโลก', 8, ['สวัสดี', 'ชาวโลก']],
  ['grapheme cluster', 'abcdefghij👩‍👩‍👧‍👦', 12, ['abcdefghij', '👩‍👩‍👧‍👦']],
  ['grapheme cluster that is too long', 'a👩‍👩‍👧‍👦b', 3, ['a', '👩‍👩‍👧‍👦', 'b']],
])('A text is cut at a %s.', (_, text, maxChars, expected) => {
  expect(writtenOf(text, { maxChars })).toEqual(expected);
});

test('When sound should start at once, the first segment is a sentence and the next ones grow.', () => {
  const text = Array.from({ length: 200 }, () => 'It is a sentence.').join(' ');
  const lengths = writtenOf(text, { pace: 'ramp' }).map((segment) => segment.length);
  expect(lengths.slice(0, 5)).toEqual([17, 233, 485, 989, 989]);
});

test('Sentence by sentence, also a short text is cut.', () => {
  expect(writtenOf('One. Two.\n\nThree', { pace: 'sentence' })).toEqual(['One.', 'Two.', 'Three']);
});

test('Each segment is divided into its sentences, unless its sound is in the cache.', () => {
  const text = 'One is\u00ad here. Two is.\n\nThree. “Four.” Five.';
  const divided = (isCached: (text: string) => boolean) => {
    const voice = { maxChars: 25, isCached: (part: { text: string }) => isCached(part.text) };
    const cutter = new Cutter({ voice, pace: 'full', dividesNew: true });
    return passed(cutter, [{ kind: 'pause', seconds: 1 }, textPiece(text)]).map((each) => {
      if (each.kind === 'silence') return each;
      return `${each.index}, line ${each.place.line}, ${each.pause}: ${each.written}`;
    });
  };
  expect(divided(() => false)).toEqual([
    '0, line 1, 1: One is\u00ad here.',
    '1, line 1, sentence: Two is.',
    '2, line 3, paragraph: Three.',
    '3, line 3, sentence: “Four.”',
    '4, line 3, sentence: Five.',
  ]);
  expect(divided((part) => part.startsWith('One'))).toEqual([
    '0, line 1, 1: One is\u00ad here. Two is.',
    '1, line 3, paragraph: Three.',
    '2, line 3, sentence: “Four.”',
    '3, line 3, sentence: Five.',
  ]);
});

test.each(['', ' \n\t\n '])('Blank text (%j) has no segments.', (text) => {
  for (const pace of ['full', 'ramp', 'sentence'] as const) expect(writtenOf(text, { pace })).toEqual([]);
});

const FEW = [
  '\u00ad',
  '\u200b',
  '\u200c',
  '\u200d',
  '\u2060',
  '\u0301',
  '\ufe0f',
  '\u{e0100}',
  ' ',
  '\n\n',
  ' \u0301',
];

test.each(['full', 'heard'] as const)(
  'A long text of few characters comes to its end at pace "%s".',
  (pace) => {
    for (const sign of FEW)
      for (const flushes of [false, true]) {
        const text = `Hello. ${sign.repeat(17_000 / sign.length)} And more.`;
        const said = inTime(20, () => cut(piecesOf(text, 4096), { ...FULL, pace }, flushes));
        expect(bare(said.map((each) => each.text).join(''))).toMatch(/^Hello\..*Andmore\.$/u);
      }
  },
);

test.each(['word ', '世', '\u0301'])(
  'A long text of nothing but %j takes a moment and little memory.',
  (unit) => {
    const piece = Buffer.from(unit.repeat(65_536 / unit.length));
    let [held, length] = [0, 0];
    const cutter = new Cutter({ voice: { maxChars: 1000 }, pace: 'full' });
    const give = (all: Iterable<Segment<Limit> | Silence>) => {
      for (const each of all) if (each.kind === 'segment') length += bare(each.written).length;
    };
    inTime(30, () => {
      const before = heldMemory();
      // Each piece is a string of its own, as those of a stream are.
      for (let at = 0; at < 16; at += 1) give(cutter.push(plainPieces()(piece.toString())));
      held = heldMemory() - before;
      give(cutter.end());
    });
    expect(length).toBe(16 * bare(piece.toString()).length);
    expect(held).toBeLessThan(800_000);
  },
);

interface Named extends Limit {
  readonly name: string;
}

const RUN: Named = { name: 'the run', maxChars: 1000 };
const ANNA: Named = { name: 'Anna', maxChars: 20 };
const PLACE = { source: 'play.txt', line: 1 };

const text = (words: string, line = 1): Piece<Named> => ({
  kind: 'text',
  text: words,
  place: { ...PLACE, line },
});
const pause = (seconds: number): Piece<Named> => ({ kind: 'pause', seconds });
const voice = (named: Named): Piece<Named> => ({ kind: 'voice', voice: named, place: PLACE });
const chapter = (title: string): Piece<Named> => ({ kind: 'chapter', title, level: 1 });
const PARAGRAPH: Piece<Named> = { kind: 'paragraph' };
const HEADING: Piece<Named> = { kind: 'heading', level: 1 };
const SCENE: Piece<Named> = { kind: 'scene' };

const inWords = ({ role: { name }, pause: before, place, chapter: heading, text: words }: Segment<Named>) =>
  `${heading ? `${heading.number} ${heading.title}, ` : ''}${name}, line ${place.line}, ${before}: ${words}`;

function cutNamed(pieces: readonly Piece<Named>[], options: Partial<CutOptions<Named>> = {}): string[] {
  const all = passed(new Cutter<Named>({ voice: RUN, pace: 'full', ...options }), pieces);
  const segments = all.filter((item) => item.kind === 'segment');
  expect(segments.map(({ index }) => index)).toEqual(segments.map((_, at) => at));
  return all.map((item) => (item.kind === 'silence' ? `rest of ${item.seconds} s` : inWords(item)));
}

describe('a text of pieces', () => {
  it.each<[what: string, pieces: readonly Piece<Named>[], expected: readonly string[]]>([
    [
      'paragraphs are one segment if they fit',
      [text('One.'), PARAGRAPH, text('Two.', 3)],
      ['the run, line 1, paragraph: One.\n\nTwo.'],
    ],
    [
      'another voice ends a segment, and its limit counts',
      [text('He said: '), voice(ANNA), text('I am here. So are you.'), voice(RUN), text(' And left.')],
      [
        'the run, line 1, paragraph: He said:',
        'Anna, line 1, sentence: I am here.',
        'Anna, line 1, sentence: So are you.',
        'the run, line 1, sentence: And left.',
      ],
    ],
    [
      'the same voice again changes nothing',
      [text('One. '), voice(RUN), text('Two.')],
      ['the run, line 1, paragraph: One. Two.'],
    ],
    [
      'a pause stands before its segment, and replaces the border of a paragraph',
      [text('One. '), pause(1.5), text('Two.'), PARAGRAPH, pause(1), PARAGRAPH, text('Three.', 5)],
      ['the run, line 1, paragraph: One.', 'the run, line 1, 1.5: Two.', 'the run, line 5, 1: Three.'],
    ],
    [
      'pauses add up, over a change of voices, too',
      [text('One.'), pause(1), voice(ANNA), pause(2), text('Two.')],
      ['the run, line 1, paragraph: One.', 'Anna, line 1, 3: Two.'],
    ],
    ['a pause at the start is kept', [pause(2), text('One.')], ['the run, line 1, 2: One.']],
    [
      'a pause at the end is a rest',
      [text('One.'), pause(2)],
      ['the run, line 1, paragraph: One.', 'rest of 2 s'],
    ],
    [
      'chapters have one heading for all their segments',
      [
        text('Before.'),
        chapter('First'),
        text('One.', 3),
        pause(1),
        text('Two.', 4),
        chapter('Second'),
        text('Three.', 9),
      ],
      [
        'the run, line 1, paragraph: Before.',
        '1 First, the run, line 3, chapter: One.',
        '1 First, the run, line 4, 1: Two.',
        '2 Second, the run, line 9, chapter: Three.',
      ],
    ],
    [
      'a pause before a chapter belongs to the chapter before, one after it replaces its border',
      [text('One.'), pause(1), chapter('Next'), pause(2), text('Two.', 3)],
      ['the run, line 1, paragraph: One.', 'rest of 1 s', '1 Next, the run, line 3, 2: Two.'],
    ],
    [
      'a chapter without words has no number',
      [chapter('Empty'), text(' \n'), chapter('Full'), text('One.', 3)],
      ['1 Full, the run, line 3, chapter: One.'],
    ],
    [
      'marks without a word between two voices are left out',
      [text('"'), voice(ANNA), text('One.'), voice(RUN), text('"'), PARAGRAPH, text('He left.', 3)],
      ['Anna, line 1, paragraph: One.', 'the run, line 1, sentence: "\n\nHe left.'],
    ],
    [
      'a heading and a scene end a segment, and the greater of two borders counts',
      [text('Title.'), HEADING, PARAGRAPH, text('One.', 3), PARAGRAPH, SCENE, HEADING, text('Two.', 7)],
      [
        'the run, line 1, paragraph: Title.',
        'the run, line 3, heading: One.',
        'the run, line 7, scene: Two.',
      ],
    ],
    [
      'a text with borders that fits one segment is not cut at its paragraphs',
      [text('Title.'), HEADING, PARAGRAPH, text('One.', 3), PARAGRAPH, text('Two.', 5)],
      ['the run, line 1, paragraph: Title.', 'the run, line 3, heading: One.\n\nTwo.'],
    ],
    [
      'a longer text with borders is cut at its paragraphs, as it is without them',
      [text('One.'), PARAGRAPH, text('Two.', 3), SCENE, text('x'.repeat(1000), 5)],
      [
        'the run, line 1, paragraph: One.',
        'the run, line 3, paragraph: Two.',
        `the run, line 5, scene: ${'x'.repeat(1000)}`,
      ],
    ],
    [
      'after a pause, a text is cut as one of its own',
      [text('x'.repeat(1001)), pause(1), text('One.'), PARAGRAPH, text('Two.', 3)],
      [
        `the run, line 1, paragraph: ${'x'.repeat(1000)}`,
        'the run, line 1, none: x',
        'the run, line 1, 1: One.\n\nTwo.',
      ],
    ],
    ['blank text has no segment', [voice(ANNA), text(' '), PARAGRAPH], []],
  ])('%s', (_, pieces, expected) => {
    expect(cutNamed(pieces)).toEqual(expected);
  });

  it('has one object for the heading of a chapter', () => {
    const pieces = [chapter('First'), text('A sentence of it. And another one.')];
    const all = passed(new Cutter<Named>({ voice: ANNA, pace: 'full' }), pieces);
    const headings = all.map((item) => item.kind === 'segment' && item.chapter);
    expect(headings).toHaveLength(2);
    expect(headings[0]).toBe(headings[1]);
    expect(headings[0]).toEqual({ number: 1, title: 'First', level: 1 });
  });

  it('gives out what a mark ends without waiting for more', () => {
    const cutter = new Cutter<Named>({ voice: RUN, pace: 'ramp' });
    expect([...cutter.push(text('Without a full stop'))]).toEqual([]);
    expect([...cutter.push(pause(1))].map((item) => item.kind === 'segment' && item.text)).toEqual([
      'Without a full stop',
    ]);
    expect(cutter.isHolding).toBe(false);
  });

  it('does not begin again with a short segment in a new chapter', () => {
    const words = 'A sentence. Another one.';
    const said = cutNamed([text(words), chapter('Next'), text(words, 3)], {
      pace: 'ramp',
      cutsParagraphs: true,
    });
    expect(said).toEqual([
      'the run, line 1, paragraph: A sentence.',
      'the run, line 1, sentence: Another one.',
      `1 Next, the run, line 3, chapter: ${words}`,
    ]);
  });
});

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
    expect(cleaned(unwrapped(text))).toBe(clean);
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
    expect(cleaned(unwrapped(text))).toBe(text);
  });

  it('is clean already', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(cleaned(cleaned(text))).toBe(cleaned(text));
      }),
    );
  });
});

const WORDS = 'the lamps were lit early, nobody had counted them since Tuesday'.split(' ');
const plainSentence = fc
  .array(fc.constantFrom(...WORDS), { minLength: 4, maxLength: 25 })
  .map((words) => `It is ${words.join(' ')}.`);
const paragraphs = fc.array(fc.array(plainSentence, { minLength: 1, maxLength: 12 }), {
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
      const textsOf = (text: string) => cut([text], { ...FULL, maxChars: 300 }).map((each) => each.text);
      expect(textsOf(other)).toEqual(textsOf(flat));
    }),
    { numRuns: 30 },
  );
});
