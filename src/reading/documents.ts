import { usageError } from '../error.ts';
import { LONGEST_MARK } from './encoding.ts';

/** @returns the number of bytes that tell the kind of a document */
export function leastBytes(start: Uint8Array): number {
  if (start[0] === 0x50 && start[1] === 0x4b) return BOOK_BYTES;
  if (start[0] !== 0x3c) return mayBeWritten(start) ? start.length + 1 : LONGEST_MARK;
  const isComment = Buffer.from(start.subarray(0, 4)).equals(Buffer.from('<!--'));
  return isComment ? COMMENTED_HTML_BYTES : HTML_BYTES;
}

function isHtml(start: Uint8Array): boolean {
  return HTML.test(Buffer.from(start.subarray(0, COMMENTED_HTML_BYTES)).toString('latin1'));
}

function mayBeWritten(start: Uint8Array): boolean {
  return start.length < LONGEST_BEGINNING && MAYBE_WRITTEN.test(Buffer.from(start).toString('latin1'));
}

/** True for parts of pages as well, such as come through a pipe. */
export function beginsLikeHtml(start: Uint8Array): boolean {
  return isHtml(start) || PART.test(Buffer.from(start.subarray(0, HTML_BYTES)).toString('latin1'));
}

/** The first file of an EPUB is not packed, and says what the archive is (OCF 3.3, section 4.3). */
export function isEpub(start: Uint8Array): boolean {
  const text = Buffer.from(start.subarray(0, BOOK_BYTES)).toString('latin1');
  return text.startsWith('PK') && text.slice(30).startsWith('mimetypeapplication/epub+zip');
}

/** @throws TtsError (usage) for bytes that begin as another kind of document does */
export function assertNoDocument(start: Uint8Array, name: string, kindName = name): void {
  const kind = documentKind(start, kindName);
  const file = name === 'stdin' ? 'FILE' : `'${name.replaceAll("'", "'\\''")}'`;
  if (kind) throw usageError(`${name} is not text: it is ${kind.what}`, kind.hint(file));
}

interface DocumentKind {
  /** It is the beginning of the file in hexadecimal. */
  readonly signature: RegExp;
  readonly what: string;
  /** @param file its name as a shell takes it */
  readonly hint: (file: string) => string;
}

/** The command line of a run replaces the name of its output. */
export const OUTPUT = '-o OUT';

function pandoc(format: string): (file: string) => string {
  return (file) =>
    `make Markdown of it first: \`pandoc -f ${format} -t gfm --wrap=none ${file} | tts --format markdown ${OUTPUT}\``;
}

const WITHOUT_TIMES = (file: string) =>
  `take its text first: \`grep -vE '^[0-9]+.?$|-->|^WEBVTT' ${file} | tts ${OUTPUT}\``;

const KINDS: readonly DocumentKind[] = [
  {
    signature: /^255044462d/,
    what: 'a PDF',
    hint: (file) => `make text of it first: \`pdftotext ${file} - | tts ${OUTPUT}\``,
  },
  { signature: /^7b5c727466/, what: 'an RTF document', hint: pandoc('rtf') },
  { signature: /^504b0304/, what: 'a zip file, as .docx and .odt are', hint: pandoc('docx') },
  {
    signature: /^1f8b/,
    what: 'packed',
    hint: (file) => `unpack it first: \`gunzip -c ${file} | tts ${OUTPUT}\``,
  },
  {
    signature: /^(?:52494646.{8}57415645|4f67675300|664c614300|4944330[2-4])/,
    what: 'sound',
    hint: () => 'name a file that holds text',
  },
];

/** Formats of text that are known by their first characters, or by the ending of a name. */
const WRITTEN: readonly (Pick<DocumentKind, 'what' | 'hint'> & {
  readonly begins: RegExp;
  readonly ending: RegExp;
})[] = [
  {
    begins: /^\s*(?:<\?xml[^>]*>\s*)?<FictionBook\b/u,
    ending: /\.fb2$/iu,
    what: 'a FictionBook',
    hint: pandoc('fb2'),
  },
  {
    begins: /^(?:\d+\r?\n\d\d:\d\d:\d\d,\d{3} -->|WEBVTT\b)/u,
    ending: /\.(?:srt|vtt)$/iu,
    what: 'a file of subtitles',
    hint: WITHOUT_TIMES,
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
      `make Markdown of it first: \`asciidoctor -b docbook -o - ${file} | pandoc -f docbook -t gfm --wrap=none | tts --format markdown ${OUTPUT}\``,
  },
  {
    begins: /^\s*\{\s*"(?:cells|nbformat)"\s*:/u,
    ending: /\.ipynb$/iu,
    what: 'a notebook',
    hint: pandoc('ipynb'),
  },
];

/** The beginning of one of these that is not complete. */
const MAYBE_WRITTEN =
  /^(?:\d+\r?(?:\n[\d:,]{0,12}[ >-]{0,4})?|W(?:E(?:BVT?)?)?|\\[a-z]{0,13}|\s*\{\s*(?:"[a-z]{0,8}"?\s*)?)$/u;
const LONGEST_BEGINNING = 64;

const LOOKED_AT = 12;

const BOOK_BYTES = 58;
const HTML_BYTES = 64;
const COMMENTED_HTML_BYTES = 1024;
const HTML = /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html)[\s>]/is;

const PART =
  /^\s*<(?:head|body|title|meta|main|article|section|div|p|h[1-6]|table|ul|ol|dl|blockquote)[\s>]/iu;

const HTML_KIND: Omit<DocumentKind, 'signature'> = {
  what: 'HTML',
  hint: () => 'leave --format out, or give --format html',
};

function documentKind(start: Uint8Array, name: string): Omit<DocumentKind, 'signature'> | undefined {
  if (isHtml(start) || /\.x?html?$/i.test(name)) return HTML_KIND;
  const head = Buffer.from(start.subarray(0, LOOKED_AT)).toString('hex');
  const text = Buffer.from(start.subarray(0, COMMENTED_HTML_BYTES))
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/u, '');
  const byBytes = KINDS.find(({ signature }) => signature.test(head));
  return byBytes ?? WRITTEN.find(({ begins, ending }) => begins.test(text) || ending.test(name));
}
