import { usageError } from '../error.ts';
import { LONGEST_MARK } from './encoding.ts';

/** @returns the number of bytes that tell the kind of a document */
export function leastBytes(start: Uint8Array): number {
  if (start[0] === 0x50 && start[1] === 0x4b) return BOOK_BYTES;
  if (start[0] !== 0x3c) return LONGEST_MARK;
  const isComment = Buffer.from(start.subarray(0, 4)).equals(Buffer.from('<!--'));
  return isComment ? COMMENTED_HTML_BYTES : HTML_BYTES;
}

export function isHtml(start: Uint8Array): boolean {
  return HTML.test(Buffer.from(start.subarray(0, COMMENTED_HTML_BYTES)).toString('latin1'));
}

/** The first file of an EPUB is not packed, and says what the archive is (OCF 3.3, section 4.3). */
export function isEpub(start: Uint8Array): boolean {
  const text = Buffer.from(start.subarray(0, BOOK_BYTES)).toString('latin1');
  return text.startsWith('PK') && text.slice(30).startsWith('mimetypeapplication/epub+zip');
}

/** @throws TtsError (usage) for bytes that begin as another kind of document does */
export function assertNoDocument(start: Uint8Array, name: string): void {
  const kind = documentKind(start, name);
  if (kind) throw usageError(`${name} is not text: it is ${kind.what}`, kind.hint);
}

interface DocumentKind {
  /** It is the beginning of the file in hexadecimal. */
  readonly signature: RegExp;
  readonly what: string;
  readonly hint: string;
}

const PANDOC = 'make text of it first, for example with `pandoc -t plain FILE | tts`';

const KINDS: readonly DocumentKind[] = [
  {
    signature: /^255044462d/,
    what: 'a PDF',
    hint: 'make text of it first, for example with `pdftotext FILE - | tts`',
  },
  { signature: /^7b5c727466/, what: 'an RTF document', hint: PANDOC },
  { signature: /^504b0304/, what: 'a zip file, as .docx and .odt are', hint: PANDOC },
  { signature: /^1f8b/, what: 'packed', hint: 'unpack it first: `gunzip -c FILE | tts`' },
  {
    signature: /^(?:52494646.{8}57415645|4f67675300|664c614300|4944330[2-4])/,
    what: 'sound',
    hint: 'name a file that holds text',
  },
];

const LOOKED_AT = 12;

const BOOK_BYTES = 58;
const HTML_BYTES = 64;
const COMMENTED_HTML_BYTES = 1024;
const HTML = /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html)[\s>]/is;

const HTML_KIND: Omit<DocumentKind, 'signature'> = {
  what: 'HTML',
  hint: 'leave --format out, or give --format html',
};

function documentKind(start: Uint8Array, name: string): Omit<DocumentKind, 'signature'> | undefined {
  if (isHtml(start) || /\.x?html?$/i.test(name)) return HTML_KIND;
  const head = Buffer.from(start.subarray(0, LOOKED_AT)).toString('hex');
  return KINDS.find(({ signature }) => signature.test(head));
}
