import { countLineBreaks } from '../../text/lines.ts';
import type { Stage } from '../../text/live.ts';
import { isPageNumber, type TextFacts } from './facts.ts';

/** UTF-16 units. A longer page is given out before its end. */
const LONGEST_PAGE = 16_384;

/**
 * Leaves out page numbers, and lines that stand at the borders of many pages. Form feeds divide the pages, as `pdftotext`
 * writes them. No line break is lost: those inside a paragraph come back after it.
 */
export class Pages implements Stage<string, string> {
  readonly #facts: TextFacts;
  readonly #keepsPages: boolean;
  #held = '';
  /** The text that comes next begins a page. */
  #isNext = true;
  #goesOn = false;
  /** Line breaks that are still to come. */
  #owed = 0;

  /** @param keepsPages true if form feeds stay where a page does not begin inside a paragraph */
  constructor(facts: TextFacts, keepsPages: boolean) {
    this.#facts = facts;
    this.#keepsPages = keepsPages;
  }

  *push(text: string): Generator<string> {
    if (!this.#facts.hasPages && this.#held === '' && !text.includes('\f')) return yield text;
    const pages = (this.#held + text).split('\f');
    const last = pages.pop() ?? '';
    for (const page of pages) yield* this.#page(page);
    this.#held = last;
    if (last.length <= LONGEST_PAGE) return;
    this.#held = '';
    yield* this.#begin(last);
    this.#isNext = false;
  }

  *end(): Generator<string> {
    if (this.#held !== '') yield* this.#begin(this.#held);
  }

  *#page(page: string): Generator<string> {
    const foot = this.#footLength(page);
    yield* this.#begin(page.slice(0, page.length - foot));
    const rest = page.slice(page.length - foot);
    const text = page.slice(0, page.length - foot).trimEnd();
    this.#isNext = true;
    this.#goesOn = /[\p{Ll},;-][^\S\n]*$/u.test(text);
    this.#owed += countLineBreaks(rest);
  }

  *#begin(page: string): Generator<string> {
    if (!this.#isNext) return yield this.#paid(page);
    const head = this.#headLength(page);
    const space = /^\s*/u.exec(page.slice(head))?.[0] ?? '';
    const text = page.slice(head + space.length);
    this.#owed += countLineBreaks(page.slice(0, head + space.length));
    if (this.#goesOn && /^[^\S\n]*["'“‘(]?\p{Ll}/u.test(text)) {
      this.#owed = Math.max(0, this.#owed - 1);
      return yield this.#paid(`\n${text}`);
    }
    const breaks = this.#owed;
    this.#owed = 0;
    yield (breaks === 0 || this.#keepsPages ? '\f' : '') + '\n'.repeat(breaks) + text;
  }

  /** An empty line takes the line breaks that are owed. */
  #paid(text: string): string {
    if (this.#owed === 0) return text;
    return text.replace(/\n[^\S\n]*\n/u, (gap) => {
      const all = gap + '\n'.repeat(this.#owed);
      this.#owed = 0;
      return all;
    });
  }

  /** UTF-16 units of the lines at the end that are no text, and of the space in front of them. */
  #footLength(page: string): number {
    let end = page.trimEnd().length;
    for (;;) {
      const start = page.lastIndexOf('\n', end - 1) + 1;
      const line = page.slice(start, end);
      if (line.trim() === '' || !this.#isFurniture(line)) return page.length - end;
      end = page.slice(0, start).trimEnd().length;
    }
  }

  #headLength(page: string): number {
    for (let at = 0; ; ) {
      const start = at + (/^\s*/u.exec(page.slice(at))?.[0].length ?? 0);
      const end = page.indexOf('\n', start);
      const line = page.slice(start, end < 0 ? page.length : end);
      if (line === '' || !this.#isFurniture(line)) return at;
      at = start + line.length;
    }
  }

  #isFurniture(line: string): boolean {
    return isPageNumber(line) || this.#facts.isRepeated(line);
  }
}
