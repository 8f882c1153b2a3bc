import { usageError } from '../error.ts';
import { documentOf } from '../hints.ts';
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
  if (isHtml(start) || /\.x?html?$/i.test(kindName))
    throw usageError(`${name} is not text: it is HTML`, 'leave --format out, or give --format html');
  const document = documentOf(start.subarray(0, COMMENTED_HTML_BYTES), kindName);
  const file = name === 'stdin' ? 'FILE' : `'${name.replaceAll("'", "'\\''")}'`;
  if (document) throw usageError(`${name} is not text: it is ${document.what}`, document.hint(file));
}

/** The beginning of a written document that is not complete. */
const MAYBE_WRITTEN =
  /^(?:\d+\r?(?:\n[\d:,]{0,12}[ >-]{0,4})?|W(?:E(?:BVT?)?)?|\\[a-z]{0,13}|\s*\{\s*(?:"[a-z]{0,8}"?\s*)?)$/u;
const LONGEST_BEGINNING = 64;

const BOOK_BYTES = 58;
const HTML_BYTES = 64;
const COMMENTED_HTML_BYTES = 1024;
const HTML = /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html)[\s>]/is;

const PART =
  /^\s*<(?:head|body|title|meta|main|article|section|div|p|h[1-6]|table|ul|ol|dl|blockquote)[\s>]/iu;
