import { type Piece, type Place, placeAfter, type TextPiece } from './piece.ts';
import type { Stage } from './stage.ts';
import { lazy } from './unicode.ts';

/** In a cast, matches every name that is not listed. The voice piece of such a name gets this prefix. */
export const OTHERS = '*';

const GAP = '[ \\u00a0\\u202f]?';
const DIRECTION = `(?:${GAP}\\([^()\\n]{1,40}\\))`;
const COLON = '(?::(?=\\s)|：)';
/**
 * Patterns between a name and its speech: an optional stage direction, which is not spoken, and the colon. In plain text, a
 * name may be emphasised with asterisks or underscores, which may enclose the colon. The index is the number of these signs.
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
/** Text that more input may complete to one of these patterns. */
const OPEN = `[*_]{0,2}(?:${GAP}\\([^()\\n]{0,40}\\)?)?[*_]{0,2}${GAP}[:：]?[*_]{0,2}$`;
const OPEN_AFTER_NAME = new RegExp(`^${OPEN}`, 'u');

/** UTF-16 units of an unlisted name. */
const LONGEST_OTHER = 40;
/** UTF-16 units of an unlisted name with its direction, while it is incomplete. */
const LONGEST_OPEN = 90;
/** UTF-16 units. After more indentation, no name is looked for. */
const LONGEST_INDENT = 200;
/** A word of an unlisted name: not in lower case, or a title such as "Dr." */
const WORD = "(?:(?:Dr|Mrs?|Ms|St|Prof)\\.|[\\p{Lu}\\p{Lt}\\p{Lo}\\p{N}][\\p{L}\\p{M}\\p{N}'’-]*)";
const otherName = lazy(() => new RegExp(`^${WORD}(?:[ \\u00a0]${WORD})*(?=[ \\u00a0\\u202f]?[:：(*_])`, 'u'));
const openName = lazy(() => new RegExp(`^(?:${WORD}[ \\u00a0])*(?:${WORD}|Dr|Mrs?|Ms|St|Prof)?${OPEN}`, 'u'));

interface Opening {
  readonly name: string;
  /** UTF-16 units of the name with the colon and the space. */
  readonly length: number;
}

/**
 * Switches to a character's voice at a line that begins with its name and a colon, until the next name, an empty line or the
 * end of the paragraph. The name is not spoken. The result does not depend on how the text is split into pieces.
 */
export class Dialogue implements Stage<Piece, Piece> {
  readonly #names: readonly Listed[];
  readonly #hasOthers: boolean;
  readonly #onName: (name: string) => void;
  readonly #onUnlisted: (name: string) => void;
  /** The beginning of a line that may become a name. */
  #held = '';
  #place: Place = { source: '' };
  #isLineStart = true;
  #isLineEmpty = true;
  /** True while a character's voice speaks. */
  #isCast = false;
  /** The voice of the last voice mark, which speaks outside dialogue. */
  #usual: string | undefined;

  /**
   * @param onName called for each name that is found, as written in the list
   * @param onUnlisted called for each line that begins with an unlisted name
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

  /** Switches to the voice of the speaker that a subtitle file names for a cue. */
  *#cast(name: string, place: Place): Generator<Piece> {
    const listed = this.#names.find(({ written }) => written === name);
    if (!listed && !this.#hasOthers) return this.#onUnlisted(name);
    this.#onName(listed?.name ?? OTHERS);
    this.#isCast = true;
    yield { kind: 'voice', voice: listed?.name ?? OTHERS + name, place };
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
  /** The name as written in the list. */
  readonly name: string;
  /** The name in one Unicode normalization form. */
  readonly written: string;
}

/** Returns the forms in which a text may contain the name: an accented letter may be one character or two. */
function formsOf(name: string): Listed[] {
  const forms = new Set([name, name.normalize('NFC'), name.normalize('NFD')]);
  return [...forms].map((written) => ({ name, written }));
}

/** UTF-16 units of the colon and everything else between the name and the speech. */
function lengthOf(text: string, colon: RegExp): number {
  return colon.exec(text)?.[0].length ?? 0;
}
