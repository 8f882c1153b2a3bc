import { isAscii } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { usageError } from '../kit/error.ts';
import type { Stage } from '../text/stage.ts';

/** Bytes that are looked at before the encoding is chosen. */
const LOOKED_AT = 64 * 1024;
/** What an unnamed encoding is where the bytes are not UTF-8. */
const LAST_RESORT = 'windows-1252';
/** Valid sequences of UTF-8 for each damaged one, where the document names another encoding. */
const PROOF = 4;
/** Characters of text for each zero between them. A binary file has more zeros. */
const FEWEST_PER_ZERO = 1000;
/** Encodings in which a byte below 0x80 means the same as in ASCII, if none from 0x80 on stands before it. */
const ASCII_SUPERSETS = /^(?!iso-2022|utf-16)/;
const REPLACEMENT = '\ufffd';

/**
 * Bytes of a document to its characters. The bytes themselves prove UTF-8, whatever the document says of them; otherwise they
 * are in the encoding that it names. A sequence that is damaged becomes U+FFFD.
 */
export class MarkupDecoder implements Stage<Uint8Array, string> {
  readonly #name: string;
  #head: Uint8Array = new Uint8Array();
  /** What the head says; it is known once the head is whole. */
  #named: string | undefined;
  #decoder: TextDecoder | undefined;
  /** The number of sequences of bytes that were replaced. */
  damaged = 0;

  constructor(name: string) {
    this.#name = name;
  }

  *push(piece: Uint8Array): Generator<string> {
    if (this.#decoder) return yield* this.#text(this.#characters(piece, false));
    this.#head = this.#head.length === 0 ? piece : Buffer.concat([this.#head, piece]);
    if (this.#head.length >= LOOKED_AT) yield* this.#begin();
  }

  *end(): Generator<string> {
    if (!this.#decoder) yield* this.#begin(true);
    yield* this.#text(this.#characters(new Uint8Array(), true));
  }

  /** Nothing is chosen yet where all is ASCII so far. */
  *#begin(isLast = false): Generator<string> {
    const head = this.#head;
    this.#head = new Uint8Array();
    this.#named ??= encodingNamedIn(head);
    const isOpen = ASCII_SUPERSETS.test(this.#named) && isAscii(head);
    if (!isOpen || isLast) this.#decoder = new TextDecoder(chosen(this.#named, head, isLast));
    yield* this.#text(
      isOpen && !isLast ? Buffer.from(head).toString('latin1') : this.#characters(head, false),
    );
  }

  /** @throws TtsError (usage) for bytes that are not text. A stray zero is left out, as browsers do. */
  *#text(text: string): Generator<string> {
    const zeros = text.includes('\0') ? text.split('\0').length - 1 : 0;
    if (zeros > text.length / FEWEST_PER_ZERO)
      throw usageError(
        `${this.#name} is not text: it holds the byte 0x00`,
        'check that it is the right file',
      );
    if (text !== '') yield zeros === 0 ? text : text.replaceAll('\0', '');
  }

  #characters(bytes: Uint8Array, isLast: boolean): string {
    const text = this.#decoder?.decode(bytes, { stream: !isLast }) ?? '';
    this.damaged += replacedIn(text, bytes);
    return text;
  }
}

/** @returns what a byte order mark, an XML declaration or a `meta` element says; otherwise `utf-8` */
function encodingNamedIn(head: Uint8Array): string {
  const [a, b, c, d] = head;
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  if (a === 0x3c && b === 0 && d === 0) return 'utf-16le';
  if (a === 0 && b === 0x3c && c === 0) return 'utf-16be';
  const text = Buffer.from(head.subarray(0, LOOKED_AT)).toString('latin1');
  const named =
    /^(?:ï»¿)?\s{0,100}<\?xml[^<>]{0,200}?\sencoding\s{0,9}=\s{0,9}["']([\w.:-]{1,50})/i.exec(text) ??
    /<meta\b[^<>]{0,500}?\bcharset\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]{1,50})/i.exec(text);
  const label = canonical(named?.[1] ?? 'utf-8');
  // A document whose bytes could be read so far is not in UTF-16, whatever it says.
  return label === undefined || label.startsWith('utf-16') ? 'utf-8' : label;
}

/** @returns `undefined` for an encoding that is not known */
function canonical(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

/** @param isWhole false for bytes that may end inside of a character */
function chosen(named: string, bytes: Uint8Array, isWhole: boolean): string {
  if (!ASCII_SUPERSETS.test(named)) return named;
  const text = new TextDecoder().decode(bytes, { stream: !isWhole });
  const damaged = replacedIn(text, bytes);
  // Most documents.
  if (named === 'utf-8' && damaged === 0) return named;
  const valid = text.replace(/[\0-\x7f]+/gu, '').length - damaged;
  if (named === 'utf-8') return valid >= damaged ? named : LAST_RESORT;
  return valid > PROOF * damaged ? 'utf-8' : named;
}

/** @returns how often the decoder wrote U+FFFD where the bytes are not that character */
function replacedIn(text: string, bytes: Uint8Array): number {
  if (!text.includes(REPLACEMENT)) return 0;
  const inBytes = Buffer.from(bytes).toString('latin1').split('\xef\xbf\xbd').length;
  return Math.max(0, text.split(REPLACEMENT).length - inBytes);
}

export function damagedBytes(count: number): string | undefined {
  if (count === 0) return undefined;
  const characters = count === 1 ? 'a character' : `${count} characters`;
  return `${characters} could not be decoded: the bytes do not fit the encoding`;
}

/** The characters of a small document. */
export function decodeMarkup(bytes: Uint8Array): string {
  const decoder = new MarkupDecoder('the document');
  return [...decoder.push(bytes), ...decoder.end()].join('');
}
