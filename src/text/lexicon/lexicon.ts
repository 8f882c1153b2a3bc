import { type TtsError, usageError } from '../../error.ts';
import type { Pattern } from './patterns.ts';
import { type Usage, type Word, WordTree } from './words.ts';

export interface Lexicon {
  readonly words: WordTree;
  readonly patterns: readonly Pattern[];
  readonly lines: readonly LexiconLine[];
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
 * re:/(\d+)km/i = $1 kilometres: a regular expression of JavaScript, with a limited number of choices
 * The first equals sign between white space separates, or else the first one.
 * A word of a later file takes the place of the same word in an earlier one.
 * @throws TtsError (usage) with the number of the first bad line
 */
export function readLexicons(files: readonly { readonly source: string; readonly name: string }[]): Lexicon {
  const words = new WordTree();
  const read: ReturnType<typeof readInto>[] = [];
  const known = new Set<string>();
  for (const { source, name } of files.toReversed()) {
    const own = readInto(words, source, name, known);
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
function readInto(words: WordTree, source: string, name: string, known: ReadonlySet<string>) {
  const patterns: Pattern[] = [];
  const lines: LexiconLine[] = [];
  const lineOf = new Map<string, number>();
  for (const [index, line] of source.split('\n').entries()) {
    const number = index + 1;
    const place = `${name}, line ${number}`;
    const parsed = parseLine(line, place);
    if (parsed === undefined) continue;
    if ('expression' in parsed) {
      const usage: LexiconLine = { place, written: `/${parsed.expression.source}/`, isUsed: false };
      lines.push(usage);
      patterns.push({ ...parsed, place, usage });
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
function parseLine(line: string, place: string): WordLine | Omit<Pattern, 'place'> | undefined {
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

function parseExpression(text: string, place: string): Omit<Pattern, 'place'> {
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
  if (costOf(source) > MOST_CHOICES)
    throw bad(
      place,
      'the regular expression has too many repetitions, alternatives and classes',
      `make several lines of it: ? * + { | may stand in it ${MOST_CHOICES} times in all, and a class such as [a-z] counts for ${CLASS_COST}`,
    );
  try {
    const expression = new RegExp(source, [...new Set(`${flags}gu`)].join(''));
    return { expression, replacement: replacement.trim() };
  } catch (cause) {
    const reason = (cause as Error).message.split(': ').at(-1)?.toLowerCase();
    const hint = 'regular expressions are those of JavaScript with the flag u';
    throw bad(place, `/${source}/ is not a regular expression: ${reason}`, hint, cause);
  }
}

/** V8 compiles an expression in a time that doubles with each few choices, and nothing can interrupt it. */
const MOST_CHOICES = 20;
/** Classes beyond ASCII are compiled to alternatives. */
const CLASS_COST = 4;

/** It matches the sign of a choice, or a class. Escapes, and what begins a group, come first. */
const CHOICE = /\\[^pPDSW]|\(\?|(\[(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\.|\.)|([?*+{|])/gsu;

function costOf(expression: string): number {
  let cost = 0;
  for (const [, isClass, isChoice] of expression.matchAll(CHOICE))
    cost += isClass ? CLASS_COST : isChoice ? 1 : 0;
  return cost;
}

const HOW_TO_WRITE = 'write: word = spoken form';

function bad(place: string, problem: string, hint: string, cause?: unknown): TtsError {
  return usageError(`${place}: ${problem}`, hint, cause);
}
