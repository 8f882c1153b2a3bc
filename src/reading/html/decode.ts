import { TextDecoder } from 'node:util';
import { usageError } from '../../error.ts';
import type { Stage } from '../../text/live.ts';

/** Bytes in which a document names its encoding. */
const HEAD = 1024;
const LAST_RESORT = 'windows-1252';

/** What a byte order mark, an XML declaration or a `meta` element says; otherwise UTF-8. */
function encodingOf(head: Uint8Array): string {
  const [a, b, c, d] = head;
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  if (a === 0x3c && b === 0 && d === 0) return 'utf-16le';
  if (a === 0 && b === 0x3c && c === 0) return 'utf-16be';
  const text = Buffer.from(head.subarray(0, HEAD)).toString('latin1');
  const named =
    /^(?:ï»¿)?\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)/i.exec(text) ??
    /<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)/i.exec(text);
  const label = named?.[1] ?? 'utf-8';
  // A document whose bytes could be read so far is not in UTF-16, whatever it says.
  return /^utf-?16/i.test(label) || !isKnown(label) ? 'utf-8' : label;
}

function isKnown(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}

/** Bytes of a document to its characters. Bytes that are not UTF-8 although they should be are read as Windows does. */
export class MarkupDecoder implements Stage<Uint8Array, string> {
  readonly #name: string;
  #head: Uint8Array = new Uint8Array();
  #decoder: TextDecoder | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  *push(piece: Uint8Array): Generator<string> {
    if (this.#decoder) return yield* this.#decode(piece);
    this.#head = Buffer.concat([this.#head, piece]);
    if (this.#head.length >= HEAD) yield* this.#begin();
  }

  *end(): Generator<string> {
    if (!this.#decoder) yield* this.#begin();
    yield* this.#decode(new Uint8Array(), true);
  }

  *#begin(): Generator<string> {
    const head = this.#head;
    this.#head = new Uint8Array();
    this.#decoder = new TextDecoder(encodingOf(head), { fatal: true });
    yield* this.#decode(head);
  }

  /** @throws TtsError (usage) for bytes that are no text */
  *#decode(bytes: Uint8Array, isLast = false): Generator<string> {
    const text = this.#characters(bytes, isLast);
    if (text.includes('\0'))
      throw usageError(
        `${this.#name} is not text: it holds the byte 0x00`,
        'check that it is the right file',
      );
    if (text !== '') yield text;
  }

  #characters(bytes: Uint8Array, isLast: boolean): string {
    try {
      return this.#decoder?.decode(bytes, { stream: !isLast }) ?? '';
    } catch {
      this.#decoder = new TextDecoder(LAST_RESORT);
      return this.#decoder.decode(bytes, { stream: !isLast });
    }
  }
}

/** The characters of a small document. */
export function decodeMarkup(bytes: Uint8Array): string {
  const decoder = new MarkupDecoder('the document');
  return [...decoder.push(bytes), ...decoder.end()].join('');
}
