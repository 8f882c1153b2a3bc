import { type TtsError, usageError } from '../kit/error.ts';
import type { Piece } from './piece.ts';
import { Position } from './position.ts';
import type { Stage } from './stage.ts';
import { hasWord, isHighSurrogate, isPair, unitsAt } from './unicode.ts';

/** A space stands for any one character of white space. */
interface Word {
  readonly word: string;
  readonly spoken: string;
  readonly ignoresCase: boolean;
  readonly usage?: Usage;
}

/** All forms of a word share it. */
interface Usage {
  isUsed: boolean;
}

/** Positions count UTF-16 units. */
interface Replacement {
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
class WordTree {
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
function wholeLength(text: string): number {
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

/** It has the flags g and u. */
interface Pattern {
  readonly expression: RegExp;
  /** It has the form of the second argument of String.replace(). */
  readonly replacement: string;
  readonly usage: Usage;
}

type Find = (from: number) => Replacement | undefined;

/**
 * The first match counts, then the longest, then the earlier line; a word comes before an expression. A replacement is not
 * searched again.
 */
function replaced(text: string, { words, patterns }: Pick<Lexicon, 'words' | 'patterns'>): string {
  const finds: Find[] = [
    (from) => words.find(text, from),
    ...patterns.map((pattern) => finderOf(pattern, text)),
  ];
  const found = finds.map((find) => find(0));
  let result = '';
  let at = 0;
  for (let best = first(found); best; best = first(found)) {
    result += text.slice(at, best.start) + best.spoken;
    if (best.usage) best.usage.isUsed = true;
    at = best.end;
    for (const [index, find] of finds.entries()) {
      const stale = found[index];
      if (stale && stale.start < at) found[index] = find(at);
    }
  }
  return result + text.slice(at);
}

function finderOf({ expression, replacement, usage }: Pattern, text: string): Find {
  const here = new RegExp(expression.source, expression.flags.replace('g', 'y'));
  return (from) => {
    const match = nextMatch(expression, text, from);
    if (!match) return undefined;
    here.lastIndex = match.start;
    const whole = text.replace(here, replacement);
    const spoken = whole.slice(match.start, whole.length - (text.length - match.end));
    return { ...match, spoken, usage };
  };
}

function nextMatch(
  expression: RegExp,
  text: string,
  from: number,
): { start: number; end: number } | undefined {
  expression.lastIndex = from;
  for (let match = expression.exec(text); match; match = expression.exec(text)) {
    if (match[0] !== '') return { start: match.index, end: match.index + match[0].length };
    expression.lastIndex += unitsAt(text, expression.lastIndex);
  }
  return undefined;
}

function first(found: readonly (Replacement | undefined)[]): Replacement | undefined {
  let best: Replacement | undefined;
  for (const next of found) {
    if (!next) continue;
    const isLonger = next.start === best?.start && next.end > best.end;
    if (!best || next.start < best.start || isLonger) best = next;
  }
  return best;
}

export interface Lexicon {
  readonly words: WordTree;
  readonly patterns: readonly Pattern[];
  readonly lines: readonly LexiconLine[];
}

interface LexiconFile {
  readonly source: string;
  /** For errors. */
  readonly name: string;
  /** True for a file that somebody else's config names: it has no regular expressions, as they can take ages. */
  readonly isOfProject?: boolean;
}

/** A line of a lexicon. Those that a later file replaces are none. */
interface LexiconLine extends Usage {
  /** It names the file and the line. */
  readonly place: string;
  /** What is before the equals sign. */
  readonly written: string;
}

/**
 * Reads a lexicon, one word or expression a line. Empty lines and lines that begin with "#" are skipped:
 * word = spoken form: a whole word in any case; "word =" leaves it out
 * Word /c = spoken form: in this case only; "/c" may also end the line, and "/i" says that any case is meant. White space
 * stands in front of them: "a/c" is a word.
 * re:/(\d+)km/i = $1 kilometres: a regular expression of JavaScript, which nothing stops if it takes ages
 * The first equals sign between white space separates, or else the first one.
 * A word of a later file takes the place of the same word in an earlier one.
 * @throws TtsError (usage) with the number of the first bad line
 */
export function readLexicons(files: readonly LexiconFile[]): Lexicon {
  const words = new WordTree();
  const read: ReturnType<typeof readInto>[] = [];
  const known = new Set<string>();
  for (const file of files.toReversed()) {
    const own = readInto(words, file, known);
    read.unshift(own);
    for (const key of own.keys) known.add(key);
  }
  return {
    words,
    patterns: read.flatMap(({ patterns }) => patterns),
    lines: read.flatMap(({ lines }) => lines),
  };
}

/** @param known words of later files */
function readInto(
  words: WordTree,
  { source, name, isOfProject = false }: LexiconFile,
  known: ReadonlySet<string>,
) {
  const patterns: Pattern[] = [];
  const lines: LexiconLine[] = [];
  const lineOf = new Map<string, number>();
  for (const [index, line] of source.split('\n').entries()) {
    const number = index + 1;
    const place = `${name}, line ${number}`;
    const parsed = parseLine(line, place);
    if (parsed === undefined) continue;
    if ('expression' in parsed) {
      if (isOfProject)
        throw bad(
          place,
          'a lexicon that the config of a project names may have no regular expressions',
          `make words of it, or use the file yourself: --lexicon ${name}`,
        );
      const usage: LexiconLine = { place, written: `/${parsed.expression.source}/`, isUsed: false };
      lines.push(usage);
      patterns.push({ ...parsed, usage });
      continue;
    }
    const key = keyOf(parsed);
    const earlier = lineOf.get(key);
    if (earlier !== undefined) throw isThere(place, parsed.word, earlier);
    lineOf.set(key, number);
    if (known.has(key)) continue;
    const usage: LexiconLine = { place, written: parsed.word, isUsed: false };
    lines.push(usage);
    const { spoken, flag } = parsed;
    for (const word of formsOf(parsed.word)) words.add({ word, spoken, ignoresCase: flag !== 'c', usage });
  }
  return { patterns, lines, keys: lineOf.keys() };
}

interface WordLine extends Pick<Word, 'word' | 'spoken'> {
  readonly flag: string | undefined;
}

/** Two lines with the same key contradict each other. */
function keyOf({ word, flag }: WordLine): string {
  const [plain = ''] = formsOf(word);
  if (flag === 'i') return `${plain.toLowerCase()} /i`;
  return flag === 'c' ? `${plain} /c` : plain;
}

/** NFC and NFD, the apostrophe straight and curly. */
function formsOf(word: string): string[] {
  const straight = word.replaceAll('’', "'").normalize('NFC');
  const forms = [straight, straight.normalize('NFD')];
  return [...new Set(forms.flatMap((form) => [form, form.replaceAll("'", '’')]))];
}

function isThere(place: string, word: string, earlier: number): TtsError {
  return usageError(`${place}: "${word}" is already on line ${earlier}`, 'keep one of the two lines');
}

/** UTF-16 units; a text waits for this number. */
const LONGEST_WORD = 200;

/** UTF-16 units. */
const LONGEST_LINE = 4096;

const EXPRESSION_LINE = /^re:\/((?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[])+)\/([\p{L}]*)\s*=(.*)$/u;
const ALLOWED_FLAGS = /^[gimsu]*$/u;

/**
 * @param place for errors
 * @returns undefined for an empty line and a comment
 * @throws TtsError (usage)
 */
function parseLine(line: string, place: string): WordLine | Omit<Pattern, 'usage'> | undefined {
  const text = line.trim();
  if (text === '' || text.startsWith('#')) return undefined;
  if (text.length > LONGEST_LINE)
    throw bad(
      place,
      `it is longer than ${LONGEST_LINE} characters`,
      'say less for one word, or make several lines of it',
    );
  return text.startsWith('re:') ? parseExpression(text, place) : parseWord(text, place);
}

function parseWord(text: string, place: string): WordLine {
  const equals = /\s=(?:\s|$)/u.exec(text)?.index ?? text.indexOf('=') - 1;
  if (equals < -1) throw bad(place, 'there is no "="', HOW_TO_WRITE);
  const left = withoutFlag(text.slice(0, equals + 1).trim());
  const right = withoutFlag(text.slice(equals + 2).trim());
  const word = left.text.replace(/\s+/gu, ' ');
  if (word === '') throw bad(place, 'there is no word before "="', HOW_TO_WRITE);
  if (word.length > LONGEST_WORD) {
    throw bad(
      place,
      `the word is longer than ${LONGEST_WORD} characters`,
      'give its beginning, or use re:/.../',
    );
  }
  return { word, spoken: right.text, flag: left.flag ?? right.flag };
}

function withoutFlag(text: string): { readonly text: string; readonly flag: string | undefined } {
  const flag = /(?:^|\s)\/([ci])$/u.exec(text)?.[1];
  return { text: flag ? text.slice(0, -2).trimEnd() : text, flag };
}

function parseExpression(text: string, place: string): Omit<Pattern, 'usage'> {
  const [, source, flags, replacement] = EXPRESSION_LINE.exec(text) ?? [];
  if (source === undefined || flags === undefined || replacement === undefined) {
    throw bad(
      place,
      `"${text}" is not of the form re:/expression/ = replacement`,
      'write "/" in it as "\\/"',
    );
  }
  if (!ALLOWED_FLAGS.test(flags)) {
    throw bad(place, `unknown flags "${flags}" after the regular expression`, 'it may have i, m and s');
  }
  try {
    const expression = new RegExp(source, [...new Set(`${flags}gu`)].join(''));
    return { expression, replacement: replacement.trim() };
  } catch (cause) {
    const reason = (cause as Error).message.split(': ').at(-1)?.toLowerCase();
    const hint = 'regular expressions are those of JavaScript with the flag u';
    throw bad(place, `/${source}/ is not a regular expression: ${reason}`, hint, cause);
  }
}

const HOW_TO_WRITE = 'write: word = spoken form';

function bad(place: string, problem: string, hint: string, cause?: unknown): TtsError {
  return usageError(`${place}: ${problem}`, hint, cause);
}

/** UTF-16 units. */
const LONGEST_PARAGRAPH = 8192;
/** UTF-16 units. */
const CONTEXT = 2;

/**
 * Replaces words by how they are spoken. The result does not depend on the pieces. Words hold back 200 UTF-16 units at most,
 * regular expressions one paragraph.
 */
export class Replacing implements Stage<Piece, Piece> {
  readonly #stream: WordStream | ParagraphStream;
  readonly #position = new Position();

  constructor(lexicon: Lexicon) {
    this.#stream = lexicon.patterns.length > 0 ? new ParagraphStream(lexicon) : new WordStream(lexicon.words);
  }

  *push(piece: Piece): Generator<Piece> {
    if (piece.kind === 'text') {
      this.#position.add(piece.text, piece.place);
      yield* this.#placed(this.#stream.push(piece.text));
    } else {
      yield* this.end();
      yield piece;
    }
  }

  *end(): Generator<Piece> {
    yield* this.#placed(this.#stream.end());
  }

  *#placed(all: Iterable<Replaced>): Generator<Piece> {
    for (const { written, spoken } of all) {
      const { place } = this.#position;
      this.#position.pass(written);
      if (spoken !== '') yield { kind: 'text', text: spoken, place };
    }
  }
}

interface Replaced {
  readonly written: string;
  readonly spoken: string;
}

class WordStream {
  readonly #words: WordTree;
  #text = '';
  #start = 0;

  constructor(words: WordTree) {
    this.#words = words;
  }

  *push(text: string): Generator<Replaced> {
    this.#text += text;
    yield* this.#replace(false);
  }

  /** What comes next does not touch what came. */
  *end(): Generator<Replaced> {
    yield* this.#replace(true);
    this.#text = '';
    this.#start = 0;
  }

  *#replace(isEnd: boolean): Generator<Replaced> {
    const text = this.#text;
    let start = this.#start;
    let spoken = '';
    let at = start;
    let found = this.#words.find(text, at, isEnd);
    while (typeof found === 'object') {
      spoken += text.slice(at, found.start) + found.spoken;
      if (found.usage) found.usage.isUsed = true;
      const isInOneLine = !text.slice(found.start, found.end).includes('\n');
      at = found.end;
      found = this.#words.find(text, at, isEnd);
      if (isInOneLine) continue;
      yield { written: text.slice(start, at), spoken };
      start = at;
      spoken = '';
    }
    const end = found ?? (isEnd ? text.length : Math.max(at, wholeLength(text)));
    const kept = Math.max(0, end - CONTEXT);
    this.#text = text.slice(kept);
    this.#start = end - kept;
    yield { written: text.slice(start, end), spoken: spoken + text.slice(at, end) };
  }
}

class ParagraphStream {
  readonly #lexicon: Lexicon;
  #text = '';

  constructor(lexicon: Lexicon) {
    this.#lexicon = lexicon;
  }

  *push(text: string): Generator<Replaced> {
    this.#text += text;
    if (text.includes('\n') || this.#text.length >= LONGEST_PARAGRAPH) yield* this.#replace(false);
  }

  *end(): Generator<Replaced> {
    yield* this.#replace(true);
  }

  *#replace(isEnd: boolean): Generator<Replaced> {
    for (;;) {
      const space = this.#take(spaceInFront(this.#text));
      const length = this.#text === '' ? undefined : paragraphLength(this.#text, isEnd);
      const paragraph = this.#take(length ?? 0);
      yield { written: space + paragraph, spoken: space + replaced(paragraph, this.#lexicon) };
      if (length === undefined) return;
    }
  }

  #take(length: number): string {
    const taken = this.#text.slice(0, length);
    this.#text = this.#text.slice(length);
    return taken;
  }
}

function spaceInFront(text: string): number {
  const first = text.search(/\S/u);
  return first < 0 ? text.length : first;
}

/** Of the first one, or of the longest part that fits; undefined if it may go on. */
function paragraphLength(text: string, isEnd: boolean): number | undefined {
  const fitting = text.slice(0, LONGEST_PARAGRAPH);
  const gap = fitting.search(/\n[^\S\n]*\n/u);
  if (gap >= 0) return fitting.slice(0, gap).trimEnd().length;
  if (text.length >= LONGEST_PARAGRAPH) return lastBorder(fitting);
  return isEnd ? fitting.trimEnd().length : undefined;
}

/** It gives the end of the last whole word, or of the last character where there are no spaces. */
function lastBorder(text: string): number {
  for (let at = text.length - 1; at > 0; at -= 1) {
    if (/\s/u.test(text.charAt(at))) return text.slice(0, at).trimEnd().length;
  }
  return wholeLength(text);
}
