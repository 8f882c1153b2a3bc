import { isAscii } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { usageError } from '../kit/error.ts';
import type { Stage } from '../text/stage.ts';

/** Bytes that are examined before the encoding is chosen. */
const LOOKED_AT = 64 * 1024;
/** The encoding if the document names none and is not UTF-8. */
const FALLBACK = 'windows-1252';
/** Valid UTF-8 sequences per damaged one that outweigh another encoding that the document names. */
const VALID_PER_DAMAGED = 4;
/** Characters per stray zero byte. A binary file has more zeros. */
const FEWEST_PER_ZERO = 1000;
/** Encodings in which bytes below 0x80 mean ASCII as long as none from 0x80 on came before. */
const ASCII_SUPERSETS = /^(?!iso-2022|utf-16)/;
const REPLACEMENT = '\ufffd';

/**
 * Decodes a document. UTF-8 is proved by the bytes, whatever the document says; otherwise its named encoding is used.
 * Damaged sequences become U+FFFD.
 */
export class MarkupDecoder implements Stage<Uint8Array, string> {
  readonly #name: string;
  #head: Uint8Array = new Uint8Array();
  /** The encoding named in the head, once that has been read. */
  #named: string | undefined;
  #decoder: TextDecoder | undefined;
  /** The number of replaced byte sequences. */
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

  /** Postpones the choice while all bytes are ASCII. */
  *#begin(isLast = false): Generator<string> {
    const head = this.#head;
    this.#head = new Uint8Array();
    this.#named ??= encodingNamedIn(head);
    const isOpen = ASCII_SUPERSETS.test(this.#named) && isAscii(head);
    if (!isOpen || isLast) this.#decoder = new TextDecoder(chosenEncoding(this.#named, head, isLast));
    yield* this.#text(
      isOpen && !isLast ? Buffer.from(head).toString('latin1') : this.#characters(head, false),
    );
  }

  /**
   * Drops stray zeros, as browsers do.
   * @throws TtsError (usage) for bytes that are not text
   */
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

/** @returns the encoding named by a byte order mark, an XML declaration or a `meta` element; otherwise `utf-8` */
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
  // The head was readable as ASCII, so the document is not UTF-16, whatever it says.
  return label === undefined || label.startsWith('utf-16') ? 'utf-8' : label;
}

/** @returns `undefined` for an unknown encoding */
function canonical(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

/** @param isWhole false if the bytes may end inside a character */
function chosenEncoding(named: string, bytes: Uint8Array, isWhole: boolean): string {
  if (!ASCII_SUPERSETS.test(named)) return named;
  const text = new TextDecoder().decode(bytes, { stream: !isWhole });
  const damaged = replacedIn(text, bytes);
  // The usual case.
  if (named === 'utf-8' && damaged === 0) return named;
  const valid = text.replace(/[\0-\x7f]+/gu, '').length - damaged;
  if (named === 'utf-8') return valid >= damaged ? named : FALLBACK;
  return valid > VALID_PER_DAMAGED * damaged ? 'utf-8' : named;
}

/** @returns the number of U+FFFD that the decoder wrote, without those that are in the bytes */
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

/** Decodes a small document. */
export function decodeMarkup(bytes: Uint8Array): string {
  const decoder = new MarkupDecoder('the document');
  return [...decoder.push(bytes), ...decoder.end()].join('');
}
