import { type TtsError, usageError } from '../kit/error.ts';
import { documentOf } from '../kit/hints.ts';
import { shellQuoted, withoutEscapes } from '../kit/words.ts';
import { breaksOff, type Stage, through } from '../text/stage.ts';

export interface Encoding {
  /** It is the length of the byte order mark in bytes. */
  readonly mark: number;
  /** @throws TypeError for invalid bytes and an incomplete last character */
  decode(bytes: Uint8Array): string;
  /** Bytes of an incomplete last character. */
  tornTail(bytes: Uint8Array): number;
  /** It gives the index of the first invalid byte or NUL, or -1. */
  firstBad(bytes: Uint8Array): number;
}

const LONGEST_MARK = 3;

/** Unicode Standard, section 23.8. */
function detectEncoding(start: Uint8Array): Encoding {
  const [a, b, c] = start;
  if (a === 0xff && b === 0xfe) return utf16('utf-16le');
  if (a === 0xfe && b === 0xff) return utf16('utf-16be');
  return utf8(a === 0xef && b === 0xbb && c === 0xbf ? 3 : 0);
}

const REPLACEMENT = '\ufffd';

function utf8(mark: number): Encoding {
  const { decode, lenient } = decoders('utf-8');
  return {
    mark,
    decode,
    tornTail(bytes) {
      for (let length = 1; length <= Math.min(3, bytes.length); length += 1) {
        const byte = bytes[bytes.length - length] ?? 0;
        if (byte >= 0xc0) return length < utf8Length(byte) ? length : 0;
        if (byte < 0x80) return 0;
      }
      return 0;
    },
    firstBad(bytes) {
      let offset = 0;
      for (const character of lenient(bytes)) {
        const isReal = bytes[offset] === 0xef && bytes[offset + 1] === 0xbf && bytes[offset + 2] === 0xbd;
        if (character === '\0' || (character === REPLACEMENT && !isReal)) return offset;
        offset += Buffer.byteLength(character);
      }
      return -1;
    },
  };
}

/** It gives the bytes of the character, or 1 for a byte that begins none (RFC 3629, section 4). */
function utf8Length(firstByte: number): number {
  if (firstByte < 0xc2 || firstByte > 0xf4) return 1;
  if (firstByte >= 0xf0) return 4;
  return firstByte >= 0xe0 ? 3 : 2;
}

function utf16(label: 'utf-16le' | 'utf-16be'): Encoding {
  const { decode, lenient } = decoders(label);
  const high = label === 'utf-16le' ? 1 : 0;
  const unit = (bytes: Uint8Array, at: number) =>
    ((bytes[at + high] ?? 0) << 8) | (bytes[at + 1 - high] ?? 0);
  return {
    mark: 2,
    decode,
    tornTail(bytes) {
      const odd = bytes.length % 2;
      const last = bytes.length - odd - 2;
      return last >= 0 && (unit(bytes, last) & 0xfc00) === 0xd800 ? odd + 2 : odd;
    },
    firstBad(bytes) {
      const text = lenient(bytes);
      for (let at = 0; at < text.length; at += 1) {
        const character = text[at];
        const isReal = unit(bytes, at * 2) === 0xfffd;
        if (character === '\0' || (character === REPLACEMENT && !isReal)) return at * 2;
      }
      return -1;
    },
  };
}

function decoders(label: string) {
  const strict = new TextDecoder(label, { fatal: true, ignoreBOM: true });
  const lax = new TextDecoder(label, { ignoreBOM: true });
  return {
    decode: (bytes: Uint8Array) => strict.decode(bytes),
    lenient: (bytes: Uint8Array) => lax.decode(bytes),
  };
}

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
  const file = name === 'stdin' ? 'FILE' : shellQuoted(name);
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

/**
 * UTF-8, or UTF-16 with a byte order mark. CRLF becomes LF.
 * @param name a file or "stdin", for errors
 * @throws TtsError (usage) with the offset of the first byte that is not text, or with the kind of document
 */
export function decode(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  return through(bytes, new Decoder(name));
}

/** Reads a file that is not text to be spoken: the ending of its name says nothing of what it holds. */
export function decodeAnyName(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  return through(bytes, new Decoder(name, ''));
}

export class Decoder implements Stage<Uint8Array, string> {
  readonly #name: string;
  readonly #kindName: string;
  #encoding: Encoding | undefined;
  /** The bytes of an incomplete character, or of a text whose kind is not known yet. */
  #torn: Uint8Array = new Uint8Array();
  /** Bytes in front of them. */
  #offset = 0;
  /** A carriage return that a line feed may follow. */
  #held = '';

  /** @param kindName the name whose ending may tell the kind of document */
  constructor(name: string, kindName = name) {
    this.#name = name;
    this.#kindName = kindName;
  }

  *push(piece: Uint8Array): Generator<string> {
    this.#torn = this.#torn.length === 0 ? piece : Buffer.concat([this.#torn, piece]);
    if (!this.#encoding && this.#torn.length < leastBytes(this.#torn)) return;
    const encoding = this.#begin();
    yield* this.#read(encoding, this.#torn.length - encoding.tornTail(this.#torn));
  }

  *end(): Generator<string> {
    const encoding = this.#begin();
    yield* this.#read(encoding, this.#torn.length);
    if (this.#held !== '') yield this.#held;
  }

  #begin(): Encoding {
    if (this.#encoding) return this.#encoding;
    assertNoDocument(this.#torn, this.#name, this.#kindName);
    this.#encoding = detectEncoding(this.#torn);
    this.#offset = this.#encoding.mark;
    this.#torn = this.#torn.subarray(this.#offset);
    return this.#encoding;
  }

  /** What stands in front of a bad byte is given out before the error. */
  *#read(encoding: Encoding, length: number): Generator<string> {
    try {
      yield* this.#lines(this.#take(encoding, length));
    } catch (error) {
      const bytes = this.#torn.subarray(0, length);
      yield* this.#lines(encoding.decode(bytes.subarray(0, Math.max(0, encoding.firstBad(bytes)))));
      throw breaksOff(error as Error, 'damaged');
    }
  }

  #take(encoding: Encoding, length: number): string {
    const bytes = this.#torn.subarray(0, length);
    const text = decodeWhole(bytes, { encoding, offset: this.#offset, name: this.#name });
    this.#torn = this.#torn.slice(length);
    this.#offset += length;
    return text;
  }

  *#lines(characters: string): Generator<string> {
    const text = this.#held + characters;
    this.#held = text.endsWith('\r') ? '\r' : '';
    const whole = text.slice(0, text.length - this.#held.length).replaceAll('\r\n', '\n');
    if (whole !== '') yield whole;
  }
}

/**
 * Line ends stay.
 * @throws TtsError (usage)
 */
export function decodeAll(bytes: Uint8Array, name: string): string {
  const encoding = detectEncoding(bytes);
  const offset = encoding.mark;
  return decodeWhole(bytes.subarray(offset), { encoding, offset, name });
}

/** What is known of bytes that are to be decoded. */
interface Encoded {
  readonly encoding: Encoding;
  /** Bytes of the whole input in front of these. */
  readonly offset: number;
  readonly name: string;
}

function decodeWhole(bytes: Uint8Array, encoded: Encoded): string {
  try {
    const text = encoded.encoding.decode(bytes);
    if (!text.includes('\0')) return text;
  } catch (cause) {
    throw notText(bytes, encoded, cause);
  }
  throw notText(bytes, encoded);
}

function notText(bytes: Uint8Array, { encoding, offset, name }: Encoded, cause?: unknown): TtsError {
  const at = encoding.firstBad(bytes);
  const byte = (bytes[at] ?? 0).toString(16).padStart(2, '0');
  return usageError(
    `${name} is not text: byte 0x${byte} at offset ${offset + at}`,
    howToConvert(bytes, at, encoding),
    cause,
  );
}

const CONVERT = 'convert it to UTF-8 first, for example with `iconv -f WINDOWS-1252 -t UTF-8`';

function howToConvert(bytes: Uint8Array, at: number, { mark, tornTail }: Encoding): string {
  if (mark === 2) return 'the byte order mark says UTF-16, but the file is damaged or cut off';
  if (at + tornTail(bytes) === bytes.length)
    return `it ends within a character: if it is not cut off, ${CONVERT}`;
  if (bytes[at] !== 0) return CONVERT;
  const everySecond = bytes[at + 2] === 0 && bytes[at + 1] !== 0;
  if (!everySecond) return 'it looks like a binary file: give text in UTF-8';
  const label = at % 2 === 1 ? 'UTF-16LE' : 'UTF-16BE';
  return `it looks like UTF-16 without a byte order mark: try \`iconv -f ${label} -t UTF-8\``;
}

/** UTF-16 units of a sequence that may wait for its end. */
const LONGEST_SEQUENCE = 1024;

/** A sequence at the end that is not complete (ECMA-48, section 5). */
const INCOMPLETE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /(?:(?:\x1b[P\]X^_k]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*\x1b?|(?:\x1b\[|\x9b)[ -?]*|\x1b[ -/]*)$/;

/** Tab, line ends and page ends are not among them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROLS = /[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]/g;

/** Takes control sequences out, such as those of a coloured log. The result does not depend on the pieces. */
export class Controls implements Stage<string, string> {
  #held = '';

  *push(text: string): Generator<string> {
    const all = this.#held + text;
    this.#held = incompleteEnd(all);
    const clean = cleaned(all.slice(0, all.length - this.#held.length));
    if (clean !== '') yield clean;
  }

  *end(): Generator<string> {
    if (this.#held !== '') yield cleaned(this.#held);
  }
}

function incompleteEnd(text: string): string {
  const tail = text.slice(-LONGEST_SEQUENCE);
  const at = tail.search(INCOMPLETE);
  return at < 0 ? '' : tail.slice(at);
}

export function hasControls(text: string): boolean {
  return text.search(CONTROLS) >= 0;
}

function cleaned(text: string): string {
  return !hasControls(text) ? text : withoutEscapes(text).replace(CONTROLS, '');
}
