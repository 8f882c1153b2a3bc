import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { chapterRows, chapterTemplate } from '../../src/batch/split.ts';
import { readTable, type TableKind } from '../../src/batch/table.ts';
import { unreadInRows } from '../../src/cli/missing-text.ts';
import { Secrets } from '../../src/cli/notices.ts';
import { normalise } from '../../src/engines/normalise.ts';
import { passages } from '../../src/engines/passages.ts';
import { styleOf } from '../../src/engines/style.ts';
import { Drops } from '../../src/kit/drops.ts';
import { messageIn } from '../../src/kit/http/answer.ts';
import { chained, singleItem } from '../../src/kit/wait.ts';
import { printable, withoutEscapes } from '../../src/kit/words.ts';
import { describedValue, readBaseUrl } from '../../src/options/kinds.ts';
import { Unspoken } from '../../src/read/assistant.ts';
import { readCues } from '../../src/read/cue-files.ts';
import { openCues } from '../../src/read/cues.ts';
import { Controls } from '../../src/read/decode.ts';
import { openDocx } from '../../src/read/docx.ts';
import { resolved } from '../../src/read/epub-package.ts';
import { openFb2 } from '../../src/read/fb2.ts';
import { kindOfBytes } from '../../src/read/first-bytes.ts';
import { markupBook, plainBook } from '../../src/read/gutenberg.ts';
import { openHtml, Page } from '../../src/read/html.ts';
import { GrowingMarkdown } from '../../src/read/markdown.ts';
import { chaptersIn } from '../../src/read/pdf.ts';
import { openPlain } from '../../src/read/plain.ts';
import { prose } from '../../src/read/prose.ts';
import { TextFacts } from '../../src/read/prose-facts.ts';
import { wordsSource } from '../../src/read/source.ts';
import { withSpans } from '../../src/read/spans.ts';
import { texWords } from '../../src/read/tex.ts';
import { plainText, treeOf } from '../../src/read/xml-tree.ts';
import { Answers } from '../../src/run/conversation.ts';
import { tagsIn } from '../../src/run/overlays.ts';
import { timedCues } from '../../src/run/subtitles.ts';
import { readWav } from '../../src/sound/wav.ts';
import { HeadingChapters, PageChapters, UntitledChapters } from '../../src/text/chapters.ts';
import { Cutter } from '../../src/text/cut.ts';
import { Dialogue } from '../../src/text/dialogue.ts';
import { numbersInWords } from '../../src/text/in-words.ts';
import { Languages } from '../../src/text/languages.ts';
import { Replacing, readLexicons } from '../../src/text/lexicon.ts';
import { Marks } from '../../src/text/marks.ts';
import type { Piece, TextPiece } from '../../src/text/piece.ts';
import { alignedIn } from '../../src/text/places.ts';
import { inTurn, type Stage, WAITS } from '../../src/text/stage.ts';
import { zipOf } from '../support/zip.ts';
import { plainWav, sound } from './sound/wav-builder.ts';
import { inTime, segments } from './text/pieces.ts';

const { signal } = new AbortController();
const words = readLexicons([{ source: 'gif = jif\nDr. Who = the doctor', name: 'a.txt' }]);
const patterns = readLexicons([{ source: 'gif = jif\nre:/(\\d+)km/ = $1 kilometres', name: 'b.txt' }]);
const secrets = new Secrets();
secrets.hide('a-secret-of-twenty-one');

async function filmOf(text: string): Promise<void> {
  const bytes = () => singleItem(Buffer.from(text));
  const source = { name: 'film', bytes };
  const reading = await openCues(source, { isTimed: true, speaksSounds: false }, signal);
  await drain(reading.pieces(signal));
}

/** Lets a stop drop what a pipe has said and no voice has taken. */
async function dropped(messages: string): Promise<void> {
  const bytes = () => singleItem(Buffer.from(`${messages}{"stop":true}\n`));
  const answers = new Answers({ name: '-', bytes });
  const drops = new Drops();
  answers.divide(drops);
  const stopped = new Promise<void>((resolve) => drops.listen(resolve));
  await answers.source.bytes(signal)[Symbol.asyncIterator]().next();
  await stopped;
}

/** Looks in the text of a row for words that the built-in voice leaves out. */
async function readRow(text: string): Promise<void> {
  const role = { speaker: { voice: { source: { kind: 'built-in' } } } };
  const started = { type: 'started', part: { segment: { text, role } } } as never;
  await unreadInRows({} as never)('row 1').on(started);
}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

/** UTF-16 units: a pipe gives as few at once. */
const SMALL_PIECE = 1024;

function push(text: string, stage: Stage<string, unknown>, size = SMALL_PIECE): void {
  for (let at = 0; at < text.length; at += size) for (const _ of stage.push(text.slice(at, at + size)));
  for (const _ of stage.end());
}

/** Characters as a reader without rules gives them out. */
function asText(): Stage<string, TextPiece> {
  const place = { source: '' };
  return { push: (text) => [{ kind: 'text', text, place }], end: () => [] };
}

const after = (stage: Stage<Piece, unknown>) => inTurn(asText(), stage as Stage<TextPiece, unknown>);
const languages = () =>
  new Languages({
    named: ['de', 'ru', 'el', 'ja', 'zh'].map((code) => ({ key: code, code })),
    usual: 'en',
    meantBy: (tag) => tag,
  });
const segmenter = (): Stage<Piece<never>, unknown> =>
  new Cutter({ voice: { maxChars: 1000 } as never, pace: 'full' });
const markdown = () => new GrowingMarkdown({ code: 'read', footnotes: 'read', math: 'read' }, '');

const PAGE = { code: 'read', speaksReadings: true, readsNotes: true, readsAll: false } as const;

async function readDocx(body: string, styles = ''): Promise<void> {
  const text = `<w:document><w:body>${body}</w:body></w:document>`;
  const files = [
    { name: 'word/document.xml', data: text },
    { name: 'word/styles.xml', data: `<styles>${styles}</styles>` },
  ];
  const bytes = () => singleItem(zipOf(files));
  const source = { name: 'a.docx', bytes };
  await drain((await openDocx(source, PAGE, signal)).pieces(signal));
}

/** Many styles are based on one that has many elements. */
function readStyles(count: number): Promise<void> {
  const based = Array.from(
    { length: count },
    (_, at) => `<style styleId="s${at}"><basedOn val="a"/></style>`,
  );
  const large = `<style styleId="a">${'<b/>'.repeat(count)}</style>`;
  return readDocx('<p><r><t>Hello.</t></r></p>', large + based.join(''));
}

async function readFb2(body: string): Promise<void> {
  const { words, ...source } = wordsSource(`<FictionBook><body>${body}</body></FictionBook>`);
  await drain((await openFb2(source, PAGE, signal)).pieces(signal));
}

async function readHtml(html: string): Promise<void> {
  const { bytes, ...source } = wordsSource(html);
  const file = { ...source, bytes, words: undefined, again: bytes };
  const reading = await openHtml(
    file as never,
    { code: 'read', speaksReadings: true, readsNotes: true, readsAll: false },
    signal,
  );
  await drain(reading.pieces(signal));
}

function texInWords(tex: string): void {
  texWords(tex, 'read');
}

function readMarkedHtml(html: string): void {
  const marks = new Marks({ source: '' });
  const languageMark: Marks['languageMark'] = (...said) => marks.languageMark(...said);
  const page = new Page('', { speaksReadings: true, readsNotes: true } as never, { languageMark });
  push(html, inTurn(page, inTurn(marks.place(), languages())));
}

async function readPlain(text: string): Promise<void> {
  const { bytes, ...source } = wordsSource(text);
  const file = { ...source, bytes, words: undefined, again: bytes };
  const reading = await openPlain(
    file as never,
    { readsAll: false, hasChapters: true, readsNotes: false },
    signal,
  );
  await drain(reading.pieces(signal));
}

function readMarks(text: string, reader: Stage<string, Piece> = asText()): void {
  const marks = new Marks({ source: '' });
  push(text, inTurn(inTurn(marks.lift(), reader), marks.place()));
}

function readLive(text: string, stage: Stage<string, unknown>): void {
  for (let at = 0; at < text.length; at += SMALL_PIECE) {
    for (const _ of stage.push(text.slice(at, at + SMALL_PIECE)));
    for (const _ of stage.flush?.(WAITS.doubtful) ?? []);
  }
  for (const _ of stage.end());
}

function readTableOf(text: string, kind: TableKind): Promise<void> {
  return drain(readTable(singleItem(text), kind, 'a')).catch((error) => {
    if (error.name !== 'TtsError') throw error;
  });
}

function readLexicon(source: string): void {
  try {
    readLexicons([{ source, name: 'c.txt' }]);
  } catch (error) {
    if ((error as Error).name !== 'TtsError') throw error;
  }
}

function readChunks(count: number, chunk: Buffer): Promise<void> {
  const wav = plainWav(sound(200));
  const body = [wav.subarray(0, 36), ...Array(count).fill(chunk), wav.subarray(36)];
  return readWav(Readable.from([Buffer.concat(body)])).then(({ pcm }) => drain(pcm));
}

async function nameChapters(titles: readonly string[]): Promise<void> {
  const chapters = titles.map((title, at) => ({ title, number: at + 1 }));
  await drain(chapterRows(chapters, 'Book', chapterTemplate('{title}.mp3')));
}

/** Does work of some size. */
type Work = (size: number) => unknown;

const many = (unit: string, work: (text: string) => unknown, [before, behind] = ['', '']): Work => {
  return (size) => work(before + unit.repeat(size / unit.length) + behind);
};
const numbered = (line: (number: number) => string, work: (text: string) => unknown): Work => {
  return (size) =>
    work(Array.from({ length: size / line(size).length }, (_, number) => line(number)).join(''));
};

/** What took time in the square of its size in some version, or is written so that it might. */
const HOSTILE: Readonly<Record<string, Work>> = {
  'question marks in a link of a book': many('?', (href) => resolved('a/b.opf', `${href}\nx`)),
  'steps in a link of a book': many('../', (href) => resolved('a/b.opf', `${href}x`)),
  'elements of a package file': many('<dc:a b:c="d">e</dc:a>', (xml) => treeOf(xml, 'a.opf')),
  'text of a package file': many(' \n', (xml) => plainText(treeOf(`<a>${xml}x</a>`, 'a.opf'))),
  'comments in front of a page': many('<!---->', (text) => kindOfBytes(Buffer.from(text))),
  'signs in a link of a page': many('#', readHtml, ['<p id="a">Hi <a href="', '\n">x</a></p>']),
  'white space in an attribute': many(' ', readHtml, ['<p style="', 'x">Hi</p>']),
  'blocks of a page, all named': many('<p class="comment share related nav">Hi ', readHtml),
  'blocks of a page inside each other': many(
    `${'<div class="related">'.repeat(400)}${'</div>'.repeat(400)}`,
    readHtml,
  ),
  'links of a page': many('<div><a href="x">Another page</a></div>', readHtml, [
    `<p>${'Prose. '.repeat(99)}</p>`,
    '',
  ]),
  'names of a class': many('foot ', readHtml, ['<p class="', 'x">Hi</p>']),
  'references to one note': many('W<a href="#n"><sup>1</sup></a> ', readHtml, [
    '<p>',
    `</p><p id="n">1 ${'long note '.repeat(1500)}</p>`,
  ]),
  'notes of a page': numbered(
    (at) => `<p id="n${at}">${at} Note <a href="#r${at}">^</a> <a id="r${at}" href="#n${at}">${at}</a></p>`,
    readHtml,
  ),
  'roots of a formula in TeX': many('\\sqrt[', texInWords, ['x', 'y']),
  'beginnings in a formula in TeX': many('\\begin{', texInWords, ['x', 'y']),
  'blanks behind a power in TeX': many(' ', texInWords, ['x^', 'y']),
  'cells of a page': many('<td>x', readHtml, ['<table><tr>', '']),
  'articles and forms of a page': many('<article>x<form>y</form></article>', readHtml),
  'raised letters of a page': many('<sup>x</sup>', readHtml),
  'zeros in the name of a page': many('0', readHtml, ['<p>x<a id="page', 'q">1</a>']),
  'brackets after the number of a page': many(')', readHtml, ['<a id="page1">1', 'x</a>']),
  'full stops after the name of a speaker': many('.', readHtml, ['<b role="persona">x', 'x</b>']),
  'line breaks in a heading of a page': many('<br>', readHtml, ['<h1>', 'x</h1>']),
  'blanks in a heading of a page': many(' \n', readHtml, ['<h1>x', 'x</h1>']),
  'entities of a page': many('&;#', readHtml),
  'tags that stay open': many('<a ', readHtml),
  'self-closed scripts of a page': many('<script/>x', readHtml),
  'beginnings of scripts in a page': many('<s <script ', readHtml),
  'a self-closed script in front of a page': many('x ', readHtml, ['<script/>', '']),
  'paragraphs of a Word document': many('<w:p><w:r><w:t>Hi. </w:t></w:r></w:p>', readDocx),
  'runs of a Word document': many('<w:r><w:t>a</w:t></w:r>', readDocx, ['<w:p>', '</w:p>']),
  'notes of a Word document': many('<w:r><w:footnoteReference w:id="2"/></w:r>', readDocx, [
    '<w:p>',
    '</w:p>',
  ]),
  'sections of a FictionBook': many('<section><title><p>I</p></title><p>a</p></section>', readFb2),
  'lines of a title of a FictionBook': many('<p>a</p>', readFb2, ['<title>', '</title>']),
  'white space in a title of a FictionBook': many(' ', readFb2, ['<title><p>a', 'x</p></title>']),
  'signs of a FictionBook': many('&lt;', readFb2, ['<p>', '</p>']),
  'an outline of one page of a PDF': numbered(
    (at) => `line ${at}\n`,
    (text) => {
      const titles = text.split('\n').map((title) => ({ title: `no ${title}`, level: 1, page: 1 }));
      chaptersIn(text.repeat(4), titles);
    },
  ),
  'pages of a PDF': many('line\f', (text) => chaptersIn(text, [{ title: 'line', level: 1, page: 9 }])),
  'sentences of a document': many('<p>One two.</p>', (text) => {
    const count = text.length / 15;
    withSpans(
      text,
      Array.from({ length: count }, (_, at) => ({ written: 'One two.', at: at * 15 })),
      '',
    );
  }),
  'sentences that a document does not have': many('<p>One two.</p>', (text) => {
    const count = text.length / 15;
    withSpans(
      text,
      Array.from({ length: count }, (_, at) => ({ written: 'Three four.', at: at * 15 })),
      '',
    );
  }),
  'sentences of one block of a document': many('One two. ', (text) => {
    const sentences = Array.from({ length: text.length / 18 }, () => [
      { written: 'One two.', at: 0 },
      { written: 'Three four.', at: 0 },
    ]);
    withSpans(text, sentences.flat(), '');
  }),
  'notes of a document that are read elsewhere': many(
    '<p class="footnote">One two.</p> ',
    (text) => {
      const count = text.length / 33;
      const sentences = ['One two.', 'Three four.'].flatMap((written) =>
        Array.from({ length: count }, () => ({ written, at: 0 })),
      );
      withSpans(text, sentences, '');
    },
    ['<p>Five.</p>', ''],
  ),
  'notes of Markdown': numbered(
    (at) => `x\n\n[^${at}]: y\n\n`,
    (text) => push(text, markdown()),
  ),
  'references of Markdown to one note': many('x[^1] ', (text) => push(text, markdown()), [
    '',
    `\n\n[^1]: ${'long note '.repeat(800)}`,
  ]),
  'powers in a heading of Markdown': many('a<sup>2</sup>', (text) => push(text, markdown()), ['# ', '']),
  'white space in a heading of Markdown': many(' ', (text) => push(text, markdown()), ['# 中', '中']),
  'brackets in an item of Markdown': many('[', (text) => push(text, markdown()), ['- ', '']),
  'cells of Markdown': many('|x', (text) => push(text, markdown()), ['|a|b|\n|-|-|\n', '|']),
  'blanks in a line of Org mode in Markdown': many(' ', (text) =>
    push(`#+END_${'A'.repeat(text.length)}${text}\u2028.`, markdown()),
  ),
  'signs of notes in Markdown': many('[[{{<%#a ^b #+', (text) => push(text, markdown())),
  'properties in Markdown': many('(a:: ^b\n', (text) => push(text, markdown())),
  'formulas of Markdown': many('$x', (text) => push(text, markdown())),
  'quotes of Markdown': many('> ', (text) => push(text, markdown())),
  'definitions of Markdown': many('a\n: b\n\n    c\n', (text) => push(text, markdown())),
  'definitions of Markdown in each other': many(': ', (text) => push(text, markdown()), ['a\n', 'b']),
  'Markdown that grows': many('a **b', (text) => readLive(text, markdown())),
  'lines without an end, as an assistant writes': many('a', (text) =>
    push(text, new Unspoken(), text.length),
  ),
  'emoji, as an assistant writes': many('😀', (text) => push(text, new Unspoken()), ['', 'x']),
  'digits, as an assistant writes': many('1', (text) => push(text, new Unspoken(), text.length)),
  'thoughts of an assistant': many('<think>x</think>', (text) => push(text, new Unspoken(), text.length)),
  'blocks that an assistant leaves open': many('```json\n', (text) => push(text, new Unspoken())),
  'a call, as an assistant writes': many('{"a": [1, 2]},\n', (text) => push(text, new Unspoken(), 64), [
    '```json\n',
    '',
  ]),
  'tildes, as an assistant writes': many('~', (text) => push(text, new Unspoken(), text.length)),
  'blanks in code, as an assistant writes': many(' ', (text) => {
    const stage = new Unspoken();
    for (const part of ['~~~\n', `${text}x`]) push(part, stage, part.length + 1);
  }),
  'bars of progress, as an assistant writes': many('#', (text) => push(text, new Unspoken(), text.length), [
    '',
    ' x'.repeat(99),
  ]),
  'escape sequences': many('\u001b]', (text) => push(text, new Controls())),
  'white space in front of a name': many(' ', (text) =>
    push(text, after(new Dialogue(['A', '*'], () => {})), 16),
  ),
  'names of a dialogue': many('A: x\n', (text) => push(text, after(new Dialogue(['A', '*'], () => {})))),
  'a text in many scripts': many('a б α 中 か. ', (text) => push(text, after(languages()))),
  'lines that languages wait for': many('Ja.\n\n', (text) => push(text, after(languages()), 16)),
  'a sentence without an end, for languages': many('ab ', (text) => push(text, after(languages()), 16)),
  'white space between paragraphs, for languages': many(' ', (text) => push(text, after(languages())), [
    'x\n',
    'x',
  ]),
  'marks of languages in a page': many('<i lang="de">x</i>', readMarkedHtml),
  'marks in a text': many('[pause:1s]x[', readMarks),
  'backslashes in front of a mark': many('\\', readMarks, ['', '[pause]']),
  'marks at the end of a heading': many('[pause]', (text) => readMarks(text, markdown()), [
    '# x',
    'x[pause]',
  ]),
  'lines of a lexicon': numbered((at) => `word${at} = w\n`, readLexicon),
  'brackets in a line of a lexicon': many('re:/[[[[[[[[/ = x\n', readLexicon),
  'spellings of a word in a lexicon': numbered(
    (at) => `${[...at.toString(2).padStart(16, '0')].map((bit) => 'aA'[Number(bit)]).join('')} = b /c\n`,
    readLexicon,
  ),
  'words that a lexicon replaces': many('gif Dr. ', (text) => push(text, after(new Replacing(words)))),
  'lines without words for a lexicon': many('\n', (text) => push(text, after(new Replacing(patterns)))),
  'form feeds, with voices': many(
    '\f',
    (text) =>
      push(
        text,
        after(inTurn(new PageChapters({ hasLaterPages: true }), segmenter() as Stage<Piece, unknown>)),
      ),
    ['Hello. ', ''],
  ),
  'form feeds in prose': many('1\f', readPlain),
  'lines of signs, without titles': many('*\n', (text) =>
    push(text, after(inTurn(new PageChapters({ hasLaterPages: true }), new UntitledChapters()))),
  ),
  'marks in a heading, without titles': many(
    '[pause]',
    (text) => {
      const marks = new Marks({ source: '' });
      const titles = inTurn(new HeadingChapters(), new UntitledChapters());
      push(text, inTurn(inTurn(marks.lift(), markdown()), inTurn(marks.place(), titles)));
    },
    ['# x', 'x'],
  ),
  'carriage returns in a text': many('\r', readPlain, ['Hello.', 'x']),
  'carriage returns in a header of Project Gutenberg': many('\r', readPlain, ['Project Gutenberg\n', 'x']),
  'white space in prose': many(' ', readPlain, [`${'x'.repeat(200)}\n`, 'x']),
  'hyphens in prose': many('a-   \n', readPlain),
  'italics in prose': many('_a ', readPlain),
  'white space between words': many(' ', (text) => push(text, after(segmenter()), 16), ['x', 'x']),
  'combining marks': many('\u0301', (text) => push(text, after(segmenter())), ['x', 'x']),
  'quotes that stay open': many('"a', (text) =>
    drain(segments(singleItem(text), { maxChars: 1000, pace: 'full' })),
  ),
  'abbreviations, sentence by sentence': many('Dr. ', (text) =>
    drain(segments(singleItem(text), { maxChars: 1000, pace: 'sentence' })),
  ),
  ...Object.fromEntries(
    [
      '1',
      '1,',
      '1.',
      '$1',
      "1'",
      '"5',
      'a.',
      'a@',
      'a-',
      '2*',
      '5 ',
      '1_',
      '1:',
      '_',
      'Mon-',
      '² ',
      '°',
      ':/',
    ].map((unit) => [`${unit} for the built-in voice`, many(unit, (text) => normalise(text))]),
  ),
  ...Object.fromEntries(
    ['1', '1,', '1.', '1 ', '1-', '+1 ', '$1', '1:', '1/', '1a', 'X', 'Paul X ', '½', '1 a', 'May 1 '].map(
      (unit) => [`${unit} for a voice that gets words`, many(unit, (text) => numbersInWords(text, 'en'))],
    ),
  ),
  'products of Markdown': many('2*', (text) => push(text, markdown())),
  'signs for the built-in voice': many('€½&', (text) => drain(passages(text, normalise, signal))),
  instructions: many('slow ', styleOf),
  ...Object.fromEntries(
    ['<', '<!--', '<script ', '<title', '<title></title '].map((sign) => [
      `"${sign}" of an answer in HTML`,
      many(sign, (text) => messageIn(Buffer.from(`<p>${text}`))),
    ]),
  ),
  'control characters of a message': many('\u001b;#', printable),
  'a sequence without an end': many(';#', withoutEscapes, ['\u001b', '']),
  'addresses in a wrong value of a config file': many('://', describedValue),
  'slashes in a base URL': many('/', readBaseUrl, ['http://x/', 'x']),
  'letters of a word for the built-in voice': many('a', readRow),
  'beginnings of a key': many('a-secret-', (text) => secrets.redact(text)),
  'equal titles': (size) => nameChapters(Array(size / 8).fill('Same title')),
  'titles that are numbered already': (size) =>
    nameChapters(Array.from({ length: size / 8 }, (_, at) => (at % 2 ? 'A' : `A (${at})`))),
  'columns of a table': numbered(
    (at) => `c${at},`,
    (text) => readTableOf(`${text}x\n${text}x\n`, 'csv'),
  ),
  'tabs behind the delimiter of a table': many('\t', (text) => readTableOf(text, 'csv'), ['sep=', 'x']),
  'empty rows above a table': many(';\n', (text) => readTableOf(text, 'csv')),
  'quotes of a table': many('""', (text) => readTableOf(`a\n"${text}`, 'csv')),
  'bars of a table': many('|', (text) => readTableOf(text, 'psv')),
  'objects of a table': many('{"a":', (text) => readTableOf(text, 'jsonl')),
  'cues of a film': many('1\n00:00:01,000 --> 00:00:01,000\nand\n\n', filmOf),
  'cues of WebVTT': many('00:01.000 --> 00:01.000\na\n', filmOf, ['WEBVTT\n\n', '']),
  'lines of a cue': many('[a\n', readCues, ['00:00:01,000 --> 00:00:02,000\n', '']),
  'lines of captions that roll': (size) => {
    const lines = (from: number) => Array.from({ length: size / 8 }, (_, at) => from + at).join('\n');
    readCues(
      `WEBVTT\n\n00:01.000 --> 00:02.000\n<00:01.500><c>a</c>\n${lines(1e6)}\n\n00:02.000 --> 00:03.000\n${lines(2e6)}`,
    );
  },
  'fields of a script': (size) => {
    const fields = Array.from({ length: size / 8 }, (_, at) => `field${at}`);
    readCues(`[Events]\nFormat: ${fields},Start,End,Text\n${'Dialogue: 0\n'.repeat(size / 4)}`);
  },
  'styles of a Word document': (size) => readStyles(size / 32),
  'names in a document of a book': numbered(
    (at) => (at === 0 ? '"tts-' : `"tts${at}-`),
    (text) => withSpans(text, [], ''),
  ),
  'items of a package file that do not end': many('<item ', (text) =>
    tagsIn(`<manifest></manifest><metadata></metadata>${text}`, 'item'),
  ),
  'events of a script': many('Dialogue: 0,0:00:01.00,0:00:02.00,,,,,,,{\\i1}a\n', filmOf, ['[Events]\n', '']),
  ...Object.fromEntries(
    ['<', '<c', '{\\', '&', '[', '(A', '.', '♪ ', '> ', '- '].map((sign) => [
      `"${sign}" of a cue`,
      many(sign, (text) => readCues(`00:00:01,000 --> 00:00:02,000\n${text}`)),
    ]),
  ),
  'words of one cue': many('a ', (text) => timedCues({ text, start: 0, end: 44_100 }, 44_100)),
  'a word of many cues': many('a', (text) => timedCues({ text, start: 0, end: 44_100_000 }, 44_100)),
  'a long segment in its Markdown': many('word ', (text) => alignedIn(`*a* ${text}`, `a ${text}`, 0)),
  'pieces in front of the rest of a source': (size) => drain(chained(Array.from({ length: 4 * size }))),
  'messages of a conversation that a stop drops': (size) => dropped('{"text":"a"}\n'.repeat(size)),
  'chunks of a WAV': (size) => readChunks(size / 8, Buffer.from('junk\0\0\0\0', 'latin1')),
  'beginnings of a WAV in its sound': async (size) => {
    const body = Buffer.concat([plainWav(sound(200)).subarray(0, 44), Buffer.from('RIFF'.repeat(size / 4))]);
    body.writeUInt32LE(0xffff_ffff, 40);
    const pieces = Array.from({ length: body.length / 64 }, (_, at) => body.subarray(at * 64, at * 64 + 64));
    await drain((await readWav(Readable.from(pieces))).pcm);
  },
};

/** The sizes that are tried, each twice the one before. */
const [SMALLEST, LARGEST] = [4096, 65_536] as const;
/** Twice the size takes twice the work; a quadratic step takes four times of it. */
const MOST_GROWTH = 3;
/** Milliseconds of the processor; below them the ratio is noise. */
const MEASURABLE = 50;
/** Below it, work that does not depend on the size hides the rest. */
const CLEAR_GROWTH = 1.5;

async function timeOf(work: Work, size: number): Promise<number> {
  const start = process.cpuUsage();
  await work(size);
  return process.cpuUsage(start).user / 1000;
}

/**
 * How many times longer the double size takes; 0 if that cannot be measured. Some limits count from a size on, so only the
 * largest size decides; a busy machine only adds tries.
 */
async function growth(work: Work): Promise<number> {
  let less = await timeOf(work, SMALLEST);
  let large = less;
  for (let size = 2 * SMALLEST; size <= LARGEST; size *= 2) {
    less = large;
    large = await timeOf(work, size);
    const ratio = large / less;
    if (large >= MEASURABLE && ratio >= CLEAR_GROWTH && ratio < MOST_GROWTH) return ratio;
  }
  for (let tries = 0; tries < 10 && large >= MEASURABLE && large / less >= MOST_GROWTH; tries += 1) {
    large = Math.min(large, await timeOf(work, LARGEST));
    less = Math.min(less, await timeOf(work, LARGEST / 2));
  }
  return large < MEASURABLE ? 0 : large / less;
}

describe('the work', () => {
  it.each(Object.entries(HOSTILE))(
    'on twice the input is less than three times as much: %s',
    async (_name, work) => {
      expect(await growth(work)).toBeLessThan(MOST_GROWTH);
    },
    60_000,
  );
});

const STAGES: Readonly<Record<string, () => Stage<string, unknown>>> = {
  text: () => after(segmenter() as Stage<Piece, unknown>),
  prose: () => prose(new TextFacts(), { hasChapters: true }),
  Markdown: markdown,
  'a web page': () =>
    new Page('a', { code: 'read', speaksReadings: true, readsNotes: true, readsAll: false }),
  'a book of Project Gutenberg': () => after(plainBook(() => {}, { hasChapters: true, readsNotes: false })),
  'a page of Project Gutenberg': () => after(markupBook(() => {})),
  'an assistant': () => new Unspoken(),
  'control sequences': () => new Controls(),
  'a dialogue': () => after(new Dialogue(['A', '*'], () => {})),
  marks: () => new Marks({ source: '' }).lift(),
  'a lexicon of words': () => after(new Replacing(words)),
  'a lexicon of expressions': () => after(new Replacing(patterns)),
  chapters: () => after(inTurn(new PageChapters({ hasLaterPages: true }), new UntitledChapters())),
};
const FEW = ['\u00ad', '\u200b', '\u200d', '\ufeff', '\u0301', ' ', '\n', '\f', '\u2028', ' \u0301', '\\'];
/** UTF-16 units: more than a window of the segmenter. */
const LONG = 17_000;

describe('a text of few characters', () => {
  it.each(Object.entries(STAGES))(
    'comes to its end, alone and among words: %s',
    (_name, stage) => {
      const read = (text: string) => {
        inTime(60, () => push(text, stage(), 4096));
        inTime(60, () => readLive(text.slice(0, 3000), stage()));
      };
      for (const sign of FEW) {
        const few = sign.repeat(LONG / sign.length);
        for (const text of [few, `Hello. ${few} And more.`]) expect(() => read(text)).not.toThrow();
      }
    },
    120_000,
  );
});
