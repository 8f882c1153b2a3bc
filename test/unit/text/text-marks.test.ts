import { describe, expect, it } from 'vitest';
import { openMarkdown } from '../../../src/read/markdown.ts';
import { plain } from '../../../src/read/plain.ts';
import { wordsSource } from '../../../src/read/source.ts';
import { type CutOptions, Cutter } from '../../../src/text/cut.ts';
import type { Piece } from '../../../src/text/piece.ts';
import type { Limit, Segment } from '../../../src/text/segment.ts';
import { inTurn, type Stage, through } from '../../../src/text/stage.ts';

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

const inWords = ({ voice: { name }, pause: before, place, chapter: heading, text: words }: Segment<Named>) =>
  `${heading ? `${heading.number} ${heading.title}, ` : ''}${name}, line ${place.line}, ${before}: ${words}`;

function cut(pieces: readonly Piece<Named>[], options: Partial<CutOptions<Named>> = {}): string[] {
  const segmenter = new Cutter<Named>({ voice: RUN, pace: 'full', ...options });
  const all = [...pieces.flatMap((piece) => [...segmenter.push(piece)]), ...segmenter.end()];
  const segments = all.filter((item) => item.kind === 'segment');
  expect(segments.map(({ index }) => index)).toEqual(segments.map((_, at) => at));
  return all.map((item) => (item.kind === 'rest' ? `rest of ${item.seconds} s` : inWords(item)));
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
    expect(cut(pieces)).toEqual(expected);
  });

  it('has one object for the heading of a chapter', () => {
    const segmenter = new Cutter<Named>({ voice: ANNA, pace: 'full' });
    const pieces = [chapter('First'), text('A sentence of it. And another one.')];
    const all = [...pieces.flatMap((piece) => [...segmenter.push(piece)]), ...segmenter.end()];
    const headings = all.map((item) => item.kind === 'segment' && item.chapter);
    expect(headings).toHaveLength(2);
    expect(headings[0]).toBe(headings[1]);
    expect(headings[0]).toEqual({ number: 1, title: 'First', level: 1 });
  });

  it('gives out what a mark ends without waiting for more', () => {
    const segmenter = new Cutter<Named>({ voice: RUN, pace: 'ramp' });
    expect([...segmenter.push(text('Without a full stop'))]).toEqual([]);
    expect([...segmenter.push(pause(1))].map((item) => item.kind === 'segment' && item.text)).toEqual([
      'Without a full stop',
    ]);
    expect(segmenter.isHolding).toBe(false);
  });

  it('does not begin again with a short segment in a new chapter', () => {
    const words = 'A sentence. Another one.';
    const said = cut([text(words), chapter('Next'), text(words, 3)], { pace: 'ramp', cutsParagraphs: true });
    expect(said).toEqual([
      'the run, line 1, paragraph: A sentence.',
      'the run, line 1, sentence: Another one.',
      `1 Next, the run, line 3, chapter: ${words}`,
    ]);
  });
});

/** A stand-in for marks: a noncharacter for each "[pause]". */
const lift: Stage<string, string> = {
  push: (words) => [words.replaceAll('[pause]', '\ufdd1')],
  end: () => [],
};

const placeBack: Stage<Piece, Piece> = {
  push: (piece) =>
    piece.kind === 'text'
      ? piece.text
          .split('\ufdd1')
          .flatMap((words, at): Piece[] => [
            ...(at > 0 ? [{ kind: 'pause', seconds: 1 } as const] : []),
            { ...piece, text: words },
          ])
      : [piece],
  end: () => [],
};

describe('marks that are lifted out in front of a reader', () => {
  const { signal } = new AbortController();
  const WORDS = 'One *two*. [pause]Three [pause]`four`.';

  it.each([
    ['text', plain.open, ['One *two*.', 'Three', '`four`.']],
    [
      'Markdown',
      (source: ReturnType<typeof wordsSource>) =>
        openMarkdown(source, { code: 'read', footnotes: 'read' }, signal),
      ['One two.', 'Three', 'four.'],
    ],
  ] as const)('come back after it as pieces: %s', async (_, open, expected) => {
    const reading = await open(wordsSource(WORDS), signal);
    const pieces = reading.pieces(signal, { inFront: lift });
    const cutting = inTurn(
      placeBack,
      new Cutter<Limit>({ voice: RUN, pace: 'full' }) as Stage<Piece, Segment>,
    );
    const said: string[] = [];
    for await (const segment of through(pieces, cutting))
      if (segment.kind === 'segment') said.push(segment.text);
    expect(said).toEqual(expected);
  });
});
