import { usageError } from '../kit/error.ts';
import { documentOf } from '../kit/hints.ts';
import { shellQuoted } from '../kit/words.ts';

/** Bytes that are looked at: of a byte order mark, of the first file of an EPUB, of HTML without and behind a comment. */
const [MARK_BYTES, BOOK_BYTES, HTML_BYTES, COMMENTED_BYTES] = [3, 58, 64, 1024] as const;

const HTML = /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html)[\s>]/is;
/** HTML without its head, as it comes through a pipe. */
const PART =
  /^\s*<(?:head|body|title|meta|main|article|section|div|p|h[1-6]|table|ul|ol|dl|blockquote)[\s>]/iu;
const SUBTITLES =
  /^(?:\s{0,9}(?:\d{1,7}\s{0,9}\n)?\s{0,9}(?:\d{1,3}:)?\d{1,2}:\d\d[,.]\d{1,3} {0,5}-->|WEBVTT(?:\s|$)|\[Script Info\])/;
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

/** SubRip, with or without the number of its first cue, WebVTT, and ASS; in UTF-8 or UTF-16. */
export function beginsLikeSubtitles(start: Uint8Array): boolean {
  return SUBTITLES.test(
    latin1(start, COMMENTED_BYTES).replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)|\0/g, ''),
  );
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
  if (beginsLikeSubtitles(start))
    throw usageError(
      `${name} is not text: it is a file of subtitles`,
      'leave --format out, or give --format subtitles',
    );
  if (document) throw usageError(`${name} is not text: it is ${document.what}`, document.hint(file));
}

function latin1(start: Uint8Array, length: number): string {
  return Buffer.from(start.subarray(0, length)).toString('latin1');
}
