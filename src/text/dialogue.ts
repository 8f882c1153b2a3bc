import { type Piece, type Place, placeAfter, type TextPiece } from './piece.ts';
import type { Stage } from './stage.ts';
import { lazy } from './unicode.ts';

/** Stands for all names that are not listed. As the name of a voice, such a name has this prefix. */
export const OTHERS = '*';

const GAP = '[ \\u00a0\\u202f]?';
const DIRECTION = `(?:${GAP}\\([^()\\n]{1,40}\\))`;
const COLON = '(?::(?=\\s)|：)';
/**
 * What may stand between a name and what is said: a direction, which is not spoken, and the colon. In plain text, a name may
 * stand between asterisks or underscores, with or without its colon. By the number of these signs.
 */
const AFTER_NAME = [
  `${DIRECTION}?${GAP}${COLON}`,
  ...['[*_]', '[*_]{2}'].map(
    (end) =>
      `(?:${end}${DIRECTION}?${GAP}${COLON}|${DIRECTION}?(?::${end}(?=\\s)|：${end})|${DIRECTION}${end}${COLON})`,
  ),
].map((colon) => new RegExp(`^${colon}[^\\S\\n]*`, 'u'));
const EMPHASIS = /^(?:\*{1,2}|_{1,2})/u;
const OPEN_EMPHASIS = /^[*_]{1,2}$/u;
/** More text may turn this into one of them. */
const OPEN = `[*_]{0,2}(?:${GAP}\\([^()\\n]{0,40}\\)?)?[*_]{0,2}${GAP}[:：]?[*_]{0,2}$`;
const OPEN_AFTER_NAME = new RegExp(`^${OPEN}`, 'u');

/** UTF-16 units. */
const LONGEST_OTHER = 40;
/** UTF-16 units, with a direction after the name. */
const LONGEST_OPEN = 90;
/** UTF-16 units of white space. No name follows a longer one. */
const LONGEST_INDENT = 200;
/** Such a name consists of words that begin like names. */
const WORD = "(?:(?:Dr|Mrs?|Ms|St|Prof)\\.|[\\p{Lu}\\p{Lt}\\p{Lo}\\p{N}][\\p{L}\\p{M}\\p{N}'’-]*)";
const otherName = lazy(() => new RegExp(`^${WORD}(?:[ \\u00a0]${WORD})*(?=[ \\u00a0\\u202f]?[:：(*_])`, 'u'));
const openName = lazy(() => new RegExp(`^(?:${WORD}[ \\u00a0])*(?:${WORD}|Dr|Mrs?|Ms|St|Prof)?${OPEN}`, 'u'));

interface Opening {
  readonly name: string;
  /** UTF-16 units, with the colon and the space. */
  readonly length: number;
}

/**
 * Gives lines that begin with a name and a colon to the voice of that name, until the next name, an empty line or the end of
 * the paragraph. The name is not spoken. The result does not depend on the pieces.
 */
export class Dialogue implements Stage<Piece, Piece> {
  readonly #names: readonly Listed[];
  readonly #hasOthers: boolean;
  readonly #onName: (name: string) => void;
  readonly #onUnlisted: (name: string) => void;
  /** The beginning of a line, which may become a name. */
  #held = '';
  #place: Place = { source: '' };
  #isLineStart = true;
  #isLineEmpty = true;
  /** True while the voice of a name speaks. */
  #isCast = false;
  /** The voice of the last mark. */
  #usual: string | undefined;

  /**
   * @param onName called for each name that is found, as the list has it
   * @param onUnlisted called for each line that begins with another name
   */
  constructor(
    names: Iterable<string>,
    onName: (name: string) => void,
    onUnlisted: (name: string) => void = () => {},
  ) {
    const all = [...names];
    this.#hasOthers = all.includes(OTHERS);
    this.#names = all
      .filter((name) => name !== OTHERS)
      .flatMap(formsOf)
      .toSorted((a, b) => b.written.length - a.written.length);
    this.#onName = onName;
    this.#onUnlisted = onUnlisted;
  }

  *push(piece: Piece): Generator<Piece> {
    if (piece.kind === 'text') return yield* this.#read(piece);
    yield* this.end();
    if (piece.kind === 'language') return yield piece;
    if (piece.kind === 'voice') {
      this.#usual = piece.voice;
      this.#isCast = false;
    } else if (piece.kind !== 'pause') yield* this.#endParagraph();
    yield piece;
    if (piece.kind === 'cue' && piece.name !== undefined) yield* this.#cast(piece.name, piece.place);
  }

  /** A name that the file gives to a cue. */
  *#cast(name: string, place: Place): Generator<Piece> {
    const listed = this.#names.find(({ written }) => written === name);
    const { name: voice } = listed
      ? this.#found(listed.name, 0)
      : this.#hasOthers
        ? this.#found(OTHERS, 0, OTHERS + name)
        : { name: undefined };
    if (voice === undefined) return this.#onUnlisted(name);
    this.#isCast = true;
    yield { kind: 'voice', voice, place };
  }

  *end(): Generator<Piece> {
    const held = this.#held;
    this.#held = '';
    yield* this.#lines(held, true);
  }

  *#read({ text, place }: TextPiece): Generator<Piece> {
    if (this.#held === '') this.#place = place;
    const all = this.#held + text;
    this.#held = '';
    yield* this.#lines(all, false);
  }

  *#lines(text: string, isWhole: boolean): Generator<Piece> {
    for (const line of text.split(/(?<=\n)/u)) if (line !== '') yield* this.#line(line, isWhole);
  }

  *#line(line: string, isWhole: boolean): Generator<Piece> {
    const opening = this.#isLineStart ? this.#openingOf(line, isWhole || line.endsWith('\n')) : undefined;
    if (opening === 'open') {
      this.#held = line;
      return;
    }
    if (opening) {
      this.#isCast = true;
      yield { kind: 'voice', voice: opening.name, place: this.#place };
    }
    yield* this.#say(line.slice(opening?.length));
    this.#isLineEmpty &&= line.trim() === '';
    this.#isLineStart = line.endsWith('\n');
    if (!this.#isLineStart) return;
    if (this.#isLineEmpty) yield* this.#endParagraph();
    this.#isLineEmpty = true;
  }

  *#say(text: string): Generator<Piece> {
    if (text !== '') yield { kind: 'text', text, place: this.#place };
    this.#place = placeAfter(this.#place, text);
  }

  *#endParagraph(): Generator<Piece> {
    this.#isLineStart = true;
    this.#isLineEmpty = true;
    if (this.#isCast) yield { kind: 'voice', voice: this.#usual, place: this.#place };
    this.#isCast = false;
  }

  #openingOf(line: string, isWhole: boolean): Opening | 'open' | undefined {
    const text = line.trimStart();
    if (line.length - text.length > LONGEST_INDENT) return undefined;
    const [emphasis = ''] = EMPHASIS.exec(text) ?? [];
    if (!isWhole && OPEN_EMPHASIS.test(text)) return 'open';
    const rest = text.slice(emphasis.length);
    const colon = AFTER_NAME[emphasis.length] ?? /(?!)/u;
    const opening =
      this.#listed(rest, isWhole, colon) ?? (this.#hasOthers ? this.#other(rest, isWhole, colon) : undefined);
    if (opening === undefined && !this.#hasOthers) this.#tellUnlisted(rest, colon);
    if (typeof opening !== 'object') return opening;
    return { ...opening, length: line.length - rest.length + opening.length };
  }

  #tellUnlisted(line: string, colon: RegExp): void {
    const [name] = otherName().exec(line.slice(0, LONGEST_OTHER)) ?? [];
    if (name && colon.test(line.slice(name.length))) this.#onUnlisted(name);
  }

  #listed(line: string, isWhole: boolean, colon: RegExp): Opening | 'open' | undefined {
    const after = ({ written }: Listed) =>
      line.startsWith(written) ? line.slice(written.length) : undefined;
    const listed = this.#names.find((each) => colon.test(after(each) ?? ''));
    if (listed) return this.#found(listed.name, listed.written.length + lengthOf(after(listed) ?? '', colon));
    const mayGoOn = (each: Listed) =>
      each.written.startsWith(line) || OPEN_AFTER_NAME.test(after(each) ?? '-');
    return !isWhole && this.#names.some(mayGoOn) ? 'open' : undefined;
  }

  #other(line: string, isWhole: boolean, colon: RegExp): Opening | 'open' | undefined {
    const [name] = otherName().exec(line.slice(0, LONGEST_OTHER)) ?? [];
    const after = line.slice(name?.length);
    if (name && colon.test(after))
      return this.#found(OTHERS, name.length + lengthOf(after, colon), OTHERS + name);
    return !isWhole && line.length < LONGEST_OPEN && openName().test(line) ? 'open' : undefined;
  }

  #found(name: string, length: number, said = name): Opening {
    this.#onName(name);
    return { name: said, length };
  }
}

interface Listed {
  /** As the list has it. */
  readonly name: string;
  /** As a text may have it. */
  readonly written: string;
}

/** A letter with an accent may be one character or two. */
function formsOf(name: string): Listed[] {
  const forms = new Set([name, name.normalize('NFC'), name.normalize('NFD')]);
  return [...forms].map((written) => ({ name, written }));
}

/** UTF-16 units of the colon and what stands around it. */
function lengthOf(text: string, colon: RegExp): number {
  return colon.exec(text)?.[0].length ?? 0;
}
