import { domainToUnicode } from 'node:url';
import type { Token } from 'markdown-it';
import { WAITS } from '../text/complete.ts';
import { endsSentence, MARK, SIGHT, withFullStop } from '../text/marks.ts';
import { hasWord, unitsAt } from '../text/unicode.ts';
import { isUnspoken, spokenTag, type Tag, tagOf } from './html-inline.ts';
import type { MarkdownOptions } from './markdown-parser.ts';

/** What is said of TeX commands whose names are no words for it. */
const COMMANDS: Readonly<Record<string, string>> = {
  le: 'is at most',
  leq: 'is at most',
  ge: 'is at least',
  geq: 'is at least',
  ne: 'is not equal to',
  neq: 'is not equal to',
  approx: 'is about',
  equiv: 'is equivalent to',
  sim: 'is similar to',
  propto: 'is proportional to',
  ll: 'is much less than',
  gg: 'is much greater than',
  times: 'times',
  cdot: 'times',
  div: 'divided by',
  pm: 'plus or minus',
  mp: 'minus or plus',
  to: 'to',
  rightarrow: 'to',
  Rightarrow: 'implies',
  implies: 'implies',
  iff: 'if and only if',
  in: 'in',
  notin: 'not in',
  subset: 'is a subset of',
  cup: 'union',
  cap: 'intersection',
  forall: 'for all',
  exists: 'there is',
  infty: 'infinity',
  sum: 'sum',
  prod: 'product',
  int: 'integral',
  partial: 'partial',
  nabla: 'nabla',
  ldots: 'and so on',
  dots: 'and so on',
  cdots: 'and so on',
  degree: 'degrees',
  circ: 'degrees',
  ell: 'l',
};

/** They shape a formula, and say nothing. */
const SHAPES =
  /\\(?:left|right|big|Big|bigg|Bigg|displaystyle|textstyle|limits|nolimits|quad|qquad|mathrm|mathbf|mathbb|mathcal|mathit|text|textbf|textit|operatorname|vec|hat|bar|tilde|overline|underline|boxed)\*?(?![A-Za-z])/gu;
const SPACES = /\\[,;:! ]|~|&|\\\\/gu;
const ENVIRONMENT = /\\(?:begin|end)\{[^}]*\}(?:\{[^}]*\})?/gu;

const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/\\d?t?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/gu, ' $1 over $2 '],
  [/\\sqrt\s*\[([^\]]*)\]\s*\{([^{}]*)\}/gu, ' root $1 of $2 '],
  [/\\sqrt\s*\{([^{}]*)\}/gu, ' square root of $1 '],
  [/(\\(?:sum|prod|int))_\{([^{}]*)\}\^\{?([^{}\s]*)\}?/gu, '$1 from $2 to $3 of '],
  [/\^\s*\{?\s*2\s*\}?(?!\d)/gu, ' squared '],
  [/\^\s*\{?\s*3\s*\}?(?!\d)/gu, ' cubed '],
  [/\^\s*(?:\{([^{}]*)\}|(\\?\p{L}+|\p{N}+))/gu, ' to the power of $1$2 '],
  [/_\s*(?:\{([^{}]*)\}|(\\?\p{L}|\p{N}))/gu, ' $1$2 '],
];

const OPERATORS: readonly (readonly [RegExp, string])[] = [
  [/=/gu, ' equals '],
  [/</gu, ' is less than '],
  [/>/gu, ' is greater than '],
  [/\+/gu, ' plus '],
  [/[-−]/gu, ' minus '],
  [/\*/gu, ' times '],
  [/\//gu, ' over '],
  [/(?<=\d)(?=\p{L})|(?<=\p{L})(?=\d)/gu, ' '],
];

/** Fractions and roots stand in each other; so deep they are said right. */
const DEPTH = 4;

/** Plain words for a formula in TeX. Its signs are said in English, as its commands are named. */
export function wordsOfTex(tex: string): string {
  let text = tex.replace(ENVIRONMENT, ' ').replace(SHAPES, ' ').replace(SPACES, ' ');
  for (let depth = 0; depth < DEPTH; depth += 1)
    text = SIGNS.reduce((so, [pattern, words]) => so.replace(pattern, words), text).replace(
      /\{([^{}\\]*)\}(?!\s*\{)/gu,
      ' $1 ',
    );
  const named = text.replace(/\\([A-Za-z]+)/gu, (_, name: string) =>
    Object.hasOwn(COMMANDS, name) ? ` ${COMMANDS[name]} ` : ` ${name} `,
  );
  return OPERATORS.reduce((so, [pattern, words]) => so.replace(pattern, words), named)
    .replace(/[\\{}$^_|]/gu, ' ')
    .replace(/\s+/gu, ' ')
    .replace(/ (?=[,.;:)])/gu, '')
    .trim();
}

export interface InlineOptions extends Pick<MarkdownOptions, 'math'> {
  /** What is said of a note after the text: of a reference, or of a note that stands there. */
  noteAfter?(said: string, note: Token): string;
}

export function spokenInline(tokens: readonly Token[], options: InlineOptions): string {
  return flatten(tokens, options)
    .replace(BACK_LINK, '')
    .replace(/[ \t]+/gu, ' ')
    .replace(/ ?\n[ \n]*/gu, '\n')
    .trim();
}

/** The sign with which pandoc leads back from a note. It looks at a run of white space only once. */
const BACK_LINK = /(?<!\s)\s*\u21a9\ufe0e?/gu;

function flatten(tokens: readonly Token[], options: InlineOptions): string {
  const said: string[] = [];
  const links = new Links(said);
  const silence = new Silence(said);
  for (const token of tokens) {
    if (silence.takes(token) || links.takes(token)) continue;
    said.push(spoken(token, said.at(-1) ?? '', options));
  }
  return said.join('');
}

/** Elements of HTML that are not spoken, up to their end. */
class Silence {
  readonly #said: string[];
  #name = '';
  /** The number of open elements of this name. */
  #depth = 0;

  constructor(said: string[]) {
    this.#said = said;
  }

  takes({ type, content }: Token): boolean {
    const tag = type === 'html_inline' ? tagOf(content) : undefined;
    if (this.#depth === 0) return tag !== undefined && this.#begins(tag);
    if (tag?.name === this.#name && !tag.isEmpty) this.#depth += tag.isEnd ? -1 : 1;
    return true;
  }

  #begins(tag: Tag): boolean {
    if (tag.isEnd || !isUnspoken(tag)) return false;
    if (tag.name !== 'img') this.#said.push(tag.name === 'math' ? ` ${spokenTag(tag)} ` : spokenTag(tag));
    this.#name = tag.name;
    this.#depth = tag.isEmpty ? 0 : 1;
    return true;
  }
}

const NOTE_MARK = /^\s*(?:\[?\d{1,3}\]?|[*†‡]{1,3})\s*$/u;
const LINK_TO_PLACE = /^<a\b[^>]*?(?:\shref\s*=\s*["']?[^"'\s>]*#|\bnoteref\b)/iu;

/** Links and raised signs: their text is known at their end. */
class Links {
  readonly #said: string[];
  #start = 0;
  #leadsToPlace = false;
  #raised = 0;

  constructor(said: string[]) {
    this.#said = said;
  }

  /** @returns true if nothing else is to be said of the token */
  takes(token: Token): boolean {
    const { type, content } = token;
    const isHtml = type === 'html_inline';
    if (type === 'link_open') return this.#open(/#/u.test(String(token.attrGet('href') ?? '')));
    if (isHtml && /^<a\b/iu.test(content)) return this.#open(LINK_TO_PLACE.test(content));
    if (type === 'link_close') return this.#close(true);
    if (isHtml && /^<\/a\b/iu.test(content)) return this.#close(false);
    if (isHtml && /^<sup\b/iu.test(content)) this.#raised = this.#said.length;
    else if (isHtml && /^<\/sup\b/iu.test(content)) this.#raise();
    else return false;
    return true;
  }

  #open(leadsToPlace: boolean): true {
    this.#start = this.#said.length;
    this.#leadsToPlace = leadsToPlace;
    return true;
  }

  #close(mayBeAddress: boolean): true {
    const text = this.#said.splice(this.#start).join('');
    const isNoteMark = this.#leadsToPlace && NOTE_MARK.test(text);
    if (!isNoteMark) this.#said.push(mayBeAddress ? linkText(text) : text);
    this.#leadsToPlace = false;
    return true;
  }

  #raise(): void {
    const text = this.#said.splice(this.#raised).join('');
    const before = endOf(this.#said);
    if (!/^[\d+−n-]+$/u.test(text.trim())) this.#said.push(text);
    else if (POWER.test(before))
      this.#said.push([...text.trim()].map((sign) => RAISED.get(sign) ?? '').join(''));
  }
}

/** A number, a unit or a variable has a power; the number after a word is the mark of a note. */
const POWER = /(?:\d|\)|(?:^|[^\p{L}])\p{L}{1,2})$/u;
const RAISED: ReadonlyMap<string, string> = new Map(
  [...'0123456789+-n'].map((sign, at) => [sign, [...'⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ'][at] ?? '']),
);

/** All that was said may be long, and is looked at often. */
function endOf(said: readonly string[]): string {
  let end = '';
  for (let at = said.length - 1; at >= 0 && end.length < SIGHT; at -= 1) end = said[at] + end;
  return end.slice(-SIGHT);
}

function spoken(token: Token, before: string, { math, noteAfter }: InlineOptions): string {
  const { type, content, children } = token;
  switch (type) {
    case 'footnote_ref':
    case 'inline_note':
      return noteAfter?.(before, token) ?? '';
    case 'math':
      return math === 'read' ? wordsOfTex(content) : 'formula';
    case 'text':
    case 'text_special':
    case 'code_inline':
      return content;
    case 'image':
      return flatten(children ?? [], {});
    case 'softbreak':
      return ' ';
    case 'hardbreak':
      return '\n';
    case 'html_inline': {
      const tag = tagOf(content);
      return tag ? spokenTag(tag) : '';
    }
    default:
      return '';
  }
}

/** A bare address is read as its host, and keeps its marks. */
function linkText(text: string): string {
  if (!/^[a-z][a-z\d+.-]*:/iu.test(text)) return text;
  return hostIn(text.replace(MARKS, '')) + (text.match(MARKS) ?? []).join('');
}

const MARKS = new RegExp(MARK, 'gu');

function hostIn(text: string): string {
  if (/^(?:mailto|tel):/iu.test(text)) return text.slice(text.indexOf(':') + 1);
  if (!/^[a-z][a-z\d+.-]*:\/\/\S+$/iu.test(text)) return text;
  const host = URL.canParse(text) ? new URL(text).hostname : '';
  return host === '' ? text.replace(/^[^:]+:\/+/u, '') : domainToUnicode(host).replace(/^www\./u, '') || host;
}

/**
 * UTF-16 units of the beginning of a paragraph that are read alike, whatever follows: no mark, bracket, code or tag is open
 * after them. They end between words, or with the text after a wait.
 * @param idle milliseconds without text
 */
export function settledInline(text: string, idle: number): number {
  const end = lineLimit(text, idle);
  const isPaused = idle >= WAITS.sentence && end === text.length;
  const scan = new Scan(text.slice(0, end), { isPaused, isCut: end < text.length });
  const last = scan.run();
  const isRest = isPaused && scan.isClosed;
  return isRest ? text.length : last;
}

const TABLE_BORDER = /^[\s>|:-]*$/u;

/** @returns the length of the text without its last lines, as long as the next one may make a table of them */
function lineLimit(text: string, idle: number): number {
  if (idle >= WAITS.doubtful) return text.length;
  if (/^\s*\[[^\]]*\]:/u.test(text) && !text.includes('\n')) return 0;
  const start = text.trimEnd().lastIndexOf('\n') + 1;
  const before = text.lastIndexOf('\n', start - 2) + 1;
  const last = text.slice(start);
  const mayBorder = TABLE_BORDER.test(last) && text.slice(before, start).includes('|');
  if (mayBorder) return Math.max(0, before - 1);
  return last.replaceAll(CODE, '').includes('|') ? Math.max(0, start - 1) : text.length;
}

const CODE = /`[^`\n]*`/gu;

/** Complete tags, comments and addresses in angle brackets. */
const TAG = /^<(?:!--[\s\S]*?--|[!/?a-z][^<>]*)>/iu;
const UNSPOKEN = /^<(script|style|template|svg)\b/iu;
/** UTF-16 units. A longer one is taken as it stands. */
const LONGEST_TAG = 300;
const LONGEST_FORMULA = 200;
const ENTITY = /^&#?\w{0,32}$/u;
const LETTER = /\p{L}/u;
/** Scripts without spaces between words, and their marks. */
const DENSE =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\u3000-\u303f\uff00-\uffef]/u;
const EMPHASIS_MARK = /[*_~`[\]<&\\!$]/u;

const PUNCTUATION = /[\p{P}\p{S}]/u;

/** True if a mark between the two can begin emphasis (CommonMark 0.31, section 6.2). */
function isFlank(before: string, after: string): boolean {
  const isEdge = (character: string) => character === '' || /\s/u.test(character);
  return !isEdge(after) && (!PUNCTUATION.test(after) || isEdge(before) || PUNCTUATION.test(before));
}

class Scan {
  readonly #text: string;
  /** True if the end of the text counts as the end of a word. */
  readonly #isPaused: boolean;
  /** True if a line follows. */
  readonly #isCut: boolean;
  readonly #open = new Map<string, number>();
  /** The sum of the marks in the map. */
  #marks = 0;
  #brackets = 0;
  #at = 0;
  /** True if the line has more than the marks of a block. */
  #hasLetter = false;
  /** False if something is open at the end. */
  isClosed = true;

  constructor(text: string, { isPaused, isCut }: { readonly isPaused: boolean; readonly isCut: boolean }) {
    this.#text = text;
    this.#isPaused = isPaused || isCut;
    this.#isCut = isCut;
  }

  /** @returns the last border between words at which nothing is open */
  run(): number {
    let border = 0;
    while (this.#at < this.#text.length) {
      if (this.#isQuiet && this.#isBorder()) border = this.#at;
      const here = this.#text.charAt(this.#at);
      if (here === '\n') this.#hasLetter = false;
      else this.#hasLetter ||= this.#isQuiet && LETTER.test(here);
      const length = this.#stepLength();
      if (length === 0) {
        this.isClosed = false;
        return border;
      }
      this.#at += length;
    }
    const last = this.#text.at(-1) ?? '';
    if (this.#isQuiet && this.#hasLetter && (this.#isCut || DENSE.test(last))) border = this.#text.length;
    this.isClosed = this.#isQuiet;
    return /\s$/u.test(this.#text) && border === this.#text.trimEnd().length ? this.#text.length : border;
  }

  get #isQuiet(): boolean {
    return this.#brackets === 0 && this.#marks === 0;
  }

  #isBorder(): boolean {
    if (!this.#hasLetter) return false;
    const here = this.#text.charAt(this.#at);
    const before = this.#text.charAt(this.#at - 1);
    if (/\s/u.test(here)) return !/^\s?$/u.test(before);
    return DENSE.test(before) && !EMPHASIS_MARK.test(here);
  }

  /** @returns 0 for what may go on in another way */
  #stepLength(): number {
    const rest = this.#text.slice(this.#at, this.#at + 1);
    switch (rest) {
      case '\\':
        return this.#escape();
      case '`':
        return this.#code();
      case '<':
        return this.#tag();
      case '&':
        return ENTITY.test(this.#text.slice(this.#at)) ? 0 : 1;
      case '$':
        return this.#formula();
      case '[':
        this.#brackets += 1;
        return 1;
      case ']':
        return this.#bracketEnd();
      case '!':
        return 1;
      case '*':
      case '_':
      case '~':
        return this.#emphasis(rest);
      default:
        return 1;
    }
  }

  #escape(): number {
    const next = this.#text.charAt(this.#at + 1);
    if (next === '') return 0;
    const closing = next === '(' ? '\\)' : next === '[' ? '\\]' : undefined;
    return closing ? this.#until(closing, 2) : 2;
  }

  #code(): number {
    const run = /^`+/u.exec(this.#text.slice(this.#at))?.[0] ?? '';
    const closing = new RegExp(`(?<!\`)${run}(?!\`)`, 'gu');
    closing.lastIndex = this.#at + run.length;
    return closing.test(this.#text) ? closing.lastIndex - this.#at : 0;
  }

  #tag(): number {
    const rest = this.#text.slice(this.#at);
    const unspoken = UNSPOKEN.exec(rest)?.[1];
    if (unspoken !== undefined) return this.#until(`</${unspoken}>`, 1);
    const tag = TAG.exec(rest)?.[0].length;
    if (tag !== undefined) return tag;
    const mayBegin = rest.length === 1 || /^<[!/?a-z]/iu.test(rest);
    return mayBegin && rest.length < LONGEST_TAG ? 0 : 1;
  }

  /** A price is none. */
  #formula(): number {
    const rest = this.#text.slice(this.#at, this.#at + LONGEST_FORMULA);
    if (rest === '$') return 0;
    if (rest.startsWith('$$')) return this.#until('$$', 2);
    if (/^\$(?:\s|\d[\d.,]*(?:[\s)!?;:]|$))/u.test(rest)) return 1;
    const formula = /^\$[^$\n]*[^\s$]\$(?!\d)/u.exec(rest)?.[0].length;
    return formula ?? (rest.length < LONGEST_FORMULA ? 0 : 1);
  }

  #bracketEnd(): number {
    this.#brackets = Math.max(0, this.#brackets - 1);
    const next = this.#text.charAt(this.#at + 1);
    if (next === '') return this.#isPaused ? 1 : 0;
    if (next === '(') return this.#until(')', 2);
    return next === '[' ? this.#until(']', 2) : 1;
  }

  #emphasis(mark: string): number {
    const run = new RegExp(`^[${mark}]+`, 'u').exec(this.#text.slice(this.#at))?.[0].length ?? 1;
    const before = this.#text.charAt(this.#at - 1);
    const after = this.#text.charAt(this.#at + run);
    // After a space, the sign can only open what is still to come.
    const mayGoOn = !this.#isPaused || (!this.#isCut && /^\s?$/u.test(before));
    if (after === '' && mayGoOn) return 0;
    if (mark === '~' && run !== 2) return run;
    const open = this.#open.get(mark) ?? 0;
    const [canOpen, canClose] = [isFlank(before, after), isFlank(after, before)];
    const isInWord = mark === '_' && canOpen && canClose && !PUNCTUATION.test(before + after);
    const closes = !isInWord && canClose && open > 0;
    const opens = !isInWord && canOpen && !closes;
    const next = closes ? Math.max(0, open - run) : opens ? open + run : open;
    this.#marks += next - open;
    this.#open.set(mark, next);
    return run;
  }

  #until(closing: string, from: number): number {
    const end = this.#text.indexOf(closing, this.#at + from);
    return end < 0 ? 0 : end + closing.length - this.#at;
  }
}

/** Stands for what has left of a long paragraph: the parser sees the rest in its place. A noncharacter. */
export const LEFT = '\uFDD0';

/**
 * What is new in a block that was spoken in part before.
 * @param given what was spoken, of this block and perhaps of the next ones. Marks and spaces may differ: a full stop that
 *   closed an item is not in an item that goes on
 */
export function withoutSpoken(
  block: string,
  given: string,
): { readonly rest: string; readonly left: string } {
  if (given === '' && !block.includes(LEFT)) return { rest: block, left: '' };
  const text = block.replaceAll(LEFT, '');
  const start = afterSpace(given, 0);
  if (given.startsWith(text, start)) return { rest: '', left: given.slice(start + text.length) };
  let [at, told] = [0, 0];
  while (told < given.length) {
    const next = afterSpace(text, at);
    told = afterSpace(given, told);
    const [mine, other] = [characterAt(text, next), characterAt(given, told)];
    if (other === '') break;
    if (mine === '') return { rest: '', left: given.slice(told) };
    const isSame = mine === other;
    // A number that was spoken alone may have become the mark of an item.
    const isMark = !isSame && (!hasWord(other) || /\d/u.test(other));
    if (!isMark) at = next + mine.length;
    if (isMark || isSame || hasWord(mine)) told += other.length;
  }
  return { rest: text.slice(at), left: '' };
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/u.test(text.charAt(at))) at += 1;
  return at;
}

function characterAt(text: string, at: number): string {
  return text.slice(at, at + unitsAt(text, at));
}

/** UTF-16 units; longer titles are not repeated. */
const LONGEST_LABEL = 100;

/** "Name: Ada, Age: 36." */
export class TableReader {
  #labels: readonly string[] = [];
  #row: string[] = [];
  #isSaid = false;

  startRow(): void {
    this.#row = [];
  }

  cell(text: string): void {
    this.#row.push(text);
  }

  /** @returns titles that are too long to be repeated */
  endHead(): string {
    const titles = this.#row.map((title) => (/[:.]$/u.test(title) ? title.slice(0, -1).trimEnd() : title));
    if (titles.every((title) => title.length <= LONGEST_LABEL)) this.#labels = titles;
    else this.#isSaid = true;
    return this.#isSaid ? sentenceOf(this.#row) : '';
  }

  endRow(): string {
    this.#isSaid = true;
    return sentenceOf(
      this.#row.map((cell, column) => {
        const label = this.#labels[column];
        return cell !== '' && label ? `${label}: ${cell}` : cell;
      }),
    );
  }

  end(): string {
    return this.#isSaid ? '' : sentenceOf(this.#labels);
  }
}

function sentenceOf(parts: readonly string[]): string {
  const said: string[] = [];
  // Searching the whole row for each cell would be quadratic.
  let end = '';
  for (const part of parts) {
    if (part === '') continue;
    if (end !== '') said.push(endsSentence(end) ? ' ' : ', ');
    said.push(part);
    end = (end + part).slice(-SIGHT);
  }
  return withFullStop(said.join(''));
}
