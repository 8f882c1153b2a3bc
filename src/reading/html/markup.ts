import { Parser } from 'htmlparser2';
import { type TtsError, usageError } from '../../error.ts';
import { countLineBreaks } from '../../text/lines.ts';
import type { Attributes } from './meaning.ts';

export interface MarkupHandler {
  open(name: string, attributes: Attributes): void;
  text(text: string): void;
  /** Called once for each element that was opened, in the reverse order. */
  close(name: string): void;
}

/** More would take quadratic time. */
const DEEPEST = 512;
/** UTF-16 units that are kept of declarations. */
const LONGEST_SUBSET = 1000;
/** UTF-16 units. */
const LONGEST = 64 * 1024 * 1024;

/**
 * Takes HTML, XHTML or XML apart. No entity of a document type is expanded, and nothing that is named is opened.
 */
export class Markup {
  readonly #name: string;
  readonly #parser: Parser;
  #length = 0;
  #depth = 0;
  /** What was read of declarations inside the document type. */
  #subset: string | undefined;
  /** The line ends in what was written, and the offset up to which they were counted. */
  #lines = { counted: 0, at: 0, rest: '' };

  /** @param name of the document, for errors */
  constructor(handler: MarkupHandler, name: string, options: { readonly isXml?: boolean } = {}) {
    this.#name = name;
    this.#parser = new Parser(
      {
        onopentag: (tag, attributes) => {
          this.#depth += 1;
          this.#subset = undefined;
          if (this.#depth > DEEPEST) throw tooDeep(this.#name);
          handler.open(tag, attributes);
        },
        onprocessinginstruction: (name, data) => {
          if (/^!doctype$/iu.test(name) && data.includes('[') && !data.includes(']')) this.#subset = '';
        },
        ontext: (text) => this.#text(text, handler),
        onclosetag: (tag) => {
          this.#depth -= 1;
          handler.close(tag);
        },
      },
      options.isXml ? { xmlMode: true } : { recognizeSelfClosing: true, recognizeCDATA: true },
    );
  }

  /** The line of what was handed out last, from 1. */
  get line(): number {
    this.#countLines();
    return this.#lines.counted + 1;
  }

  /** @throws TtsError (usage) for a document that is too long or too deep */
  write(text: string): void {
    this.#length += text.length;
    if (this.#length > LONGEST) throw tooLong(this.#name);
    this.#countLines();
    this.#lines.rest += text;
    this.#parser.write(text);
  }

  end(): void {
    this.#parser.end();
  }

  /** The parser takes the end of the first declaration for the end of the document type. */
  #text(text: string, handler: MarkupHandler): void {
    if (this.#subset === undefined) {
      handler.text(text);
      return;
    }
    this.#subset = (this.#subset + text).slice(-LONGEST_SUBSET);
    const end = /\]\s*>/u.exec(this.#subset);
    if (!end) return;
    const rest = this.#subset.slice(end.index + end[0].length);
    this.#subset = undefined;
    handler.text(rest);
  }

  #countLines(): void {
    const { counted, at, rest } = this.#lines;
    const passed = Math.max(0, Math.min(rest.length, this.#parser.startIndex - at));
    this.#lines = {
      counted: counted + countLineBreaks(rest.slice(0, passed)),
      at: at + passed,
      rest: rest.slice(passed),
    };
  }
}

function tooDeep(name: string): TtsError {
  return usageError(
    `${name} has more than ${DEEPEST} elements inside each other`,
    'nobody writes such a document by hand: check where it comes from',
  );
}

function tooLong(name: string): TtsError {
  return usageError(`${name} is longer than ${LONGEST} characters`, 'speak it in parts');
}
