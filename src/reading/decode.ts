import { type TtsError, usageError } from '../error.ts';
import { breaksOff, type Stage, through } from '../text/live.ts';
import { assertNoDocument, leastBytes } from './documents.ts';
import { detectEncoding, type Encoding } from './encoding.ts';

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
