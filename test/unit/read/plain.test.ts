import { describe, expect, it } from 'vitest';
import { hasScene, openPlain, plain } from '../../../src/read/plain.ts';
import type { Source } from '../../../src/read/reading.ts';
import { wordsSource } from '../../../src/read/source.ts';
import { cutInto, pipe, signal } from './spoken.ts';

interface Read {
  readonly text: string;
  readonly notes: readonly string[];
  /** Each word of the text with the line that it is said to stand in. */
  readonly lines: ReadonlyMap<string, number>;
}

/** What is read of a text; "¶" is the border of a paragraph without an empty line. */
async function read(source: Source, readsAll = false): Promise<Read> {
  const notes: string[] = [];
  const lines = new Map<string, number>();
  let text = '';
  const reading = await openPlain(source, { readsAll, hasChapters: false, readsNotes: false }, signal);
  for await (const piece of reading.pieces(signal, { onRemark: (note) => notes.push(note) })) {
    if (piece.kind === 'paragraph') text += '¶';
    if (piece.kind !== 'text') continue;
    for (const { 0: word, index } of piece.text.matchAll(/\S+/gu)) {
      const before = piece.text.slice(0, index).split('\n').length - 1;
      if (!lines.has(word)) lines.set(word, (piece.place.line ?? 0) + before);
    }
    text += piece.text;
  }
  return { text, notes, lines };
}

const textOf = async (text: string) => (await read(wordsSource(text))).text;

/** Lines of real books, as Project Gutenberg, `pdftotext` and authors on the web write them. */
const CASES: readonly (readonly [what: string, written: string, spoken: string])[] = [
  // These lines stand in "The Time Machine".
  [
    'italics',
    'a line of thickness _nil_, has no real existence',
    'a line of thickness nil, has no real existence',
  ],
  // These lines stand in "Pride and Prejudice".
  [
    'italics of several words',
    '“_Dear Lizzy_,” said she, “_you must\nknow_ him.”',
    '“Dear Lizzy,” said she, “you must\nknow him.”',
  ],
  ['italics before a mark', '“You _must_!—_must_ you?”', '“You must!—must you?”'],
  ['italics next to a dash', 'not _now_--_then_ perhaps', 'not now—then perhaps'],
  [
    'italics as bold and spaced words',
    'he was =very= old by then, and ~„so~ gut“ she said\nto him and to all of us',
    'he was very old by then, and „so gut“ she said\nto him and to all of us',
  ],
  ['a dash between words', 'wait--what did you say', 'wait—what did you say'],
  ['a dash after a mark', '"No, indeed!--I shall not."', '"No, indeed!—I shall not."'],
  ['a dash at the end of a line', 'he was silent--\nand then he spoke', 'he was silent—\nand then he spoke'],
  ['a dash in front of a quote', 'she cried--"Stop!"', 'she cried—"Stop!"'],
  ['a dash after "I"', 'and I--I cannot say', 'and I—I cannot say'],
  ['a dash with spaces', 'the house -- an old one -- was dark', 'the house — an old one — was dark'],
  ['the mark of a note', 'as the author says.[1] Next he goes on.', 'as the author says. Next he goes on.'],
  ['the mark of a note after a word', 'the old king[12] was dead', 'the old king was dead'],
  ['two marks of notes', 'so they say.[2][3]', 'so they say.'],
  ['a divided word', 'it was be-\nfore the war', 'it was before\nthe war'],
  ['a divided word with a mark', 'he was sur-\nprised, and he said so', 'he was surprised,\nand he said so'],
  ['a compound', 'a well-\nknown man', 'a well-known\nman'],
  ['a compound of a name', 'an Anglo-\nSaxon king', 'an Anglo-Saxon\nking'],
  ['a compound of three', 'his mother-in-\nlaw came', 'his mother-in-law\ncame'],
  [
    'a hyphen that waits for its word',
    'two- and threefold, first-\nand last',
    'two- and threefold, first-\nand last',
  ],
  ['a word that the book has', 'to-day it is to-\nday as well', 'to-day it is to-day\nas well'],
  ['two divided words', 'be-\nfore and sur-\nprised again', 'before\nand surprised\nagain'],
];

/** What is not prose, and signs that stand for themselves. */
const UNCHANGED: readonly (readonly [what: string, written: string])[] = [
  ['names in code', 'def _private(self, _name): return __init__(self._name, snake_case)'],
  ['a name with underscores among words', 'set the value of snake_case_name here'],
  ['an option', 'then call it with --verbose and look'],
  ['decrements', 'for (let i = 9; i > 0; i--) { a[i] = b[1]; }'],
  [
    'a log',
    '2026-01-02 10:00:01 [INFO] worker[1]: done -- ok key=_val_\n2026-01-02 10:00:02 [WARN] retry-\nlater x=[2]',
  ],
  ['a note by itself', '[1] The author was a sailor.'],
  ['a bracket with words', 'he said [quietly] that he knew'],
  ['a long dash', 'Mr. B---- came in'],
  ['verse', 'Shall I compare thee to a summer’s day?\nThou art more lovely and more temperate:'],
  ['equations and amounts', 'where a = b and c = d, and ~5 men of ~10 came'],
  ['one underscore', 'put a _ between the words'],
];

describe('plain text as books have it', () => {
  it.each(CASES)('%s', async (_what, written, spoken) => {
    expect(await textOf(written)).toBe(spoken);
    expect((await read(pipe([written]))).text).toBe(spoken);
  });

  it.each(UNCHANGED)('does not change %s', async (_what, written) => {
    expect(await textOf(written)).toBe(written);
    expect((await read(pipe([...written]))).text).toBe(written);
  });

  it('is the same in pieces of any size, but for italics that are written slowly', async () => {
    const without = CASES.filter(([what]) => !/^italics|the book has/u.test(what));
    const written = without.map((each) => each[1]).join('\n\n');
    const spoken = (await read(pipe([written]))).text;
    for (const size of [1, 2, 3, 7]) {
      expect((await read(pipe(cutInto(size, written)))).text, `${size}`).toBe(spoken);
    }
  });

  it('has no pictures without a description', async () => {
    const written = 'It was dark.\n\n[Illustration]\n\n[Illustration: A house]\n\nNobody came.';
    expect((await read(pipe([written]))).text).toBe(written.replace('[Illustration]', ''));
  });

  it('keeps the numbers of lines', async () => {
    const { text, lines } = await read(
      wordsSource('It was be-\nfore the war.\n\nNobody was sur-\nprised.\n\nHere it ends.'),
    );
    expect(text).toBe('It was before\nthe war.\n\nNobody was surprised.\n\n\nHere it ends.');
    expect(lines.get('Nobody')).toBe(4);
    expect(lines.get('Here')).toBe(7);
  });
});

describe('a table of contents with leaders', () => {
  const table =
    'Part I. The Sea\n1. Out ......... 3\n2. A long way\n    to go . . . . . . . . 12\n\nix\n3 Home\t____ 40\n';

  it.each([
    ['below its title', `A book.\n\nContents\n\n${table}\n1\n\nIt was dark.\n`, '\n1\n\nIt was dark.\n'],
    [
      'as `pdftotext` writes it',
      `A book.\n\nContents\n1\n\nOut . . . . . 1\n\n2\n\n${['2.1', '2.2', '2.3', '2.4', '2.5', '3', ''].join('\n')}\nHome . . . . . . 2\nAway . . . . . . 3\n\nIt was dark.\n`,
      '\nIt was dark.\n',
    ],
    ['without a title', `A book.\n\n${'Chapter ..... 5\n'.repeat(5)}\nIt was dark.\n`, '\nIt was dark.\n'],
  ])('is left out, at the same line: %s', async (_, written, rest) => {
    const spoken = `A book.\n${rest}`;
    for (const source of [wordsSource(written), pipe([written]), pipe(cutInto(60, written))]) {
      const { text, lines, notes } = await read(source);
      expect(text.replace(/\n+/gu, '\n')).toBe(spoken.replace(/\n+/gu, '\n'));
      expect(lines.get('dark.')).toBe(written.trim().split('\n').length);
      expect(notes).toEqual(['left out: the table of contents; --all reads it']);
    }
    expect((await read(wordsSource(written), true)).text).toBe(written);
  });

  it.each([
    ['a menu', 'Soup ....... 5\nBread ....... 2\nPie ....... 9\nCake ....... 6\nTea ....... 3'],
    ['a short menu', 'Soup ....... 5\nBread ....... 7\nPie ....... 9'],
    ['a sentence', 'Contents\n\nThere were many.\n\nHe waited....... 12\nmen came.'],
  ])('is not %s', async (_, written) => {
    expect(await textOf(written)).toBe(written);
  });
});

const LONG =
  'The lamps were lit early that night, and nobody had counted them since the old keeper of the harbour went away to the north, where his sister lived.';

describe('one paragraph on each line', () => {
  it('has borders at its lines, with headings of their own', async () => {
    const spoken = await textOf(`${LONG}\nChapter 2\n${LONG}\n“No.”\n“Yes.”\n${LONG}`);
    expect(spoken).toBe(`${LONG}¶\nChapter 2¶\n${LONG}¶\n“No.”¶\n“Yes.”¶\n${LONG}`);
  });

  it.each([
    ['a list between paragraphs', `${LONG}\n\n- one\n- two\n\n${LONG}`],
    ['paragraphs with empty lines', `${LONG}\n\n${LONG}\nSigned\n\n${LONG}\n\n${LONG}`],
    ['a wrapped text with a long line', `${`${LONG.slice(0, 70)}\n`.repeat(9)}${LONG}`],
    ['a log', `${'2026-01-02 10:00:01 [INFO] a=1 b=2 /var/log/x.log '.repeat(4)}\n`.repeat(4)],
  ])('is not what is seen in %s', async (_what, text) => {
    expect(await textOf(text)).toBe(text);
  });
});

/** Pages as `pdftotext` writes them. */
const page = (number: number, text: string) => `THE OLD LIGHTHOUSE\n\n${text}\n\n${number}\n\n\f`;

describe('the numbers of lines in a poem', () => {
  const stanza = (from: number) =>
    [1, 2, 3, 4, 5]
      .map((line) => `The ship went on and on${line === 5 ? `,      ${from + 4}` : ' again'}\n`)
      .join('');

  it('are not read where each fifth line has one', async () => {
    const poem = `${stanza(1)}\n${stanza(6)}\n${stanza(11)}`;
    expect(await textOf(poem)).toBe(poem.replace(/ {6}\d+/g, ''));
  });

  it.each([
    [
      'a table',
      'Two cups of flour     10\nOne large egg     15\nA pinch of salt     20\nHalf a litre of milk     25\n',
    ],
    ['one line', `${stanza(1)}\nAnd nothing more was seen of it.\n`],
    [
      'sentences',
      'He came in the year\nof our Lord 1805 and\nleft again after the\nwinter of 1810 and then\nhe stayed away.\n',
    ],
  ])('are not those of %s', async (_, text) => {
    expect(await textOf(text)).toBe(text);
  });
});

describe('pages', () => {
  const text = [
    page(11, 'He went down to the harbour, and there he'),
    page(12, 'saw the ship that had been be-'),
    page(13, 'fore the storm a proud one.'),
    page(14, 'Nobody spoke.'),
  ].join('');

  it('have no running heads and no page numbers, and paragraphs go on over them', async () => {
    const { text: spoken, lines } = await read(wordsSource(text));
    expect(spoken.replace(/\n{2,}/gu, '\n\n').trim()).toBe(
      'He went down to the harbour, and there he\nsaw the ship that had been before\nthe storm a proud one.\n\nNobody spoke.',
    );
    expect(lines.get('Nobody')).toBe(text.slice(0, text.indexOf('Nobody')).split('\n').length);
  });

  const body = (number: number) => `The day of number ${number} began, and it was warm.`;

  it.each<[where: string, page: (number: number) => string]>([
    ['a head below the number', (number) => `${number}\n\nTHE OLD LIGHTHOUSE\n\n${body(number)}\n\n`],
    ['a foot above the number', (number) => `${body(number)}\n\nwww.example.com\n\n${number}\n\n`],
    [
      'what a browser prints',
      (number) =>
        `11/28/26, 5:00 PM\n\nThe Old Lighthouse\n\n${body(number)}\n\nwww.example.com\n\n${number}/6\n\n`,
    ],
  ])('have no running heads and feet of several lines: %s', async (_where, pageOf) => {
    const all = [1, 2, 3, 4, 5, 6];
    const spoken = await textOf(`\f${all.map((number) => `${pageOf(number)}\f`).join('')}`);
    expect(spoken.trim().split(/\s*\n\s*/u)).toEqual(all.map(body));
  });

  it('keep a line of text that comes again on some pages', async () => {
    const all = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((number) => (number % 3 === 1 ? 'No.' : body(number)));
    const spoken = await textOf(all.map((text, index) => page(index + 1, text)).join(''));
    expect(spoken.match(/No\./gu)).toHaveLength(4);
    expect(spoken).not.toContain('LIGHTHOUSE');
  });

  it('of a pipe lose their heads when they are known', async () => {
    const { text: spoken } = await read(pipe([text]));
    expect(spoken).not.toContain('12');
    expect(spoken.match(/LIGHTHOUSE/gu)).toBeNull();
  });

  it('that are chapters keep their headings', async () => {
    const chapters = [1, 2, 3, 4]
      .map((number) => `Chapter ${number}\n\nThe day of number ${number} began.`)
      .join('\n\f');
    expect((await textOf(chapters)).replaceAll('\f', '').replace(/\n+/gu, '\n')).toBe(
      chapters.replaceAll('\f', '').replace(/\n+/gu, '\n'),
    );
  });
});

/** The text, with "§" and the line for a change of scene. */
async function readScenes(pieces: readonly string[]): Promise<string> {
  const all: string[] = [];
  const reading = await plain(pipe(pieces), signal);
  for await (const piece of reading.pieces(signal)) {
    if (piece.kind === 'text') all.push(piece.text);
    if (piece.kind === 'scene') all.push('§');
  }
  return all.join('');
}

describe('a change of scene in plain text', () => {
  it.each([
    ['A\n\n* * *\n\nB', 'A\n\n§\n\nB'],
    ['A\n***\nB', 'A\n§\nB'],
    ['A\n  *   *  * * \nB', 'A\n§\nB'],
    ['A\n---\nB\n- - -', 'A\n§\nB\n§'],
    ['⁂\nA\n⁂ ⁂\n', '§\nA\n§\n'],
    ['---', '§'],
    ['---\n***\n', '§\n§\n'],
    ...[
      'A\n* * * B',
      'A * * *\nB',
      'A\n--\nB',
      'A\n* *\nB',
      'A\n-*-\nB',
      '- one\n- two',
      '* one\n* two\n\n\n',
      '  \n\n',
    ].map((text) => [text, text]),
    [`${'-'.repeat(3000)}\nA`, '§\nA'],
  ])('%j, cut at any place', async (text, expected) => {
    expect(await readScenes([text])).toBe(expected);
    expect(hasScene(text)).toBe(expected.includes('§'));
    if (text.length > 100) return;
    expect(await readScenes([...text])).toBe(expected);
    for (let at = 1; at < text.length; at += 1)
      expect(await readScenes([text.slice(0, at), text.slice(at)]), `cut at ${at}`).toBe(expected);
  });
});
