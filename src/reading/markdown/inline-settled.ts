import { WAITS } from '../../text/complete.ts';

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
const MARK = /[*_~`[\]<&\\!$]/u;

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
    return DENSE.test(before) && !MARK.test(here);
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
