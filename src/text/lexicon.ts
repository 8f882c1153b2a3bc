import { type TtsError, usageError } from '../kit/error.ts';
import type { Piece } from './piece.ts';
import { Position } from './position.ts';
import type { Stage } from './stage.ts';
import { hasWord, isHighSurrogate, isPair, UNSPACED, unitsAt } from './unicode.ts';

export interface Lexicon {
  readonly words: WordTree;
  readonly patterns: readonly Pattern[];
  readonly lines: readonly LexiconLine[];
}

/** A line of a lexicon that no later file overrides. */
interface LexiconLine {
  /** File name and line number, for messages. */
  readonly place: string;
  /** The left side of the equals sign. */
  readonly written: string;
  isUsed: boolean;
}

/** A word to replace. A space in it matches any one white-space character. */
interface Word {
  readonly word: string;
  readonly spoken: string;
  readonly ignoresCase: boolean;
  readonly line: LexiconLine;
}

/** A regular expression to replace, with the flags g and u. */
interface Pattern {
  readonly expression: RegExp;
  /** A replacement string of `String.replace()`: `$1` inserts a group. */
  readonly replacement: string;
  readonly line: LexiconLine;
}

interface LexiconFile {
  readonly source: string;
  /** File name for errors. */
  readonly name: string;
  /** True for a file named by a project's config, which may be someone else's: slow regular expressions are refused. */
  readonly isOfProject?: boolean;
}

/**
 * Reads lexicons: one word or expression per line. Empty lines and lines that begin with "#" are skipped.
 * word = spoken form: replaces the whole word in any case; "word =" removes it
 * Word /c = spoken form: in this case only; "/i" means any case. The flag needs a space before it ("a/c" is a word) and may
 * also end the line.
 * re:/(\d+)km/i = $1 kilometres: a JavaScript regular expression, which runs without a time limit
 * The first equals sign between spaces separates the two sides, or else the first one.
 * A later file overrides the same word of an earlier one.
 * @throws TtsError (usage) with the number of the first bad line
 */
export function readLexicons(files: readonly LexiconFile[]): Lexicon {
  const words = new WordTree();
  const known: KnownWords = new Map();
  const read = files.toReversed().map((file) => readInto(words, file, known));
  return {
    words,
    patterns: read.toReversed().flatMap(({ patterns }) => patterns),
    lines: read.toReversed().flatMap(({ lines }) => lines),
  };
}

/** Words of the current file and of the later ones, which were read before it, with their lines. */
type KnownWords = Map<string, { readonly file: LexiconFile; readonly line: number }>;

function readInto(words: WordTree, file: LexiconFile, known: KnownWords) {
  const { source, name, isOfProject } = file;
  const patterns: Pattern[] = [];
  const lines: LexiconLine[] = [];
  for (const [index, text] of source.split('\n').entries()) {
    const place = `${name}, line ${index + 1}`;
    const refuse: Refuse = (what, ...more) => usageError(`${place}: ${what}`, ...more);
    const parsed = parseLine(text.trim(), refuse);
    if (!parsed) continue;
    const line = { place, written: parsed.written, isUsed: false };
    if ('expression' in parsed) {
      if (isOfProject)
        throw refuse(
          'a lexicon that the config of a project names may have no regular expressions',
          `make words of it, or use the file yourself: --lexicon ${name}`,
        );
      lines.push(line);
      patterns.push({ ...parsed, line });
      continue;
    }
    const key = keyOf(parsed);
    const other = known.get(key);
    if (other?.file === file)
      throw refuse(`"${parsed.written}" is already on line ${other.line}`, 'keep one of the two lines');
    known.set(key, { file, line: index + 1 });
    if (other) continue;
    lines.push(line);
    const { spoken, flag } = parsed;
    for (const word of formsOf(parsed.written)) words.add({ word, spoken, ignoresCase: flag !== 'c', line });
  }
  return { patterns, lines };
}

interface WordLine {
  readonly written: string;
  readonly spoken: string;
  readonly flag: string | undefined;
}

type PatternLine = Omit<Pattern, 'line'> & { readonly written: string };

/** Returns a key that is the same for lines that define the same word. */
function keyOf({ written, flag }: WordLine): string {
  const [plain = ''] = formsOf(written);
  if (flag === 'i') return `${plain.toLowerCase()} /i`;
  return flag === 'c' ? `${plain} /c` : plain;
}

/** Returns the word in NFC and NFD, each with straight and curly apostrophes. */
function formsOf(word: string): string[] {
  const straight = word.replaceAll('’', "'").normalize('NFC');
  const forms = [straight, straight.normalize('NFD')];
  return [...new Set(forms.flatMap((form) => [form, form.replaceAll("'", '’')]))];
}

/** UTF-16 units. Up to this much text is held back to match a word. */
const LONGEST_WORD = 200;

/** UTF-16 units. */
const LONGEST_LINE = 4096;

const HOW_TO_WRITE = 'write: word = spoken form';

/** Makes the error for a line. */
type Refuse = (what: string, hint: string, cause?: unknown) => TtsError;

/**
 * @returns undefined for an empty line and a comment
 * @throws TtsError (usage)
 */
function parseLine(text: string, refuse: Refuse): WordLine | PatternLine | undefined {
  if (text === '' || text.startsWith('#')) return undefined;
  if (text.length > LONGEST_LINE)
    throw refuse(
      `it is longer than ${LONGEST_LINE} characters`,
      'say less for one word, or make several lines of it',
    );
  return text.startsWith('re:') ? parseExpression(text, refuse) : parseWord(text, refuse);
}

function parseWord(text: string, refuse: Refuse): WordLine {
  const equals = /\s=(?:\s|$)/u.exec(text)?.index ?? text.indexOf('=') - 1;
  if (equals < -1) throw refuse('there is no "="', HOW_TO_WRITE);
  const left = withoutFlag(text.slice(0, equals + 1).trim());
  const right = withoutFlag(text.slice(equals + 2).trim());
  const written = left.text.replace(/\s+/gu, ' ');
  if (written === '') throw refuse('there is no word before "="', HOW_TO_WRITE);
  if (written.length > LONGEST_WORD)
    throw refuse(`the word is longer than ${LONGEST_WORD} characters`, 'give its beginning, or use re:/.../');
  return { written, spoken: right.text, flag: left.flag ?? right.flag };
}

function withoutFlag(text: string): { readonly text: string; readonly flag: string | undefined } {
  const flag = /(?:^|\s)\/([ci])$/u.exec(text)?.[1];
  return { text: flag ? text.slice(0, -2).trimEnd() : text, flag };
}

const EXPRESSION_LINE = /^re:\/((?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[])+)\/([\p{L}]*)\s*=(.*)$/u;

function parseExpression(text: string, refuse: Refuse): PatternLine {
  const [, source, flags = '', replacement = ''] = EXPRESSION_LINE.exec(text) ?? [];
  if (source === undefined)
    throw refuse(`"${text}" is not of the form re:/expression/ = replacement`, 'write "/" in it as "\\/"');
  if (!/^[gimsu]*$/u.test(flags))
    throw refuse(`unknown flags "${flags}" after the regular expression`, 'it may have i, m and s');
  try {
    const expression = new RegExp(source, [...new Set(`${flags}gu`)].join(''));
    return { expression, replacement: replacement.trim(), written: `/${expression.source}/` };
  } catch (cause) {
    const reason = (cause as Error).message.split(': ').at(-1)?.toLowerCase();
    const hint = 'regular expressions are those of JavaScript with the flag u';
    throw refuse(`/${source}/ is not a regular expression: ${reason}`, hint, cause);
  }
}

/** UTF-16 units. Longer paragraphs are matched in parts. */
const LONGEST_PARAGRAPH = 8192;

/** UTF-16 units before a position that decide whether a word begins there. */
const CONTEXT = 2;

/**
 * Replaces words by their spoken forms. The result does not depend on how the text is split into pieces. Words hold back 200
 * UTF-16 units at most, regular expressions one paragraph.
 */
export class Replacing implements Stage<Piece, Piece> {
  readonly #lexicon: Lexicon;
  readonly #position = new Position();
  #text = '';
  /** UTF-16 units of `#text` that were already emitted, kept as context. */
  #start = 0;

  constructor(lexicon: Lexicon) {
    this.#lexicon = lexicon;
  }

  *push(piece: Piece): Generator<Piece> {
    if (piece.kind !== 'text') {
      yield* this.end();
      return yield piece;
    }
    this.#position.add(piece.text, piece.place);
    this.#text += piece.text;
    if (this.#lexicon.patterns.length === 0) yield* this.#words(false);
    else if (piece.text.includes('\n') || this.#text.length >= LONGEST_PARAGRAPH)
      yield* this.#paragraphs(false);
  }

  /** Ends the text: later text is not matched together with it. */
  end(): Generator<Piece> {
    return this.#lexicon.patterns.length === 0 ? this.#words(true) : this.#paragraphs(true);
  }

  *#words(isEnd: boolean): Generator<Piece> {
    for (const part of replaced(this.#text, this.#start, this.#lexicon, isEnd)) {
      this.#start += part.written.length;
      yield* this.#placed(part);
    }
    const passed = isEnd ? this.#text.length : Math.max(0, this.#start - CONTEXT);
    this.#text = this.#text.slice(passed);
    this.#start -= passed;
  }

  *#paragraphs(isEnd: boolean): Generator<Piece> {
    for (let length: number | undefined = 0; length !== undefined; ) {
      const space = this.#take(/^\s*/u.exec(this.#text)?.[0].length ?? 0);
      yield* this.#placed({ written: space, spoken: space });
      length = this.#text === '' ? undefined : paragraphLength(this.#text, isEnd);
      for (const part of replaced(this.#take(length ?? 0), 0, this.#lexicon, true)) yield* this.#placed(part);
    }
  }

  #take(length: number): string {
    const taken = this.#text.slice(0, length);
    this.#text = this.#text.slice(length);
    return taken;
  }

  *#placed({ written, spoken }: Replaced): Generator<Piece> {
    const { place } = this.#position;
    this.#position.pass(written);
    if (spoken !== '') yield { kind: 'text', text: spoken, place };
  }
}

/** Length of the first paragraph, or of its longest part that fits; `undefined` if it may continue. */
function paragraphLength(text: string, isEnd: boolean): number | undefined {
  const fitting = text.slice(0, LONGEST_PARAGRAPH);
  const gap = fitting.search(/\n[^\S\n]*\n/u);
  if (gap >= 0) return fitting.slice(0, gap).trimEnd().length;
  if (text.length >= LONGEST_PARAGRAPH) return lastBorder(fitting);
  return isEnd ? fitting.trimEnd().length : undefined;
}

/** Returns the end of the last whole word, or of the last character if there are no spaces. */
function lastBorder(text: string): number {
  for (let at = text.length - 1; at > 0; at -= 1) {
    if (/\s/u.test(text.charAt(at))) return text.slice(0, at).trimEnd().length;
  }
  return wholeLength(text);
}

interface Replaced {
  readonly written: string;
  readonly spoken: string;
}

/** A match and its spoken form. Offsets are UTF-16 units. */
interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly spoken: string;
  /** `undefined` if only more text can decide whether there is a match. */
  readonly line?: LexiconLine;
}

type Find = (from: number) => Replacement | undefined;

/**
 * Applies the lexicon from an offset on. The earliest match wins, then the longest, then the earlier line; words win over
 * expressions. Replacements are not searched again.
 * @param isEnd true if no text follows; otherwise stops before text that only more text can decide
 * @returns parts of the text; a match that spans lines ends its part
 */
function* replaced(
  text: string,
  from: number,
  { words, patterns }: Pick<Lexicon, 'words' | 'patterns'>,
  isEnd: boolean,
): Generator<Replaced> {
  const finds: Find[] = [
    (at) => words.find(text, at, isEnd),
    ...patterns.map((pattern) => finderOf(pattern, text)),
  ];
  const found = finds.map((find) => find(from));
  let [start, at, spoken] = [from, from, ''];
  let best = earliest(found);
  for (; best?.line; best = earliest(found)) {
    spoken += text.slice(at, best.start) + best.spoken;
    best.line.isUsed = true;
    at = best.end;
    if (text.slice(best.start, at).includes('\n')) {
      yield { written: text.slice(start, at), spoken };
      [start, spoken] = [at, ''];
    }
    for (const [index, find] of finds.entries()) {
      const stale = found[index];
      if (stale && stale.start < at) found[index] = find(at);
    }
  }
  const end = best?.start ?? (isEnd ? text.length : Math.max(at, wholeLength(text)));
  yield { written: text.slice(start, end), spoken: spoken + text.slice(at, end) };
}

function finderOf({ expression, replacement, line }: Pattern, text: string): Find {
  const here = new RegExp(expression.source, expression.flags.replace('g', 'y'));
  return (from) => {
    const match = nextMatch(expression, text, from);
    if (!match) return undefined;
    here.lastIndex = match.start;
    const whole = text.replace(here, replacement);
    const spoken = whole.slice(match.start, whole.length - (text.length - match.end));
    return { ...match, spoken, line };
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

function earliest(found: readonly (Replacement | undefined)[]): Replacement | undefined {
  let best: Replacement | undefined;
  for (const next of found) {
    if (!next) continue;
    const isLonger = next.start === best?.start && next.end > best.end;
    if (!best || next.start < best.start || isLonger) best = next;
  }
  return best;
}

/** A letter in the tree. Most have one successor: a map for each of them would take a gigabyte. */
class Node {
  words: readonly Word[] = [];
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

const IN_WORD = new RegExp(`[[\\p{L}\\p{M}\\p{N}_\\u200c\\u200d]--[${UNSPACED}]]`, 'v');

const DIGIT = /\p{N}/u;

/**
 * Finds whole words: no letter, digit, combining mark or part of a number is next to them. A word without letters and digits
 * ("→") is found anywhere.
 */
class WordTree {
  readonly #root = new Node();

  add(word: Word): void {
    let node = this.#root;
    for (let at = 0; at < word.word.length; at += 1) node = node.grow(fold(word.word.charAt(at)));
    node.words = [...node.words, word];
  }

  /**
   * Returns the first match, and the longest one there.
   * @param isEnd true if no text follows
   */
  find(text: string, from: number, isEnd: boolean): Replacement | undefined {
    for (let at = from; at < text.length; at += 1) {
      if (!this.#root.next(fold(text.charAt(at)))) continue;
      const found = this.#match(text, at, isEnd);
      if (found === 'undecided') return { start: at, end: at, spoken: '' };
      if (!found) continue;
      const { word, spoken, line } = found;
      return { start: at, end: at + word.length, spoken, line };
    }
    return undefined;
  }

  #match(text: string, start: number, isEnd: boolean): Word | 'undecided' | undefined {
    const known = isEnd ? text.length : wholeLength(text);
    const isInside = IN_WORD.test(characterBefore(text, start)) || isInNumber(text, start - 1);
    let longest: Word | undefined;
    let node: Node | undefined = this.#root;
    for (let at = start; node !== undefined; at += 1) {
      if (!isEnd && at + (isPoint(text, at) ? 1 : 0) >= known && dependsOnNext(node)) return 'undecided';
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

/** True for a point or comma after a digit, which may be part of a number. */
function isPoint(text: string, at: number): boolean {
  const sign = text.charAt(at);
  return (sign === '.' || sign === ',') && DIGIT.test(text.charAt(at - 1));
}

function isInNumber(text: string, at: number): boolean {
  return isPoint(text, at) && DIGIT.test(text.charAt(at + 1));
}

function dependsOnNext({ isLast, words }: Node): boolean {
  return !isLast || words.some(({ word }) => hasWord(word));
}

/** Returns the length without half a surrogate pair at the end. */
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

/** Folds the case and white space of one UTF-16 unit into one unit, so that offsets stay. */
function fold(unit: string): string {
  const known = folded.get(unit);
  if (known !== undefined) return known;
  const lower = unit.toUpperCase().toLowerCase();
  const result = /\s/u.test(unit) ? ' ' : lower.length === 1 ? lower : unit;
  folded.set(unit, result);
  return result;
}
