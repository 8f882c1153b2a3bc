import { type TtsError, usageError } from '../../error.ts';
import { visible } from '../../printable.ts';
import { countLineBreaks } from '../lines.ts';
import type { Stage } from '../live.ts';
import { END_BEFORE_ERROR, labelOf, type Piece, type Place, placeAfter, type TextPiece } from '../piece.ts';
import { FIRST_MARK, LONGEST_MARK, MARK, type Mark, markAt } from './syntax.ts';

const LAST = 0x10_ffff;
const PRIVATE = new RegExp(MARK, 'u');
const BETWEEN = new RegExp(`(${MARK})`, 'u');
const BEGINNING = new RegExp(`[[\\\\]|${MARK}`, 'gu');

/** All marks of a text. Equal ones share a character, so the memory does not grow with a text that repeats its marks. */
class MarkTable {
  readonly #marks: Mark[] = [];
  readonly #numbers = new Map<string, number>();

  /** @throws TtsError (usage) */
  characterFor(mark: Mark, spot?: Place): string {
    const key = JSON.stringify(mark);
    // An unknown voice ends the text where it is named first.
    const placed = mark.kind === 'voice' && spot ? { ...mark, spot } : mark;
    const number = this.#numbers.get(key) ?? this.#marks.push(placed) - 1;
    if (number > LAST - FIRST_MARK)
      throw usageError('the text has too many different marks', 'speak it in several parts');
    this.#numbers.set(key, number);
    return String.fromCodePoint(FIRST_MARK + number);
  }

  markOf(character: string): Mark | undefined {
    return this.#marks[(character.codePointAt(0) ?? 0) - FIRST_MARK];
  }
}

interface MarksOptions {
  /** The name of the text. */
  readonly source: string;
  /** It is called for each mark before the text goes on. */
  readonly onMark?: (mark: Mark, spot: Place) => void;
}

/**
 * The marks of one text. They leave its characters before a reader sees them, and come back as pieces after it. A reader, a
 * lexicon and the rules of sentences see one character that stands for each.
 */
export class Marks {
  readonly #table = new MarkTable();
  readonly #options: MarksOptions;

  constructor(options: MarksOptions) {
    this.#options = options;
  }

  /** It holds back what may become a mark. */
  lift(): Stage<string, string> {
    return new Lifting(this.#table, this.#options);
  }

  /** A mark that is none ends the text where it stands. */
  place(): Stage<Piece, Piece> {
    return new Placing(this.#table);
  }
}

interface Taken {
  /** UTF-16 units. */
  readonly length: number;
  readonly as: string;
}

class Lifting implements Stage<string, string> {
  readonly #table: MarkTable;
  readonly #options: MarksOptions;
  #held = '';
  #line = 1;
  #column = 1;

  constructor(table: MarkTable, options: MarksOptions) {
    this.#table = table;
    this.#options = options;
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

  /** The place of a sign that may begin a mark, or the end. */
  #next(text: string, from: number): number {
    BEGINNING.lastIndex = from;
    return BEGINNING.exec(text)?.index ?? text.length;
  }

  #take(text: string, at: number, isWhole: boolean): Taken | 'open' {
    const first = text.charAt(at);
    if (first === '\\') return this.#backslashes(text, at, isWhole);
    if (first !== '[') return { length: 2, as: this.#literal(text.slice(at, at + 2)) };
    const found = markAt(text.slice(at, at + LONGEST_MARK), isWhole);
    if (found === 'open') return 'open';
    if (!found) return { length: 1, as: '[' };
    const { source } = this.#options;
    const spot: Place = { source, line: this.#line, column: this.#column };
    const mark = found.mark.kind === 'fault' ? { ...found.mark, spot } : found.mark;
    this.#options.onMark?.(found.mark, spot);
    return { length: found.length, as: this.#table.characterFor(mark, spot) };
  }

  /** In front of a bracket, two backslashes are one, and the last of an odd number takes the bracket as it stands. */
  #backslashes(text: string, at: number, isWhole: boolean): Taken | 'open' {
    const [run = ''] = /^\\+/u.exec(text.slice(at)) ?? [];
    const { length } = run;
    if (at + length === text.length && !isWhole && length < LONGEST_MARK) return 'open';
    if (text.charAt(at + length) !== '[') return { length, as: run };
    const backslashes = this.#literal('\\').repeat(Math.floor(length / 2));
    if (length % 2 === 0) return { length, as: backslashes };
    return { length: length + 1, as: backslashes + this.#literal('[') };
  }

  #literal(text: string): string {
    return this.#table.characterFor({ kind: 'literal', text });
  }

  #move(text: string): void {
    const last = text.lastIndexOf('\n');
    this.#line += countLineBreaks(text);
    this.#column = last < 0 ? this.#column + text.length : text.length - last;
  }
}

class Placing implements Stage<Piece, Piece> {
  readonly #table: MarkTable;

  constructor(table: MarkTable) {
    this.#table = table;
  }

  /** @throws TtsError (usage) where a mark stands that is none */
  *push(piece: Piece): Generator<Piece> {
    if (piece.kind === 'chapter') return yield { ...piece, title: this.#titleOf(piece.title) };
    if (piece.kind !== 'text') return yield piece;
    if (!PRIVATE.test(piece.text)) return yield { ...piece, text: compact(piece.text) };
    let { place } = piece;
    let text = '';
    const spoken = (): TextPiece => ({ kind: 'text', text: compact(text), place });
    for (const part of piece.text.split(BETWEEN)) {
      const mark = PRIVATE.test(part) ? this.#table.markOf(part) : undefined;
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

  /** A reader may make a title of the beginning of a text. It ends where a mark begins another chapter. */
  #titleOf(title = ''): string | undefined {
    let text = '';
    for (const part of title.split(BETWEEN)) {
      const mark = PRIVATE.test(part) ? this.#table.markOf(part) : undefined;
      if (mark?.kind === 'chapter') break;
      text += mark ? (mark.kind === 'literal' ? mark.text : ' ') : part;
    }
    return text.replace(/\s+/gu, ' ').trim() || undefined;
  }

  end(): readonly Piece[] {
    return [];
  }
}

const WIDE = /[\u0100-\uffff]/;

/** The characters of marks let V8 keep a text in two bytes each: its parts would be read at half the speed. */
function compact(text: string): string {
  return WIDE.test(text) ? text : Buffer.from(text, 'latin1').toString('latin1');
}

function* placed(mark: Exclude<Mark, { kind: 'literal' }>, place: Place): Generator<Piece> {
  if (mark.kind === 'pause') yield mark;
  if (mark.kind === 'voice') yield { kind: 'voice', voice: mark.voice, place: mark.spot ?? place };
  if (mark.kind === 'chapter') yield { ...mark, level: 1 };
  if (mark.kind !== 'fault') return;
  yield END_BEFORE_ERROR;
  throw faultError(mark, mark.spot ?? place);
}

function faultError({ what, hint }: Extract<Mark, { kind: 'fault' }>, spot: Place): TtsError {
  return usageError(`${placeText(spot)}: ${what}`, hint);
}

/** Writes `play.txt, line 3, column 5`. */
export function placeText({ source, line, column }: Place): string {
  const name = source === '' ? 'the text' : visible(labelOf(source));
  return [name, line && `line ${line}`, column && `column ${column}`].filter(Boolean).join(', ');
}
