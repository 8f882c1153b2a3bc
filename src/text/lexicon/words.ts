import { hasWord, isHighSurrogate, isPair } from '../unicode.ts';

/** A space stands for any one character of white space. */
export interface Word {
  readonly word: string;
  readonly spoken: string;
  readonly ignoresCase: boolean;
  readonly usage?: Usage;
}

/** All forms of a word share it. */
export interface Usage {
  isUsed: boolean;
}

/** Positions count UTF-16 units. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly spoken: string;
  readonly usage?: Usage | undefined;
}

const NO_WORDS: readonly Word[] = [];

/** Most letters have one successor: a map for each would take a gigabyte. */
class Node {
  words = NO_WORDS;
  #unit = '';
  #only: Node | undefined;
  #others: Map<string, Node> | undefined;

  get isLast(): boolean {
    return this.#only === undefined;
  }

  next(unit: string): Node | undefined {
    return this.#unit === unit ? this.#only : this.#others?.get(unit);
  }

  grow(unit: string): Node {
    const known = this.next(unit);
    if (known) return known;
    const node = new Node();
    if (this.#only) {
      this.#others ??= new Map();
      this.#others.set(unit, node);
    } else {
      this.#unit = unit;
      this.#only = node;
    }
    return node;
  }
}

const unspaced = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan'];
const scripts = unspaced.map((script) => `\\p{sc=${script}}`).join('');
const IN_WORD = new RegExp(`[[\\p{L}\\p{M}\\p{N}_\\u200c\\u200d]--[${scripts}]]`, 'v');

const DIGIT = /\p{N}/u;

/**
 * Finds words without a letter, digit, mark or rest of a number next to them. A word without letters and digits ("→") is
 * found anywhere.
 */
export class WordTree {
  readonly #root = new Node();

  add(word: Word): void {
    let node = this.#root;
    for (let at = 0; at < word.word.length; at += 1) node = node.grow(fold(word.word.charAt(at)));
    node.words = [...node.words, word];
  }

  /**
   * The first match, the longest one there.
   * @param isEnd true if no text follows
   * @returns an offset, if only more text can decide what is there
   */
  find(text: string, from: number, isEnd: boolean): Replacement | number | undefined;
  find(text: string, from: number): Replacement | undefined;
  find(text: string, from: number, isEnd = true): Replacement | number | undefined {
    for (let at = from; at < text.length; at += 1) {
      if (!this.#root.next(fold(text.charAt(at)))) continue;
      const found = this.#match(text, at, isEnd);
      if (found === 'undecided') return at;
      if (found) {
        const { word, spoken, usage } = found;
        return { start: at, end: at + word.length, spoken, usage };
      }
    }
    return undefined;
  }

  #match(text: string, start: number, isEnd: boolean): Word | 'undecided' | undefined {
    const known = isEnd ? text.length : wholeLength(text);
    const isInside = IN_WORD.test(characterBefore(text, start)) || isInNumber(text, start - 1);
    let longest: Word | undefined;
    let node: Node | undefined = this.#root;
    for (let at = start; node !== undefined; at += 1) {
      if (!isEnd && at + (isPoint(text, at) ? 1 : 0) >= known && hangsOnNext(node)) return 'undecided';
      if (node.words.length > 0) {
        const isPart = isInside || IN_WORD.test(characterAt(text, at)) || isInNumber(text, at);
        longest = choose(node.words, text.slice(start, at), isPart) ?? longest;
      }
      node = at < text.length ? node.next(fold(text.charAt(at))) : undefined;
    }
    return longest;
  }
}

function choose(words: readonly Word[], written: string, isPart: boolean): Word | undefined {
  const plain = written.replace(/\s/gu, ' ');
  const fitting = words.filter(({ word }) => !(isPart && hasWord(word)));
  return fitting.find(({ word }) => word === plain) ?? fitting.find(({ ignoresCase }) => ignoresCase);
}

/** A point or comma counts after a digit only. */
function isPoint(text: string, at: number): boolean {
  const sign = text.charAt(at);
  return (sign === '.' || sign === ',') && DIGIT.test(text.charAt(at - 1));
}

function isInNumber(text: string, at: number): boolean {
  return isPoint(text, at) && DIGIT.test(text.charAt(at + 1));
}

function hangsOnNext({ isLast, words }: Node): boolean {
  return !isLast || words.some(({ word }) => hasWord(word));
}

/** The length leaves out half a surrogate pair at the end. */
export function wholeLength(text: string): number {
  return isHighSurrogate(text, text.length - 1) ? text.length - 1 : text.length;
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function characterBefore(text: string, at: number): string {
  return text.slice(at - (isPair(text, at - 2) ? 2 : 1), at);
}

const folded = new Map<string, string>();

/** One UTF-16 unit: offsets stay. */
function fold(unit: string): string {
  const known = folded.get(unit);
  if (known !== undefined) return known;
  const lower = unit.toUpperCase().toLowerCase();
  const result = /\s/u.test(unit) ? ' ' : lower.length === 1 ? lower : unit;
  folded.set(unit, result);
  return result;
}
