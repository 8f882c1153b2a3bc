import { describe, expect, it } from 'vitest';
import { readerFor } from '../../../src/read/readers.ts';
import type { InputKind } from '../../../src/read/reading.ts';
import { cutInto, fileOf, PLAIN, pipe, signal, written } from './spoken.ts';

async function read(text: string, kind: InputKind, { readsAll = false, size = text.length } = {}) {
  const remarks = new Set<string>();
  const reader = readerFor('', kind, { ...PLAIN, readsAll, hasChapters: true });
  const reading = await reader(pipe(cutInto(size, text)), signal);
  const read = reading.pieces(signal, { onRemark: (remark) => remarks.add(remark) });
  const spoken = (await written(read)).trim().replace(/\s*\n\s*\n\s*/gu, '\n\n');
  return { spoken, remarks: [...remarks] };
}

const LICENCE = 'the header and the licence of Project Gutenberg are left out; --all reads them';
const FOOTNOTES = 'left out: the footnotes; --footnotes read reads them';
const NOTES = 'left out: the notes of the transcriber; --all reads them';
const CONTENTS = 'left out: the table of contents; --all reads it';

const TOLD = 'It was a long day on the hill, and nobody came until the evening was over.';

/** What stands between the two lines of Project Gutenberg. */
const TEXTS: readonly (readonly [what: string, book: string, spoken: string, remarks?: readonly string[]])[] =
  [
    [
      'chapters in capitals',
      `CHAPTER I\n\n${TOLD}\n\n\n\nCHAPTER II\n\n${TOLD}`,
      `{2 CHAPTER I}CHAPTER I\n\n${TOLD}\n\n{2 CHAPTER II}CHAPTER II\n\n${TOLD}`,
    ],
    ['a number and its title', `I\n\nTHE HILL\n\n${TOLD}`, `{2 I. THE HILL}I\n\nTHE HILL\n\n${TOLD}`],
    [
      'a title in the line of its number',
      `\n\nChapter 1. The Hill\n\n${TOLD}`,
      `{2 Chapter 1. The Hill}Chapter 1. The Hill\n\n${TOLD}`,
    ],
    [
      'a part above its chapter',
      `\n\nBOOK THE FIRST\n\n\n\nChapter I\n\n${TOLD}`,
      `{1 BOOK THE FIRST. Chapter I}BOOK THE FIRST\n\nChapter I\n\n${TOLD}`,
    ],
    ['a preface', `\n\nPREFACE\n\n${TOLD}`, `{2 PREFACE}PREFACE\n\n${TOLD}`],
    ['a number inside of the text', `${TOLD}\n\n7\n\n${TOLD}`, `${TOLD}\n\n7\n\n${TOLD}`],
    [
      'contents',
      `\nCONTENTS\n\n  I. The Hill ... 3\n  II. The Sea ... 9\n\n\n\n\nI. The Hill\n\n${TOLD}\n\n\n\nII. The Sea\n\n${TOLD}`,
      `{2 I. The Hill}I. The Hill\n\n${TOLD}\n\n{2 II. The Sea}II. The Sea\n\n${TOLD}`,
      [CONTENTS],
    ],
    [
      'contents without numbers',
      `\nContents.\n\n  The Hill\n\n  The Sea\n\n\n\n\nTHE HILL\n\n${TOLD}\n\n\n\nTHE SEA\n\n${TOLD}`,
      `{2 THE HILL}THE HILL\n\n${TOLD}\n\n{2 THE SEA}THE SEA\n\n${TOLD}`,
      [CONTENTS],
    ],
    [
      'contents that the first chapter follows at once',
      `\nCONTENTS\n\nCHAPTER I\nCHAPTER II\n\nCHAPTER I\n\n${TOLD}`,
      `{2 CHAPTER I}CHAPTER I\n\n${TOLD}`,
      [CONTENTS],
    ],
    [
      'contents with a title of two lines',
      `\nCONTENTS\n\nPREFACE\n\nCHAPTER 1. The Hill.\n\nCHAPTER 2. Of the Less Erroneous Pictures of Ships, and the\nTrue Pictures of Storms.\n\nOF WHAT IS SEEN OF THE SEA FROM THE HILL BEHIND THE HOUSE, AND\nOF WHAT IS NOT\n\n\n\n\nCHAPTER 1. The Hill.\n\n${TOLD}\n\n\n\nOF WHAT IS SEEN OF THE SEA FROM THE HILL BEHIND THE HOUSE,\nAND OF WHAT IS NOT\n\n${TOLD}`,
      `{2 CHAPTER 1. The Hill}CHAPTER 1. The Hill.\n\n${TOLD}\n\n{2 OF WHAT IS SEEN OF THE SEA FROM THE HILL BEHIND THE HOUSE, AND OF WHAT IS NOT}OF WHAT IS SEEN OF THE SEA FROM THE HILL BEHIND THE HOUSE,\nAND OF WHAT IS NOT\n\n${TOLD}`,
      [CONTENTS],
    ],
    [
      'titles whose numbers are written otherwise in the contents',
      `\nCONTENTS\n\n  Chapter I      The Hill\n  Chapter II     The Sea\n\n\n\n\nI. The Hill\n\n${TOLD}\n\n\n\nII. The Sea\n\n${TOLD}`,
      `{2 I. The Hill}I. The Hill\n\n${TOLD}\n\n{2 II. The Sea}II. The Sea\n\n${TOLD}`,
      [CONTENTS],
    ],
    [
      'a note behind the contents',
      `\nCONTENTS\n\nI. The Hill\nII. The Sea\n\n\n\nTranscriber's Note:\n\nOld spellings stay.\n\n\n\n\nI. The Hill\n\n${TOLD}`,
      `{2 I. The Hill}I. The Hill\n\n${TOLD}`,
      [CONTENTS, NOTES],
    ],
    [
      'German contents',
      `\nInhalt\n\nDer Berg  3\nDas Meer  9\n\n\n\n\nDer Berg\n\n${TOLD}`,
      `{2 Der Berg}Der Berg\n\n${TOLD}`,
      [CONTENTS],
    ],
    [
      'a paragraph below the word',
      `\nCONTENTS\n\n${TOLD}\n${TOLD}\n${TOLD}`,
      `CONTENTS\n\n${TOLD}\n${TOLD}\n${TOLD}`,
    ],
    [
      "a transcriber's note in brackets",
      `[Transcriber's Note: Old\nspellings stay.]\n\n${TOLD}`,
      TOLD,
      [NOTES],
    ],
    [
      'a note in brackets of several paragraphs',
      `[Transcriber’s Notes:\n\nOld spellings stay.\n\nSo do commas.]\n\n${TOLD}`,
      TOLD,
      [NOTES],
    ],
    ['a note with a title', `Transcriber's Note:\n\nOld spellings stay.\n\n\n\n\n${TOLD}`, TOLD, [NOTES]],
    [
      'a note at the end',
      `${TOLD}\n\n\n\nTranscriber's Notes\n\nOld spellings stay.\n\nSo do commas.`,
      TOLD,
      [NOTES],
    ],
    ['a short note in brackets', `[Transcriber's Note: Old.]\n\n${TOLD}`, TOLD, [NOTES]],
    [
      'footnotes behind their paragraph',
      `The hill[1] was high.[A] [B]y the sea[*] it was not.\n\n[Footnote 1: Ibid.]\n\n[Footnote A: It is\nlow.\n\nVery low.]\n\n${TOLD}`,
      `The hill was high. [B]y the sea it was not.\n\n${TOLD}`,
      [FOOTNOTES],
    ],
    [
      'a long footnote',
      `The hill[1] was high.\n\n[Footnote 1: ${`${TOLD}\n`.repeat(60)}${TOLD}]\n\n${TOLD}`,
      `The hill was high.\n\n${TOLD}`,
      [FOOTNOTES],
    ],
    [
      'footnotes below a title',
      `The hill[1] was high.\n\n\n\nFOOTNOTES:\n\n[1] It is low.\n\nVery low.\n\n[2] Ibid.\n\n\n\n\n${TOLD}`,
      `The hill was high.\n\n${TOLD}`,
      [FOOTNOTES],
    ],
    [
      'a footnote without an end',
      `[Footnote 1: It is low.\n\n${TOLD}\n\n\n\n\nIt was high.`,
      'It was high.',
      [FOOTNOTES],
    ],
    ['numbers of paragraphs', `[1] ${TOLD}\n\n[2] ${TOLD}`, `[1] ${TOLD}\n\n[2] ${TOLD}`],
    [
      'a transcriber in the story',
      `The transcriber's note was lost. ${TOLD}`,
      `The transcriber's note was lost. ${TOLD}`,
    ],
    ['who made it', `Produced by A. Reader and\nothers\n\n${TOLD}`, TOLD],
  ];

describe('plain text of Project Gutenberg', () => {
  it.each(TEXTS)(
    'has its chapters, and no more than the book: %s',
    async (_, book, expected, remarks = []) => {
      const text = `The Project Gutenberg eBook of X\n\nFree.\n\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\n${book}\n\n*** END OF THE PROJECT GUTENBERG EBOOK X ***\n\nTerms.\n`;
      const all = { spoken: expected, remarks: [LICENCE, ...remarks] };
      expect(await read(text, 'text')).toEqual(all);
      expect(await read(text, 'text', { size: 5 })).toEqual(all);
    },
  );

  it.each([
    [
      '**The Project Gutenberg Etext of X**',
      '*END THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*',
    ],
    [
      '***This is the Project Gutenberg Etext of X***',
      '*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*',
    ],
    ['Please take a look at the important information in this header.', '*END*THE SMALL PRINT!*END*'],
  ])('of the 1990s is known: %s', async (first, last) => {
    const text = `${first}\n\nFree.\n\n${last}\n\n${TOLD}\n\nEnd of this Project Gutenberg Etext of X\n`;
    expect(await read(text, 'text')).toEqual({ spoken: TOLD, remarks: [LICENCE] });
  });

  it('keeps the lines of the file', async () => {
    const text = `The Project Gutenberg eBook of X

*** START OF THE PROJECT GUTENBERG EBOOK OF THE OLD\nLIGHTHOUSE ***

Produced by A. Reader and
others

CHAPTER I

${TOLD}
`;
    const reader = readerFor('', 'text', PLAIN);
    const reading = await reader(fileOf(text), signal);
    const lines = [];
    for await (const piece of reading.pieces(signal))
      if (piece.kind === 'text' && piece.text.includes('CHAPTER')) lines.push(piece.place.line);
    expect(lines).toEqual([1 + text.slice(0, text.indexOf('CHAPTER')).split('\n').length - 1]);
  });

  it('may be spoken of', async () => {
    const text = 'The Project Gutenberg is a library.\n\nIt has many books.';
    expect(await read(text, 'text')).toEqual({ spoken: text, remarks: [] });
  });

  it('is read whole with --all, and other text in any case', async () => {
    const text = `CONTENTS\n\nI. The Hill\nII. The Sea\n\n[Transcriber's note: old.]\n\nI. The Hill\n\n${TOLD}`;
    expect(await read(text, 'text')).toEqual({ spoken: text, remarks: [] });
    const book = `The Project Gutenberg eBook of X\n\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\n${text}`;
    expect(await read(book, 'text', { readsAll: true })).toEqual({ spoken: book, remarks: [] });
  });
});

const BODY = `<h2 id="a">The Hill</h2><p>${TOLD}</p>`;
const READ = `{2 The Hill}The Hill.\n\n${TOLD}`;
const LIST = '<p><a href="#a">The Hill</a></p><p><a href="#b">The Sea</a></p>';

const PAGES: readonly (readonly [what: string, book: string, spoken: string, remarks?: readonly string[]])[] =
  [
    [
      'contents in a table',
      `<h2>CONTENTS</h2><table><tr><td>I.</td><td><a href="#a">The Hill</a></td></tr><tr><td>II.</td><td><a href="#b">The Sea</a></td></tr></table>${BODY}`,
      READ,
      [CONTENTS],
    ],
    [
      'contents in a list',
      `<h2>Table of Contents</h2><ul><li><a href="#a">The Hill</a></li><li><a href="#b">The Sea</a></li></ul>${BODY}`,
      READ,
      [CONTENTS],
    ],
    [
      'contents whose title is no heading',
      `<p class="toc"><b>Contents</b></p>${LIST}<hr>${BODY}`,
      READ,
      [CONTENTS],
    ],
    ['a list of pictures', `<h2>ILLUSTRATIONS</h2>${LIST}${BODY}`, READ, [CONTENTS]],
    [
      'one line below the word',
      `<h2>CONTENTS</h2><p>None.</p>${BODY}`,
      `{2 CONTENTS}CONTENTS.\n\nNone.\n\n${READ}`,
    ],
    [
      'a note in a box',
      `<div class="transnote"><p>Transcriber's Note: Old spellings stay.</p></div>${BODY}`,
      READ,
      [NOTES],
    ],
    [
      'a note with a heading',
      `${BODY}<h2>Transcriber's Notes</h2><p>Old spellings stay.</p><ul><li>Page 3: so.</li></ul>`,
      READ,
      [NOTES],
    ],
    [
      'a note in another language',
      `${BODY}<h2>Anmerkungen zur Transkription</h2><p>Alte Schreibweisen.</p>`,
      READ,
      [NOTES],
    ],
    ['who made it', `<p>Produced by A. Reader</p>${BODY}`, READ],
  ];

const FRAMES: readonly (readonly [what: string, before: string, after: string])[] = [
  [
    'lines',
    '<pre>\nThe Project Gutenberg EBook of X\n\n*** START OF THIS PROJECT GUTENBERG EBOOK X ***\n</pre>',
    '<pre>\nEnd of Project Gutenberg’s X\n\n*** END OF THIS PROJECT GUTENBERG EBOOK X ***\n\nTerms.\n</pre><h2>Terms</h2><p>More.</p>',
  ],
  [
    'paragraphs',
    '<p>The Project Gutenberg eBook of X</p><p>Free.</p><h3>*** START OF THE PROJECT GUTENBERG EBOOK X ***</h3>',
    '<h3>*** END OF THE PROJECT GUTENBERG EBOOK X ***</h3><p>Terms.</p>',
  ],
  [
    'elements',
    '<section class="pg-boilerplate pgheader" id="pg-header"><h2>The Project Gutenberg eBook of X</h2><p>Free.</p></section>',
    '<section class="pg-boilerplate" id="pg-footer"><h2>Terms</h2><p>More.</p></section>',
  ],
  [
    'elements of another name',
    '<div id="pg-header"><p>Free.</p></div>',
    '<footer class="pgboilerplate"><p>Terms</p></footer>',
  ],
];

describe('a page of Project Gutenberg', () => {
  const all = FRAMES.flatMap(([frame, before, after]) =>
    PAGES.map(([what, book, spoken, remarks = []]) => ({
      what: `${what}, between ${frame}`,
      page: `<!doctype html><html><head><title>X</title></head><body>${before}${book}${after}</body></html>`,
      expected: { spoken, remarks: [LICENCE, ...remarks] },
    })),
  );
  it.each(all)('is the book: $what', async ({ page, expected }) => {
    expect(await read(page, 'html')).toEqual(expected);
  });

  it('is read whole with --all, and other pages in any case', async () => {
    const page = `<h2>CONTENTS</h2><ul><li>The Hill</li><li>The Sea</li></ul><h2>Transcriber's note</h2><p>Old.</p>`;
    expect((await read(page, 'html')).spoken).toBe(
      "{2 CONTENTS}CONTENTS.\n\nThe Hill.\nThe Sea.\n\n{2 Transcriber's note}Transcriber's note.\n\nOld.",
    );
    const [, before, after] = FRAMES[2] ?? [];
    expect((await read(`${before}${page}${after}`, 'html', { readsAll: true })).spoken).toContain(
      'eBook of X',
    );
  });
});
