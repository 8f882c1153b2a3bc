import { usageError } from '../kit/error.ts';
import { visible } from '../kit/words.ts';
import { END_BEFORE_ERROR, labelOf, type Piece, type Place, placeAfter, type TextPiece } from './piece.ts';
import type { Stage } from './stage.ts';
import { countLineBreaks, lazy } from './unicode.ts';

/**
 * Each mark becomes a placeholder: one character of the private-use planes 15 and 16. Such characters in the input are
 * replaced by a placeholder, too, so that none is taken for a mark.
 */
const FIRST_MARK = 0xf_0000;
export const MARK = '[\\u{f0000}-\\u{10ffff}]';

interface MarksOptions {
  /** The name of the input, for messages. */
  readonly source: string;
  /** Called as soon as a mark is read. */
  readonly onMark?: (mark: Mark, place: Place) => void;
  /** False if brackets in the input are plain text: then only readers create marks. */
  readonly areObeyed?: boolean;
}

/**
 * The marks of one input, such as `[pause:1s]`. `lift()` replaces each by a placeholder before the reader, and `place()`
 * turns placeholders into pieces after it. Readers, lexicons and sentence rules see one character per mark. Equal marks
 * share a placeholder, so repeated marks take no memory.
 */
export class Marks {
  readonly #options: MarksOptions;
  readonly #marks: Mark[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(options: MarksOptions) {
    this.#options = options;
  }

  /** Replaces marks by placeholders; holds back text that may be the beginning of a mark. */
  lift(): Stage<string, string> {
    return new MarkStage(this.#options, (mark, place) => this.#placeholder(mark, place));
  }

  /**
   * Returns a placeholder that a reader inserts where the language changes.
   * @param isWhole true if the language is declared for the whole document
   */
  languageMark(language: string | undefined, isWhole: boolean): string {
    return this.#placeholder({ kind: 'language', language, isWhole });
  }

  /** Turns placeholders into pieces. A faulty mark throws, after the text before it was flushed. */
  place(): Stage<Piece, Piece> {
    return { push: (piece) => this.#placed(piece), end: () => [] };
  }

  /** @throws TtsError (usage) */
  #placeholder(mark: Mark, place?: Place): string {
    const key = JSON.stringify(mark);
    // An unknown voice is reported at the place where it is named first.
    const placed = mark.kind === 'voice' && place ? { ...mark, place } : mark;
    const number = this.#numbers.get(key) ?? this.#marks.push(placed) - 1;
    if (number > LAST - FIRST_MARK)
      throw usageError('the text has too many different marks', 'speak it in several parts');
    this.#numbers.set(key, number);
    return String.fromCodePoint(FIRST_MARK + number);
  }

  #markOf(text: string): Mark | undefined {
    return PRIVATE.test(text) ? this.#marks[(text.codePointAt(0) ?? 0) - FIRST_MARK] : undefined;
  }

  /** @throws TtsError (usage) at a faulty mark */
  *#placed(piece: Piece): Generator<Piece> {
    if (piece.kind === 'chapter') return yield { ...piece, title: this.#titleOf(piece.title) };
    if (piece.kind !== 'text') return yield piece;
    if (!PRIVATE.test(piece.text)) return yield { ...piece, text: compact(piece.text) };
    let { place } = piece;
    let text = '';
    const spoken = (): TextPiece => ({ kind: 'text', text: compact(text), place });
    for (const part of piece.text.split(BETWEEN)) {
      const mark = this.#markOf(part);
      if (!mark || mark.kind === 'literal') {
        text += mark?.text ?? part;
        continue;
      }
      if (text !== '') yield spoken();
      place = placeAfter(place, text);
      text = '';
      yield* placed(mark, place);
    }
    if (text !== '') yield spoken();
  }

  /** Replaces placeholders in a title, and ends it before a mark that begins another chapter. */
  #titleOf(title = ''): string | undefined {
    let text = '';
    for (const part of title.split(BETWEEN)) {
      const mark = this.#markOf(part);
      if (mark?.kind === 'chapter') break;
      text += mark ? (mark.kind === 'literal' ? mark.text : mark.kind === 'language' ? '' : ' ') : part;
    }
    return text.replace(/\s+/gu, ' ').trim() || undefined;
  }
}

interface Lifted {
  /** UTF-16 units. */
  readonly length: number;
  readonly as: string;
}

class MarkStage implements Stage<string, string> {
  readonly #options: MarksOptions;
  readonly #placeholder: (mark: Mark, place?: Place) => string;
  #held = '';
  #line = 1;
  #column = 1;

  constructor(options: MarksOptions, placeholder: (mark: Mark, place?: Place) => string) {
    this.#options = options;
    this.#placeholder = placeholder;
  }

  *push(text: string): Generator<string> {
    const lifted = this.#lift(this.#held + text, false);
    if (lifted !== '') yield lifted;
  }

  *end(): Generator<string> {
    const lifted = this.#lift(this.#held, true);
    if (lifted !== '') yield lifted;
  }

  #lift(text: string, isWhole: boolean): string {
    let lifted = '';
    let at = 0;
    this.#held = '';
    for (let next = this.#next(text, at); next < text.length; next = this.#next(text, at)) {
      lifted += text.slice(at, next);
      this.#move(text.slice(at, next));
      at = next;
      const taken = this.#take(text, at, isWhole);
      if (taken === 'open') {
        this.#held = text.slice(at);
        return lifted;
      }
      lifted += taken.as;
      this.#move(text.slice(at, at + taken.length));
      at += taken.length;
    }
    this.#move(text.slice(at));
    return lifted + text.slice(at);
  }

  /** @returns the offset of a character that may begin a mark, or the end */
  #next(text: string, from: number): number {
    const beginning = this.#options.areObeyed === false ? ANY_PLACEHOLDER : MARK_BEGINNING;
    beginning.lastIndex = from;
    return beginning.exec(text)?.index ?? text.length;
  }

  #take(text: string, at: number, isWhole: boolean): Lifted | 'open' {
    const first = text.charAt(at);
    if (first === '\\') return this.#backslashes(text, at, isWhole);
    if (first !== '[') return { length: 2, as: this.#literal(text.slice(at, at + 2)) };
    const found = markAt(text.slice(at, at + LONGEST_MARK), isWhole);
    if (found === 'open') return 'open';
    if (!found) return { length: 1, as: '[' };
    const { source } = this.#options;
    const place: Place = { source, line: this.#line, column: this.#column };
    const mark = found.mark.kind === 'fault' ? { ...found.mark, place } : found.mark;
    this.#options.onMark?.(found.mark, place);
    return { length: found.length, as: this.#placeholder(mark, place) };
  }

  /** Before a bracket, two backslashes mean one, and an odd last one makes the bracket literal. */
  #backslashes(text: string, at: number, isWhole: boolean): Lifted | 'open' {
    const [run = ''] = /^\\+/u.exec(text.slice(at)) ?? [];
    const { length } = run;
    if (at + length === text.length && !isWhole && length < LONGEST_MARK) return 'open';
    if (text.charAt(at + length) !== '[') return { length, as: run };
    const backslashes = this.#literal('\\').repeat(Math.floor(length / 2));
    if (length % 2 === 0) return { length, as: backslashes };
    return { length: length + 1, as: backslashes + this.#literal('[') };
  }

  #literal(text: string): string {
    return this.#placeholder({ kind: 'literal', text });
  }

  #move(text: string): void {
    const last = text.lastIndexOf('\n');
    this.#line += countLineBreaks(text);
    this.#column = last < 0 ? this.#column + text.length : text.length - last;
  }
}

const WIDE = /[\u0100-\uffff]/;

/** Placeholders make V8 store a string with two bytes per character. Back to one byte, it is read twice as fast. */
function compact(text: string): string {
  return WIDE.test(text) ? text : Buffer.from(text, 'latin1').toString('latin1');
}

function* placed(mark: Exclude<Mark, { kind: 'literal' }>, place: Place): Generator<Piece> {
  if (mark.kind === 'pause' || mark.kind === 'language') yield mark;
  if (mark.kind === 'voice') yield { kind: 'voice', voice: mark.voice, place: mark.place ?? place };
  if (mark.kind === 'chapter') yield { ...mark, level: 1 };
  if (mark.kind !== 'fault') return;
  yield END_BEFORE_ERROR;
  throw usageError(`${placeText(mark.place ?? place)}: ${mark.what}`, mark.hint);
}

const LAST = 0x10_ffff;
const PRIVATE = new RegExp(MARK, 'u');
const BETWEEN = new RegExp(`(${MARK})`, 'u');
const MARK_BEGINNING = new RegExp(`[[\\\\]|${MARK}`, 'gu');
const ANY_PLACEHOLDER = new RegExp(MARK, 'gu');

/** What a placeholder stands for. */
type Mark =
  | { readonly kind: 'pause'; readonly seconds: number }
  | { readonly kind: 'voice'; readonly voice: string | undefined; readonly place?: Place }
  | { readonly kind: 'chapter'; readonly title: string }
  | Extract<Piece, { kind: 'language' }>
  /** Input text that must not be read as a mark: an escaped bracket, or a private-use character. */
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'fault'; readonly what: string; readonly hint: string; readonly place?: Place };

/** UTF-16 units, with both brackets. */
const LONGEST_MARK = 200;

/** Seconds. */
const LONGEST_PAUSE = 60;

const WORDS = ['pause', 'voice', 'chapter', 'rate', 'speed', 'break'] as const;
const ESCAPE = 'write \\[ in front of text that is not a mark';

const beginningOfMark = lazy(
  () => new RegExp(`^\\[[^\\S\\n]{0,3}/?(${WORDS.join('|')})(?![\\p{L}\\p{N}_]|['’-]\\p{L})`, 'iu'),
);
/** Matches text that more input may turn into the beginning of a mark. */
const INCOMPLETE = new RegExp(`^\\[[^\\S\\n]{0,3}/?(?:[a-z]{0,6}|(?:${WORDS.join('|')})['’-]?)$`, 'iu');
const EXACT = /^(\/?)([a-z]+)(?::(.*))?$/iu;

interface FoundMark {
  /** UTF-16 units, with both brackets. */
  readonly length: number;
  readonly mark: Mark;
}

/**
 * Parses a mark.
 * @param text beginning with a bracket
 * @param isWhole true if no text follows
 * @returns `undefined` for a literal bracket, and "open" if more text decides
 */
function markAt(text: string, isWhole: boolean): FoundMark | 'open' | undefined {
  const [beginning, word = ''] = beginningOfMark().exec(text) ?? [];
  if (beginning === undefined) return !isWhole && INCOMPLETE.test(text) ? 'open' : undefined;
  const mayGoOn = !isWhole && text.length < LONGEST_MARK;
  if (mayGoOn && text.length <= beginning.length + 1) return 'open';
  const inside = /^\[([^\]\n]*)([\]\n]?)/u.exec(text.slice(0, LONGEST_MARK));
  const [, content = '', end = ''] = inside ?? [];
  if (end === ']') return { length: content.length + 2, mark: markOf(content) };
  if (end === '' && mayGoOn) return 'open';
  // "[Voice of reason" begins a remark, not a mark.
  if (!/^[:=]/u.test(text.slice(beginning.length))) return undefined;
  return { length: beginning.length, mark: fault(`the mark [${word} has no end`, `close it: [${word}:…]`) };
}

function markOf(content: string): Mark {
  const [, slash = '', name = '', value] = EXACT.exec(content) ?? [];
  const word = WORDS.find((each) => each === name.toLowerCase());
  if (!word) return nearMiss(content);
  if (!isMark(word)) return fault(`there is no mark [${word}]`, `write ${EXAMPLES[word]}`);
  if (slash !== '' && (word !== 'voice' || value !== undefined)) return nearMiss(content);
  return MARKS[word](value?.trim(), content);
}

const isMark = (word: string): word is keyof typeof MARKS => word in MARKS;

type ParseMark = (value: string | undefined, content: string) => Mark;

const MARKS: Readonly<Record<'pause' | 'voice' | 'chapter', ParseMark>> = {
  pause(value, content) {
    const [, number, unit = 's'] = /^(\d+(?:\.\d+)?|\.\d+)\s*(s|ms)?$/iu.exec(value ?? '1') ?? [];
    if (number === undefined) return nearMiss(content);
    const seconds = Number(number) / (unit.toLowerCase() === 'ms' ? 1000 : 1);
    if (seconds <= LONGEST_PAUSE) return { kind: 'pause', seconds };
    return fault(`[${content}] is longer than ${LONGEST_PAUSE} s`, 'write several pauses: they add up');
  },
  voice: (value, content) => (value === '' ? nearMiss(content) : { kind: 'voice', voice: value }),
  chapter: (title, content) => (title ? { kind: 'chapter', title } : nearMiss(content)),
};

/** What to write instead of a faulty mark. */
const EXAMPLES = {
  pause: '[pause:1.5s], [pause:300ms] or [pause]',
  voice: '[voice:NAME], and [voice] for the usual voice again',
  chapter: '[chapter:Title]',
  rate: '--speed 1.2 on the command line, or "speed" of a voice in the config',
  speed: '--speed 1.2 on the command line, or "speed" of a voice in the config',
  break: '[pause:0.5s]',
} as const;

function nearMiss(content: string): Mark {
  const word = WORDS.find((each) => new RegExp(`^\\W*${each}`, 'iu').test(content)) ?? 'pause';
  return fault(`[${content}] is not a mark`, `write ${EXAMPLES[word]}; ${ESCAPE}`);
}

function fault(what: string, hint: string): Mark {
  return { kind: 'fault', what, hint };
}

/** Writes `play.txt, line 3, column 5`. */
export function placeText({ source, line, column }: Place): string {
  const name = visible(labelOf(source));
  return [name, line && `line ${line}`, column && `column ${column}`].filter(Boolean).join(', ');
}

/** UTF-16 units at the end of a text that decide how it ends. */
export const LOOKAROUND = 40;

/** A sentence end, which emoji may follow. */
const ENDED =
  /[\p{Sentence_Terminal}…]\p{P}*(?:[\s\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f|\u200d)*$/u;
const PAUSES = /[:;,،؛、，；：]$/u;

export function endsSentence(text: string): boolean {
  return ENDED.test(wordsOf(text).slice(-LOOKAROUND));
}

/** Adds a full stop to a heading, item or row that ends without punctuation, before any placeholders at its end. */
export function withFullStop(text: string): string {
  const words = wordsOf(text);
  if (words === '' || endsSentence(words) || PAUSES.test(words)) return text;
  return words + fullStopAfter(words) + text.slice(words.length);
}

/** The lookbehind keeps this linear: a run of these characters is tried only from its start. */
const MARKS_AT_END = new RegExp(`(?<![\\s${MARK}])[\\s${MARK}]+$`, 'v');

/** Removes white space and placeholders from the end of a text, if it ends with a placeholder. */
function wordsOf(text: string): string {
  const isMarked = (text.codePointAt(text.length - 2) ?? 0) >= FIRST_MARK;
  return isMarked ? text.replace(MARKS_AT_END, '') : text;
}

function fullStopAfter(text: string): string {
  const letter = text.slice(-LOOKAROUND).match(/\p{L}/gu)?.at(-1) ?? '';
  if (/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u.test(letter)) return '。';
  return /[\p{sc=Devanagari}\p{sc=Bengali}]/u.test(letter) ? '।' : '.';
}
