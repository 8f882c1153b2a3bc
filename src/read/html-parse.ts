import { Parser } from 'htmlparser2';
import { usageError } from '../kit/error.ts';
import { countLineBreaks } from '../text/unicode.ts';
import { type Attributes, isMark } from './html-elements.ts';

/** A link that looks like a reference to a note. */
export interface Link {
  readonly href: string;
  /** The text of the link, such as `1` or `*`. */
  readonly label: string;
  /** The names of the link itself: a note may lead back to them. */
  readonly ids: readonly string[];
  readonly isRaised: boolean;
  /** True if the link itself says that it refers to a note. */
  readonly saysReference: boolean;
}

/** What is known of a document before it is read. */
export interface Scan {
  /** Those of the wanted names that its elements have. */
  readonly ids: ReadonlySet<string>;
  readonly links: readonly Link[];
}

const NAMED = /[\s"'](?:xml:)?(?:id|name)\s*=\s*(?:"([^"]{1,500})"|'([^']{1,500})')/giu;
const HREF = /\shref\s*=\s*(?:"([^"]{1,500})"|'([^']{1,500})')/iu;
/** UTF-16 units that a link, or the beginning of an attribute, may have. */
const LONGEST_LINK = 1000;
/** UTF-16 units in front of a link that may raise or name it. */
const BEFORE = 150;
const MOST_LINKS = 50_000;

/**
 * Looks through a document with patterns, which is quicker than taking it apart.
 * @param wanted names of elements that something refers to
 */
export async function scanned(text: AsyncIterable<string>, wanted: ReadonlySet<string>): Promise<Scan> {
  const ids = new Set<string>();
  const links: Link[] = [];
  let rest = '';
  let searched = 0;
  for await (const piece of text) {
    const all = rest + piece;
    if (ids.size < wanted.size) findNames(all, wanted, ids);
    const end = Math.max(0, all.length - LONGEST_LINK);
    if (links.length < MOST_LINKS) findLinks(all, searched, end, links);
    const start = Math.max(0, end - BEFORE);
    rest = all.slice(start);
    searched = Math.max(searched, end) - start;
  }
  findLinks(rest, searched, rest.length, links);
  return { ids, links };
}

function findNames(text: string, wanted: ReadonlySet<string>, ids: Set<string>): void {
  for (const [, double, single] of text.matchAll(NAMED)) {
    const name = double ?? single ?? '';
    if (wanted.has(name)) ids.add(name);
  }
}

function findLinks(text: string, from: number, end: number, links: Link[]): void {
  for (let at = text.indexOf('<a', from); at >= 0 && at < end; at = text.indexOf('<a', at + 2)) {
    const link = linkAt(text, at);
    if (link) links.push(link);
  }
}

function linkAt(text: string, at: number): Link | undefined {
  const source = text.slice(at, at + LONGEST_LINK);
  const tagEnd = source.indexOf('>');
  const end = source.search(/<\/a\s*>/iu);
  if (!/^<a\s/iu.test(source) || tagEnd < 0 || end < tagEnd) return undefined;
  const label = source
    .slice(tagEnd + 1, end)
    .replace(/<[^>]*>/gu, '')
    .trim();
  const [, double, single] = HREF.exec(source.slice(0, tagEnd)) ?? [];
  const href = double ?? single ?? '';
  if (!href.includes('#') || !isMark(label)) return undefined;
  const before =
    /<(?:sup|span|small|b|i|em|strong)\b[^<>]{0,140}>\s*$/iu.exec(
      text.slice(Math.max(0, at - BEFORE), at),
    )?.[0] ?? '';
  const named = [...(before + source.slice(0, end)).matchAll(NAMED)];
  return {
    href,
    label,
    ids: named.map(([, one, other]) => one ?? other ?? ''),
    saysReference: /noteref|footnote-?(?:ref|anchor)|fnref/iu.test(before + source.slice(0, tagEnd)),
    isRaised: /^<sup\b/iu.test(before) || /<sup\b/iu.test(source.slice(0, end)),
  };
}

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
  readonly #closings: SelfClosings | undefined;
  #length = 0;
  #depth = 0;
  /** What was read of declarations inside the document type. */
  #subset: string | undefined;
  /** The line ends in what was written, and the offset up to which they were counted. */
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
              `${name} has more than ${DEEPEST} elements inside each other`,
              'no person writes such a document by hand: check where it comes from',
            );
          handler.open(tag, attributes);
        },
        onprocessinginstruction: (declaration, data) => {
          if (/^!doctype$/iu.test(declaration) && data.includes('[') && !data.includes(']'))
            this.#subset = '';
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

  /** UTF-16 units in front of what was handed out last. */
  get offset(): number {
    return this.#parser.startIndex;
  }

  /** The line of what was handed out last, from 1. */
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

const SELF_CLOSED = /<(?:script|style)\b[^<>]*\/>/giu;
const NEXT_BORDER = /<\/?(?:script|style)\b/giu;
/** What may become such a tag with the characters that follow. */
const BEGUN = /^<(?:s[^>]*)?$/iu;
/** UTF-16 units. */
const LONGEST_TAG = 1000;
/** UTF-16 units in which the end of an element of code is looked for. */
const LONGEST_CODE = 65_536;

/**
 * `<script/>` is empty in XHTML; in HTML its code follows, up to `</script>`. A document of either kind is read, so its tags decide:
 * where the next one of this kind is an end, the slash is replaced by a space.
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
