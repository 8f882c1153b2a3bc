/** Recognises the kind of a document by its first bytes or the ending of its name. */
import { usageError } from '../kit/error.ts';
import { SSML } from '../kit/hints.ts';
import { shellQuoted } from '../kit/words.ts';
import { INPUT_KINDS, type InputKind } from './reading.ts';

/** Bytes needed to recognise: a byte order mark, a PDF, an archive's first file, HTML, and HTML after a comment. */
const [MARK_BYTES, PDF_BYTES, BOOK_BYTES, HTML_BYTES, COMMENTED_BYTES] = [3, 5, 286, 64, 1024] as const;

const HTML =
  /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--(?:(?!-->).)*-->\s*)*<(?:!doctype\s+html|html)[\s>]/is;
/** A fragment of HTML, as it comes through a pipe. */
const PART =
  /^\s*<(?:head|body|title|meta|main|article|section|div|p|h[1-6]|table|ul|ol|dl|blockquote)[\s>]/iu;
const SUBTITLES =
  /^(?:\s{0,9}(?:\d{1,7}\s{0,9}\n)?\s{0,9}(?:\d{1,3}:)?\d{1,2}:\d\d[,.]\d{1,3} {0,5}-->|WEBVTT(?:\s|$)|\[Script Info\])/;
/** An incomplete beginning of subtitles, TeX or a notebook. */
const MAYBE_WRITTEN =
  /^(?:\d+\r?(?:\n[\d:,]{0,12}[ >-]{0,4})?|W(?:E(?:BVT?)?)?|\\[a-z]{0,13}|\s*\{\s*(?:"[a-z]{0,8}"?\s*)?)$/u;
const LONGEST_BEGINNING = 64;

/** @returns the number of bytes needed to recognise the kind */
export function leastBytes(start: Uint8Array): number {
  const text = latin1(start, LONGEST_BEGINNING);
  if (text.startsWith('%')) return PDF_BYTES;
  if (text.startsWith('PK')) return BOOK_BYTES;
  if (text.startsWith('<')) return text.startsWith('<!--') ? COMMENTED_BYTES : HTML_BYTES;
  return start.length < LONGEST_BEGINNING && MAYBE_WRITTEN.test(text) ? start.length + 1 : MARK_BYTES;
}

/** @returns enough bytes to recognise the kind */
export async function headOf(bytes: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let head: Uint8Array = new Uint8Array();
  while (head.length < leastBytes(head)) {
    const { done, value } = await bytes.next();
    if (done) break;
    head = head.length === 0 ? value : Buffer.concat([head, value]);
  }
  return head;
}

function beginsLikeHtml(start: Uint8Array): boolean {
  return isHtml(start) || PART.test(latin1(start, HTML_BYTES));
}

/** Recognises SubRip, with or without the number of the first cue, WebVTT and ASS, in UTF-8 or UTF-16. */
function beginsLikeSubtitles(start: Uint8Array): boolean {
  return SUBTITLES.test(
    latin1(start, COMMENTED_BYTES).replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)|\0/g, ''),
  );
}

function isHtml(start: Uint8Array): boolean {
  return HTML.test(latin1(start, COMMENTED_BYTES));
}

/** An EPUB's first file is uncompressed and names the media type (OCF 3.3, section 4.3). */
function isEpub(start: Uint8Array): boolean {
  return /^PK.{28}mimetypeapplication\/epub\+zip/s.test(latin1(start, BOOK_BYTES));
}

/** Recognises an Office document by the archive's first file. Which program wrote it is stated further inside. */
function isDocx(start: Uint8Array): boolean {
  return /^PK.{28}(?:\[Content_Types\]\.xml|_rels\/|docProps\/|word\/)/s.test(latin1(start, BOOK_BYTES));
}

/** Recognises a FictionBook, also in an archive, as most are shared. */
function isFictionBook(start: Uint8Array): boolean {
  if (isZip(start)) return /\.fb2$/i.test(nameOfFirst(start));
  return /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<FictionBook\b/.test(latin1(start, COMMENTED_BYTES));
}

export function isZip(start: Uint8Array): boolean {
  return latin1(start, 4) === 'PK\x03\x04';
}

/** Returns the name of an archive's first file (APPNOTE, section 4.3.7). */
function nameOfFirst(start: Uint8Array): string {
  if (start.length < 30) return '';
  const length = Buffer.from(start.subarray(0, 28)).readUInt16LE(26);
  return latin1(start, 30 + length).slice(30);
}

function isPdf(start: Uint8Array): boolean {
  return latin1(start, 5) === '%PDF-';
}

interface Kind {
  /** Endings of names, in lower case. */
  readonly endings: readonly string[];
  /** True if a document of this kind begins like this; it is then refused as plain text. */
  readonly is?: (start: Uint8Array) => boolean;
  /** True if a text of unknown kind should be read as this kind; by default, `is` decides. */
  readonly looks?: (start: Uint8Array) => boolean;
  readonly what?: string;
}

const KINDS: Readonly<Record<InputKind, Kind>> = {
  text: { endings: ['.txt', '.text'] },
  markdown: { endings: ['.md', '.markdown', '.mdown', '.mkdn', '.mkd', '.mdwn', '.mdx'] },
  html: { endings: ['.html', '.htm', '.xhtml', '.xht'], is: isHtml, looks: beginsLikeHtml, what: 'HTML' },
  epub: { endings: ['.epub'], is: isEpub, what: 'an EPUB' },
  docx: { endings: ['.docx', '.docm', '.dotx'], is: isDocx, what: 'a Word document' },
  fb2: { endings: ['.fb2', '.fb2.zip', '.fbz'], is: isFictionBook, what: 'a FictionBook' },
  pdf: { endings: ['.pdf'], is: isPdf, what: 'a PDF' },
  subtitles: {
    endings: ['.srt', '.vtt', '.ass', '.ssa'],
    is: beginsLikeSubtitles,
    what: 'a subtitle file',
  },
};

export function kindOfName(name: string): InputKind | undefined {
  const inLowerCase = name.toLowerCase();
  return INPUT_KINDS.find((kind) => KINDS[kind].endings.some((ending) => inLowerCase.endsWith(ending)));
}

/** @returns the kind that the bytes begin like, or else text */
export function kindOfBytes(start: Uint8Array): InputKind {
  return INPUT_KINDS.find((kind) => (KINDS[kind].looks ?? KINDS[kind].is)?.(start)) ?? 'text';
}

/**
 * Refuses documents that are not plain text.
 * @param name of the text, for errors
 * @param kindName the name whose ending may tell the kind
 * @throws TtsError (usage) for bytes that begin like such a document
 */
export function assertNoDocument(start: Uint8Array, name: string, kindName = name): void {
  const kind = INPUT_KINDS.find((each) => KINDS[each].is?.(start)) ?? kindOfName(kindName);
  const { what } = KINDS[kind ?? 'text'];
  if (what !== undefined)
    throw usageError(`${name} is not text: it is ${what}`, `leave --format out, or give --format ${kind}`);
  const hex = Buffer.from(start.subarray(0, LOOKED_AT)).toString('hex');
  const text = latin1(start, COMMENTED_BYTES).replace(/^\xef\xbb\xbf/u, '');
  const document = DOCUMENTS.find(
    ({ bytes, begins, ending }) => bytes?.test(hex) || begins?.test(text) || ending?.test(kindName),
  );
  const file = name === 'stdin' ? 'FILE' : shellQuoted(name);
  if (document) throw usageError(`${name} is not text: it is ${document.what}`, document.hint(file));
}

function latin1(start: Uint8Array, length: number): string {
  return Buffer.from(start.subarray(0, length)).toString('latin1');
}

interface Document {
  /** Matches the first bytes in hexadecimal. */
  readonly bytes?: RegExp;
  readonly begins?: RegExp;
  readonly ending?: RegExp;
  readonly what: string;
  /** @param file its shell-quoted name */
  readonly hint: (file: string) => string;
}

/** The placeholder in hints that a run's command line replaces by its output. */
export const OUTPUT = '-o OUT';

function pandoc(format: string): Document['hint'] {
  return (file) =>
    `convert it to Markdown first: \`pandoc -f ${format} -t gfm --wrap=none ${file} | tts --format markdown ${OUTPUT}\``;
}

const DOCUMENTS: readonly Document[] = [
  { bytes: /^7b5c727466/u, what: 'an RTF document', hint: pandoc('rtf') },
  {
    bytes: /^d0cf11e0a1b11ae1/u,
    what: 'an old Word document (.doc), or one that is locked with a password',
    hint: () => 'open it in Word or LibreOffice, and save it as .docx, without a password',
  },
  { bytes: /^504b0304/u, what: 'a zip file, as .odt is', hint: pandoc('odt') },
  {
    bytes: /^1f8b/u,
    what: 'packed',
    hint: (file) => `unpack it first: \`gunzip -c ${file} | tts ${OUTPUT}\``,
  },
  {
    bytes: /^.{120}424f4f4b4d4f4249/u,
    ending: /\.(?:mobi|azw\d?|kfx)$/iu,
    what: 'a book for Kindle (MOBI or AZW)',
    hint: (file) =>
      `convert it to EPUB first: \`ebook-convert ${file} book.epub && tts -f book.epub ${OUTPUT}\``,
  },
  {
    bytes: /^(?:89504e470d0a1a0a|ffd8ff|47494638(?:37|39)61|52494646.{8}57454250)/u,
    what: 'a picture',
    hint: (file) => `find the words in it first: \`tesseract ${file} - | tts ${OUTPUT}\``,
  },
  {
    bytes: /^(?:52494646.{8}57415645|4f67675300|664c614300|4944330[2-4])/u,
    what: 'sound',
    hint: () => 'name a file that holds text',
  },
  {
    begins: /^\s*(?:<\?xml[^>]*>\s*)?<speak[\s>]/u,
    ending: /\.ssml$/iu,
    what: 'SSML',
    hint: (file) =>
      `take its text: \`sed 's/<[^>]*>//g' ${file} | tts ${OUTPUT}\`; ${SSML}, in place of its tags`,
  },
  {
    begins: /^(?:\s|%[^\n]*\n)*\\(?:documentclass|documentstyle|begin\{document\})/u,
    ending: /\.(?:tex|latex|ltx)$/iu,
    what: 'a TeX document',
    hint: pandoc('latex'),
  },
  {
    begins: /^= \S[^\n]*\r?\n(?:[^\n]+\r?\n)?:[\w-]+:/u,
    ending: /\.(?:adoc|asciidoc)$/iu,
    what: 'an AsciiDoc document',
    hint: (file) =>
      `convert it to Markdown first: \`asciidoctor -b docbook -o - ${file} | pandoc -f docbook -t gfm --wrap=none | tts --format markdown ${OUTPUT}\``,
  },
  {
    begins: /^(?:[.']\\"|\.(?:TH|Dd|so) )/u,
    what: 'the source of a manual page',
    hint: (file) => `let \`man\` print it: \`man -l ${file} | tts ${OUTPUT}\``,
  },
  {
    begins: /^\s*\{\s*"(?:cells|nbformat)"\s*:/u,
    ending: /\.ipynb$/iu,
    what: 'a notebook',
    hint: pandoc('ipynb'),
  },
];

/** Bytes needed to recognise a kind of document. */
export const LOOKED_AT = 68;
