import { Parser } from 'htmlparser2';
import { usageError } from '../kit/error.ts';
import { countLineBreaks } from '../text/unicode.ts';
import type { Attributes } from './html-elements.ts';

export interface MarkupHandler {
  /** True for an element to leave out with everything in it. */
  skips?(name: string, attributes: Attributes): boolean;
  open(name: string, attributes: Attributes): void;
  text(text: string): void;
  /** Called once for each element that was opened, in the reverse order. */
  close(name: string): void;
}

/** Elements inside each other. More would take quadratic time. */
const DEEPEST = 512;
/** UTF-16 units of declarations that are kept. */
const LONGEST_SUBSET = 1000;
/** UTF-16 units of a document. */
const LONGEST = 64 * 1024 * 1024;

/** @returns the character of an HTML entity such as `&eacute;`; an unknown one stays as it is */
export function characterOf(entity: string): string {
  let characters = '';
  const parser = new Parser({ ontext: (text) => (characters += text) });
  parser.end(entity);
  return characters;
}

/** Parses HTML, XHTML or XML. It neither expands the entities of a document type nor opens external files. */
export class Markup {
  readonly #name: string;
  readonly #parser: Parser;
  readonly #closings: SelfClosings | undefined;
  #length = 0;
  #depth = 0;
  /** The number of open elements within a skipped one, including that one. */
  #skipped = 0;
  /** The declarations inside the document type, as far as they were read. */
  #subset: string | undefined;
  /** The number of line breaks before the offset `at`, and the text after it. */
  #lines = { counted: 0, at: 0, rest: '' };

  /** @param name of the document, for errors */
  constructor(handler: MarkupHandler, name: string, options: { readonly isXml?: boolean } = {}) {
    this.#name = name;
    this.#closings = options.isXml ? undefined : new SelfClosings();
    this.#parser = new Parser(
      {
        onopentag: (tag, attributes) => {
          this.#depth += 1;
          this.#subset = undefined;
          if (this.#depth > DEEPEST)
            throw usageError(
              `${name} has elements nested more than ${DEEPEST} deep`,
              'no person writes such a document by hand: check where it comes from',
            );
          if (this.#skipped > 0 || handler.skips?.(tag, attributes)) this.#skipped += 1;
          else handler.open(tag, attributes);
        },
        onprocessinginstruction: (declaration, data) => {
          if (/^!doctype$/iu.test(declaration) && data.includes('[') && !data.includes(']'))
            this.#subset = '';
        },
        ontext: (text) => {
          if (this.#skipped === 0) this.#text(text, handler);
        },
        onclosetag: (tag) => {
          this.#depth -= 1;
          if (this.#skipped > 0) this.#skipped -= 1;
          else handler.close(tag);
        },
      },
      options.isXml ? { xmlMode: true } : { recognizeSelfClosing: true, recognizeCDATA: true },
    );
  }

  /** The position of the current event, in UTF-16 units. */
  get offset(): number {
    return this.#parser.startIndex;
  }

  /** The line of the current event, from 1. */
  get line(): number {
    this.#countLines();
    return this.#lines.counted + 1;
  }

  /** @throws TtsError (usage) for a document that is too long or too deep */
  write(text: string): void {
    this.#length += text.length;
    if (this.#length > LONGEST)
      throw usageError(`${this.#name} is longer than ${LONGEST} characters`, 'speak it in parts');
    this.#parse(this.#closings?.push(text) ?? text);
  }

  end(): void {
    this.#parse(this.#closings?.end() ?? '');
    this.#parser.end();
  }

  #parse(text: string): void {
    this.#countLines();
    this.#lines.rest += text;
    this.#parser.write(text);
  }

  /** Skips the rest of a document type: the parser ends it at the end of its first declaration. */
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

const SELF_CLOSED = /<(?:script|style)\b[^<>]*\/>/giu;
const NEXT_BORDER = /<\/?(?:script|style)\b/giu;
/** An incomplete tag that may become one of these. */
const BEGUN = /^<(?:s[^>]*)?$/iu;
/** UTF-16 units. */
const LONGEST_TAG = 1000;
/** UTF-16 units within which the end of such an element is searched. */
const LONGEST_CODE = 65_536;

/**
 * `<script/>` is empty in XHTML, but in HTML its code follows up to `</script>`. Both kinds are read, so the following tags
 * decide: if the next `script` or `style` tag is an end, the slash is replaced by a space.
 */
class SelfClosings {
  #held = '';

  push(text: string): string {
    const all = this.#held + text;
    let [from, settled] = [0, ''];
    SELF_CLOSED.lastIndex = 0;
    for (let tag = SELF_CLOSED.exec(all); tag; tag = SELF_CLOSED.exec(all)) {
      const end = SELF_CLOSED.lastIndex;
      NEXT_BORDER.lastIndex = end;
      const next = NEXT_BORDER.exec(all)?.[0];
      if (next === undefined && all.length - end < LONGEST_CODE)
        return this.#hold(all, tag.index, settled, from);
      if (!next?.startsWith('</')) continue;
      settled += `${all.slice(from, end - 2)} >`;
      from = end;
    }
    const last = all.lastIndexOf('<');
    const isBegun = last >= from && all.length - last < LONGEST_TAG && BEGUN.test(all.slice(last));
    return this.#hold(all, isBegun ? last : all.length, settled, from);
  }

  end(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }

  #hold(all: string, at: number, settled: string, from: number): string {
    this.#held = all.slice(at);
    return settled + all.slice(from, at);
  }
}
