import { usageError } from '../kit/error.ts';
import { documentOf } from '../kit/hints.ts';
import { shellQuoted } from '../kit/words.ts';

/** Bytes that are looked at: of a byte order mark, of the first file of an EPUB, of HTML without and behind a comment. */
const [MARK_BYTES, BOOK_BYTES, HTML_BYTES, COMMENTED_BYTES] = [3, 58, 64, 1024] as const;

const HTML = /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html)[\s>]/is;
/** HTML without its head, as it comes through a pipe. */
const PART =
  /^\s*<(?:head|body|title|meta|main|article|section|div|p|h[1-6]|table|ul|ol|dl|blockquote)[\s>]/iu;
/** The beginning of subtitles, TeX or a notebook that is not complete. */
const MAYBE_WRITTEN =
  /^(?:\d+\r?(?:\n[\d:,]{0,12}[ >-]{0,4})?|W(?:E(?:BVT?)?)?|\\[a-z]{0,13}|\s*\{\s*(?:"[a-z]{0,8}"?\s*)?)$/u;
const LONGEST_BEGINNING = 64;

/** @returns the number of bytes that tell the kind of a text */
export function leastBytes(start: Uint8Array): number {
  const text = latin1(start, LONGEST_BEGINNING);
  if (text.startsWith('PK')) return BOOK_BYTES;
  if (text.startsWith('<')) return text.startsWith('<!--') ? COMMENTED_BYTES : HTML_BYTES;
  return start.length < LONGEST_BEGINNING && MAYBE_WRITTEN.test(text) ? start.length + 1 : MARK_BYTES;
}

export function beginsLikeHtml(start: Uint8Array): boolean {
  return isHtml(start) || PART.test(latin1(start, HTML_BYTES));
}

function isHtml(start: Uint8Array): boolean {
  return HTML.test(latin1(start, COMMENTED_BYTES));
}

/** The first file of an EPUB is not packed, and says what the archive is (OCF 3.3, section 4.3). */
export function isEpub(start: Uint8Array): boolean {
  return /^PK.{28}mimetypeapplication\/epub\+zip/s.test(latin1(start, BOOK_BYTES));
}

/**
 * @param name of the text, for errors
 * @param kindName the name whose ending may tell the kind
 * @throws TtsError (usage) for bytes that begin as a document that is no text
 */
export function assertNoDocument(start: Uint8Array, name: string, kindName = name): void {
  if (isHtml(start) || /\.x?html?$/i.test(kindName))
    throw usageError(`${name} is not text: it is HTML`, 'leave --format out, or give --format html');
  const document = documentOf(start.subarray(0, COMMENTED_BYTES), kindName);
  const file = name === 'stdin' ? 'FILE' : shellQuoted(name);
  if (document) throw usageError(`${name} is not text: it is ${document.what}`, document.hint(file));
}

function latin1(start: Uint8Array, length: number): string {
  return Buffer.from(start.subarray(0, length)).toString('latin1');
}
