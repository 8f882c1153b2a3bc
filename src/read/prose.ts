import { isListItem } from '../text/lines.ts';
import { PARAGRAPH_END } from '../text/piece.ts';
import { inTurn, type Stage } from '../text/stage.ts';
import { countLineBreaks, lazy } from '../text/unicode.ts';
import { isPageNumber, LINE_NUMBER, type TextFacts } from './prose-facts.ts';
import type { PlainOptions } from './reading.ts';

/** Reads plain text like a book. The number of line breaks stays the same. */
export function prose(
  facts: TextFacts,
  { hasChapters }: Pick<PlainOptions, 'hasChapters'>,
): Stage<string, string> {
  return inTurn(new Pages(facts, hasChapters), new ProseStage(facts));
}

/** UTF-16 units. A longer page is emitted before its end. */
const LONGEST_PAGE = 16_384;

/**
 * Leaves out page numbers and running heads and feet. Pages are separated by form feeds, as `pdftotext` writes them. The
 * number of line breaks stays the same: those removed inside a paragraph are added after it.
 */
class Pages implements Stage<string, string> {
  readonly #facts: TextFacts;
  readonly #keepsPages: boolean;
  #held = '';
  /** True if the next text begins a page. */
  #isNext = true;
  #isFirst = true;
  /** True if the previous page ended inside a sentence. */
  #goesOn = false;
  /** Line breaks that were removed and are still to be added. */
  #removed = 0;

  /** @param keepsPages true to keep form feeds, except where a page begins inside a paragraph */
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
    const length = page.length - this.#footLength(page);
    const text = page.slice(0, length);
    yield* this.#begin(text);
    this.#isNext = true;
    this.#goesOn = /[\p{Ll},;-]$/u.test(text.trimEnd());
    this.#removed += countLineBreaks(page.slice(length));
  }

  *#begin(page: string): Generator<string> {
    if (!this.#isNext) return yield this.#withRemoved(page);
    const head = this.#headLength(page, this.#isFirst);
    this.#isFirst = false;
    const space = /^\s*/u.exec(page.slice(head))?.[0] ?? '';
    const text = page.slice(head + space.length);
    this.#removed += countLineBreaks(page.slice(0, head + space.length));
    if (this.#goesOn && /^[^\S\n]*["'“‘(]?\p{Ll}/u.test(text)) {
      this.#removed = Math.max(0, this.#removed - 1);
      return yield this.#withRemoved(`\n${text}`);
    }
    const breaks = this.#removed;
    this.#removed = 0;
    yield (breaks === 0 || this.#keepsPages ? '\f' : '') + '\n'.repeat(breaks) + text;
  }

  /** Adds the removed line breaks at the next empty line. */
  #withRemoved(text: string): string {
    if (this.#removed === 0) return text;
    return text.replace(/\n[^\S\n]*\n/u, (gap) => {
      const all = gap + '\n'.repeat(this.#removed);
      this.#removed = 0;
      return all;
    });
  }

  /** Returns the UTF-16 units of the foot that is not text, and of the space before it. */
  #footLength(page: string): number {
    let end = page.trimEnd().length;
    const outer: string[] = [];
    for (;;) {
      const start = page.lastIndexOf('\n', end - 1) + 1;
      const line = page.slice(start, end);
      if (line.trim() === '' || !this.#isRunningLine(line, outer)) return page.length - end;
      end = page.slice(0, start).trimEnd().length;
    }
  }

  #headLength(page: string, mayBeTitle: boolean): number {
    const outer: string[] = [];
    for (let at = 0; ; ) {
      const start = at + (/^\s*/u.exec(page.slice(at))?.[0].length ?? 0);
      const end = page.indexOf('\n', start);
      const line = page.slice(start, end < 0 ? page.length : end);
      if (line === '' || !this.#isRunningLine(line, outer, mayBeTitle)) return at;
      at = start + line.length;
    }
  }

  /** @param outer the lines between this one and the border; this one is added */
  #isRunningLine(line: string, outer: string[], mayBeTitle = false): boolean {
    if (isPageNumber(line)) return true;
    outer.push(line);
    return this.#facts.isRepeated(outer, mayBeTitle);
  }
}

const LETTER = '[\\p{L}\\p{M}]';

/** `_italics_` and `_more than one word_`; `=bold=` and `~spaced~` of Project Gutenberg begin with a letter. */
const EMPHASIS = Object.entries({
  _: String.raw`[\p{L}\p{N}"'“‘(¿¡—-]`,
  '=': String.raw`["'“‘„»«(]?\p{L}`,
  '~': String.raw`["'“‘„»«(]?\p{L}`,
}).map(([sign, first]) => {
  const start = String.raw`(?<![\p{L}\p{N}_\\/.@${sign}])${sign}(?=${first}`;
  const inside = String.raw`(?:[^${sign}\n]|\n(?!\s*\n))`;
  return {
    whole: lazy(
      () => new RegExp(`${start})(${inside}{0,599}[^${sign}\\s])${sign}(?![\\p{L}\\p{N}${sign}])`, 'gu'),
    ),
    open: lazy(() => new RegExp(`${start}|$)${inside}{0,600}$`, 'u')),
  };
});

/** A typed dash: "wait--what", "wait--", "well -- perhaps". An option of a program begins with its hyphens instead. */
const typedDash = lazy(
  () => /(?<=[\p{L}\p{N}\p{M}]{2}|^[IAO]|[^\p{L}][IAO]|[,;.!?"'”’)_])--(?=[\p{L}\p{N}"'“”‘’(_]|\s|$)(?!-)/gu,
);
const spacedDash = lazy(() => /(?<=[\p{L}\p{N},;.!?"'”’)_] )--(?= [\p{L}\p{N}"'“‘(_])/gu);

/** The mark of a note, as in "word.[1]". */
const noteMark = lazy(
  () => /(?<=[\p{L}\p{N}.,;:!?"'”’)\]_])\[(?:[1-9]\d{0,2}|[*†‡])\](?=[\s.,;:!?"'”’)—[_-]|$)/gu,
);

/** A picture without a description. */
const picture = lazy(
  () =>
    /^[^\S\n\r\u2028\u2029]*\[(?:Illustration|Abbildung|Ilustraci[oó]n|Ilustração|Illustrazione|Illustratie)\.?\][^\S\n]*$/gmu,
);

const lineNumber = lazy(() => new RegExp(LINE_NUMBER.source.replace('|$', ''), 'gu'));

/**
 * Matches a word divided at a line end ("be-", then "fore" and what is attached to it), and the places that can take a
 * removed line break: a space, or an empty line.
 */
const divided = lazy(
  () =>
    new RegExp(
      `(?<hyphen>[-‐\\u00ad])(?=[^\\S\\n]*\\n)(?<=(?:^|[^‐\\p{L}\\p{M}\\u00ad-])(?<first>(?:${LETTER}{1,40}[-‐\\u00ad]){0,4}${LETTER}{1,40})[-‐\\u00ad])[^\\S\\n]*\\n[^\\S\\n]*(?<second>${LETTER}{1,40})(?<rest>[^\\s‐-]{0,40})(?<space> ?)|(?<=\\S) (?=\\S)|\\n(?=[^\\S\\n]*\\n)`,
      'gu',
    ),
);

/** An end of text that the next characters may change. */
const OPEN_END = /(?:(?:\u00ad|(?<![-‐])[-‐]{1,3})(?:[^\S\n]*\n[^\S\n]*\S{0,40})?|\[[\d*†‡]{0,3}\]?|--? ?)$/u;
const OPEN_BREAK = /\n[^\S\n]*\S{0,5}$/u;

const SINGLE_BREAK = /(?<!\n[^\S\n]*)\n(?![^\S\n]*(?:\n|$))/gu;

/** Signs without which no rule applies. */
const SIGNS = /[_=~[]|--|[-‐\u00ad][^\S\n]*\n/u;

/** UTF-16 units that rules look back on. */
const CONTEXT = 50;
/** UTF-16 units. Text that comes in larger pieces is written by neither a model nor a person. */
const FAST = 1024;

/** Reads prose as people do: marks of italics and notes are silent, "--" is a dash, and divided words are joined. */
class ProseStage implements Stage<string, string> {
  readonly #facts: TextFacts;
  /** The last emitted text, before the rules. */
  #before = '';
  #held = '';
  /** Line breaks removed from divided words that are still to be added. */
  #removed = 0;

  constructor(facts: TextFacts) {
    this.#facts = facts;
  }

  *push(text: string): Generator<string> {
    const all = this.#held + text;
    const start = this.#openFrom(all, text.length >= FAST);
    this.#held = all.slice(start);
    yield* this.#read(all.slice(0, start));
  }

  *end(): Generator<string> {
    yield* this.#read(this.#held);
    this.#held = '';
  }

  #openFrom(text: string, isFast: boolean): number {
    const open = [OPEN_END];
    if (isFast) open.push(...EMPHASIS.map((sign) => sign.open()));
    if (this.#facts.isLinewise) open.push(OPEN_BREAK);
    return Math.min(...open.map((pattern) => pattern.exec(text)?.index ?? text.length));
  }

  *#read(text: string): Generator<string> {
    if (text === '') return;
    const before = this.#before;
    this.#before = (before + text).slice(-CONTEXT);
    const { isLinewise, hasLineNumbers } = this.#facts;
    const isAsWritten = this.#removed === 0 && !isLinewise && !hasLineNumbers && !SIGNS.test(before + text);
    if (isAsWritten || !this.#facts.isProse) return yield text;
    const spoken = this.#spoken(before + text, before.length);
    yield this.#whole(spoken, before.length).slice(before.length);
  }

  /** Applies the rules. Text before `from` was already emitted and does not change. */
  #spoken(text: string, from: number): string {
    const rules: readonly (readonly [RegExp, Say])[] = [
      ...EMPHASIS.map(({ whole }) => [whole(), ([, inside = '']: RegExpExecArray) => inside] as const),
      [noteMark(), () => ''],
      [picture(), () => ''],
      [typedDash(), () => '—'],
      [spacedDash(), () => '—'],
      ...(this.#facts.hasLineNumbers ? [[lineNumber(), () => ''] as const] : []),
    ];
    const spoken = rules.reduce((so, [pattern, sayIt]) => replacedFrom(so, from, pattern, sayIt), text);
    if (!this.#facts.isLinewise) return spoken;
    return replacedFrom(spoken, from, SINGLE_BREAK, ({ 0: written, index }) =>
      isInList(spoken, index) ? written : PARAGRAPH_END + written,
    );
  }

  /** Joins divided words. The line break moves after the word, so that line numbers stay correct. */
  #whole(text: string, from: number): string {
    return replacedFrom(text, from, divided(), ({ 0: written, groups = {} }) => {
      const end = groups.hyphen && this.#joined(groups);
      if (groups.hyphen) return end === undefined ? written : this.#moved(end, groups);
      const count = written === '\n' ? this.#removed : Math.min(1, this.#removed);
      this.#removed -= count;
      if (count === 0) return written;
      return '\n'.repeat(written === '\n' ? count + 1 : count);
    });
  }

  /** Returns the rest of the joined word, without the hyphen. */
  #joined({ hyphen, first = '', second = '' }: Groups): string | undefined {
    if (hyphen === '\u00ad') return second;
    const visible = first.replaceAll('\u00ad', '');
    return this.#facts.joinedWord(visible, second)?.slice(visible.length);
  }

  #moved(end: string, { rest = '', space }: Groups): string {
    if (space === '') this.#removed += 1;
    return end + rest + (space && '\n');
  }
}

type Groups = Readonly<Record<string, string | undefined>>;

function isInList(text: string, at: number): boolean {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trimStart();
  return isListItem(line) && isListItem(text.slice(at + 1, at + 40).trimStart());
}

type Say = (match: RegExpExecArray) => string;

/** Replaces matches from a position on. Patterns may look back at the text before it. */
function replacedFrom(text: string, from: number, pattern: RegExp, say: Say): string {
  let result = text.slice(0, from);
  let at = from;
  pattern.lastIndex = from;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    result += text.slice(at, match.index) + say(match);
    at = pattern.lastIndex;
  }
  return result + text.slice(at);
}
