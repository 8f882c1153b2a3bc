import { usageError } from '../kit/error.ts';
import { withoutEscapes } from '../kit/words.ts';
import { breaksOff, type Stage, through } from '../text/stage.ts';
import { assertNoDocument, leastBytes } from './first-bytes.ts';

/**
 * Decodes UTF-8, or UTF-16 with a byte order mark. CRLF becomes LF.
 * @param name a file or "stdin", for errors
 * @param kindName the name whose ending may tell the kind of document; empty for what is not text to be spoken
 * @throws TtsError (usage) with the offset of the first byte that is not text, or with the kind of document
 */
export function decode(
  bytes: AsyncIterable<Uint8Array>,
  name: string,
  kindName = name,
): AsyncGenerator<string> {
  return through(bytes, new Decoder(name, kindName));
}

export class Decoder implements Stage<Uint8Array, string> {
  readonly #name: string;
  readonly #kindName: string;
  #encoding: Encoding | undefined;
  /** The bytes of an incomplete character, or all bytes until the kind of the text is known. */
  #torn: Uint8Array = new Uint8Array();
  /** The number of bytes before `#torn`. */
  #offset = 0;
  /** A carriage return that a line feed may follow. */
  #held = '';

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

  /** Yields the text before a bad byte, and then throws. */
  *#read(encoding: Encoding, length: number): Generator<string> {
    try {
      yield* this.#lines(this.#take(encoding, length));
    } catch (error) {
      const bytes = this.#torn.subarray(0, length);
      yield* this.#lines(encoding.decode(bytes.subarray(0, Math.max(0, firstBad(bytes, encoding)))));
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
 * Decodes a whole text. Line ends stay unchanged.
 * @throws TtsError (usage)
 */
export function decodeAll(bytes: Uint8Array, name: string): string {
  const encoding = detectEncoding(bytes);
  const offset = encoding.mark;
  return decodeWhole(bytes.subarray(offset), { encoding, offset, name });
}

/** How to decode some bytes, and where they are in the input. */
interface Encoded {
  readonly encoding: Encoding;
  /** The number of bytes before them in the whole input. */
  readonly offset: number;
  readonly name: string;
}

function decodeWhole(bytes: Uint8Array, { encoding, offset, name }: Encoded): string {
  let cause: unknown;
  try {
    const text = encoding.decode(bytes);
    if (!text.includes('\0')) return text;
  } catch (error) {
    cause = error;
  }
  const at = firstBad(bytes, encoding);
  const byte = (bytes[at] ?? 0).toString(16).padStart(2, '0');
  throw usageError(
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

interface Encoding {
  /** Bytes of the byte order mark, 0 without one. */
  readonly mark: number;
  /** @throws TypeError for invalid bytes and an incomplete last character */
  decode(bytes: Uint8Array): string;
  /** Replaces invalid bytes by U+FFFD. */
  decodeAnyway(bytes: Uint8Array): string;
  /** The bytes of a U+FFFD that the text itself contains. */
  readonly replacement: readonly number[];
  /** Returns the number of bytes of a character. */
  sizeOf(character: string): number;
  /** Returns the number of bytes of an incomplete last character. */
  tornTail(bytes: Uint8Array): number;
}

/** Unicode Standard, section 23.8. */
function detectEncoding(start: Uint8Array): Encoding {
  const [a, b, c] = start;
  if (a === 0xff && b === 0xfe) return utf16('utf-16le');
  if (a === 0xfe && b === 0xff) return utf16('utf-16be');
  return utf8(a === 0xef && b === 0xbb && c === 0xbf ? 3 : 0);
}

function utf8(mark: number): Encoding {
  return {
    mark,
    ...decoders('utf-8'),
    replacement: [0xef, 0xbf, 0xbd],
    sizeOf: (character) => Buffer.byteLength(character),
    tornTail(bytes) {
      for (let length = 1; length <= Math.min(3, bytes.length); length += 1) {
        const byte = bytes[bytes.length - length] ?? 0;
        if (byte >= 0xc0) return length < utf8Length(byte) ? length : 0;
        if (byte < 0x80) return 0;
      }
      return 0;
    },
  };
}

/** @returns the length of the character in bytes, or 1 if the byte cannot begin one (RFC 3629, section 4) */
function utf8Length(firstByte: number): number {
  if (firstByte < 0xc2 || firstByte > 0xf4) return 1;
  if (firstByte >= 0xf0) return 4;
  return firstByte >= 0xe0 ? 3 : 2;
}

function utf16(label: 'utf-16le' | 'utf-16be'): Encoding {
  const high = label === 'utf-16le' ? 1 : 0;
  return {
    mark: 2,
    ...decoders(label),
    replacement: high === 1 ? [0xfd, 0xff] : [0xff, 0xfd],
    sizeOf: (character) => 2 * character.length,
    tornTail(bytes) {
      const odd = bytes.length % 2;
      const last = bytes[bytes.length - odd - 2 + high] ?? 0;
      return (last & 0xfc) === 0xd8 ? odd + 2 : odd;
    },
  };
}

function decoders(label: string): Pick<Encoding, 'decode' | 'decodeAnyway'> {
  const strict = new TextDecoder(label, { fatal: true, ignoreBOM: true });
  const lax = new TextDecoder(label, { ignoreBOM: true });
  return { decode: (bytes) => strict.decode(bytes), decodeAnyway: (bytes) => lax.decode(bytes) };
}

const REPLACEMENT = '\ufffd';

/** @returns the index of the first invalid byte or NUL, or -1 */
function firstBad(bytes: Uint8Array, { decodeAnyway, replacement, sizeOf }: Encoding): number {
  let at = 0;
  for (const character of decodeAnyway(bytes)) {
    const isReal = replacement.every((byte, index) => bytes[at + index] === byte);
    if (character === '\0' || (character === REPLACEMENT && !isReal)) return at;
    at += sizeOf(character);
  }
  return -1;
}

/** UTF-16 units. A longer incomplete sequence is not awaited. */
const LONGEST_SEQUENCE = 1024;

/** An incomplete control sequence at the end (ECMA-48, section 5). */
const INCOMPLETE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /(?:(?:\x1b[P\]X^_k]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*\x1b?|(?:\x1b\[|\x9b)[ -?]*|\x1b[ -/]*)$/;

/** What is struck over: `man` prints bold as "N", backspace, "N", and underlines as "_", backspace, "N". */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const STRUCK = /_\x08|(?<=(.))\x08\1/gu;
/** The end of a text that what follows may strike over. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const STRIKABLE = /[^\n\x08]?\x08?$/u;
/** UTF-16 units. */
const LONGEST_STRIKABLE = 3;

/** Control characters except backspace, tab, line ends and page ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROLS = /[\0-\x07\x0e-\x1f\x7f-\x84\x86-\x9f]/g;

/**
 * Removes control sequences, such as the colours of a log, and what is struck over. The result does not depend on how the
 * text is split into pieces, unless one ends right before the first backspace.
 */
export class Controls implements Stage<string, string> {
  #held = '';
  /** True once a backspace has come: others may follow. */
  #isStruck = false;
  /** What the next characters may strike over. */
  #last = '';

  *push(text: string): Generator<string> {
    const all = this.#held + text;
    this.#held = incompleteEnd(all);
    const clean = this.#unstruck(cleaned(all.slice(0, all.length - this.#held.length)));
    if (clean !== '') yield clean;
  }

  *end(): Generator<string> {
    const all = this.#last + cleaned(this.#held);
    if (all !== '') yield all.replaceAll('\b', '');
  }

  #unstruck(text: string): string {
    this.#isStruck ||= text.includes('\b');
    if (!this.#isStruck) return text;
    const all = (this.#last + text).replace(STRUCK, '');
    this.#last = STRIKABLE.exec(all.slice(-LONGEST_STRIKABLE))?.[0] ?? '';
    return all.slice(0, all.length - this.#last.length).replaceAll('\b', '');
  }
}

function incompleteEnd(text: string): string {
  const tail = text.slice(-LONGEST_SEQUENCE);
  const at = tail.search(INCOMPLETE);
  return at < 0 ? '' : tail.slice(at);
}

export function hasControls(text: string): boolean {
  return text.search(CONTROLS) >= 0 || text.includes('\b');
}

function cleaned(text: string): string {
  return !hasControls(text) ? text : withoutEscapes(text).replace(CONTROLS, '');
}
