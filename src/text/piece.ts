import { countLineBreaks, fitting } from './unicode.ts';

/** Where a text is in the input, for messages and subtitles. */
export interface Place {
  /** The name of a file; "-" is stdin, and "" is for words, or the only text of a run. */
  readonly source: string;
  /** From 1. */
  readonly line?: number | undefined;
  /** From 1, in UTF-16 units. */
  readonly column?: number | undefined;
  /** The document of a book that it is in. */
  readonly document?: PlaceInBook | undefined;
}

export interface PlaceInBook {
  /** In the archive. */
  readonly path: string;
  /** UTF-16 units of the document in front of the block. */
  readonly at: number;
}

/** The name of a source in messages. */
export function labelOf(source: string): string {
  return source === '-' ? 'stdin' : source;
}

/** The title of a chapter. All segments of a chapter have the same object. */
export interface Heading {
  /** From 1; a chapter without a word to speak has none. */
  readonly number: number;
  readonly title: string | undefined;
  /** 1 is the highest. */
  readonly level: number;
}

/**
 * What a reader gives out, in the order in which it is heard.
 * @template V a name, until names are replaced by voices; `undefined` is the voice of the run
 */
export type Piece<V = string | undefined> =
  | TextPiece
  | { readonly kind: 'paragraph' }
  /** Comes before a heading and after it. */
  | { readonly kind: 'heading' /** 1 is the highest. */; readonly level: number }
  /** A change of scene: `* * *` alone on its line. */
  | { readonly kind: 'scene' }
  | ChapterPiece
  | { readonly kind: 'pause'; readonly seconds: number }
  | VoicePiece<V>
  | LanguagePiece
  | CuePiece;

/** Begins a cue of subtitles. */
interface CuePiece {
  readonly kind: 'cue';
  /** Who speaks, if the file says it. */
  readonly name: string | undefined;
  /** Set where the sound is to fit the film. */
  readonly time: CueTime | undefined;
  readonly place: Place;
}

/** The times of a cue in its film, in seconds. All segments of a cue have the same object. */
export interface CueTime {
  /** The place among the cues of the film, from 1. */
  readonly number: number;
  readonly start: number;
  /** The start of the next cue that is spoken; `undefined` for the last one. */
  readonly next: number | undefined;
  /** The end of the last cue of the film. */
  readonly filmEnd: number;
}

interface VoicePiece<V> {
  readonly kind: 'voice';
  readonly voice: V;
  /** The voice of the run gives way to that of this language, if there is one. */
  readonly language?: string | undefined;
  readonly place: Place;
}

/** What a document says of the language of the text that follows. */
interface LanguagePiece {
  readonly kind: 'language';
  /** A tag of BCP 47; `undefined` is unknown. */
  readonly language: string | undefined;
  /** It is said of the whole document, which is often said without thought. */
  readonly isWhole: boolean;
}

interface ChapterPiece {
  readonly kind: 'chapter';
  readonly title: string | undefined;
  readonly level: number;
  /** Set where chapters before it are skipped. */
  readonly number?: number;
}

export interface TextPiece {
  readonly kind: 'text';
  readonly text: string;
  /** Of the first character. */
  readonly place: Place;
}

/** Put in front of an error, it flushes the text before it, so that this is still spoken. */
export const END_BEFORE_ERROR = { kind: 'pause', seconds: 0 } as const;

/** The border of a paragraph as text. */
export const EMPTY_LINE = '\n\n';

/** Ends a paragraph where the text has a single line break, which stays so that lines are counted right. */
export const PARAGRAPH_END = '\u2029';

/** The piece as text; marks have none. */
export function writtenOf<V>(piece: Piece<V>): string {
  if (piece.kind === 'text') return piece.text;
  return piece.kind === 'paragraph' ? EMPTY_LINE : '';
}

/** Pieces as one text. Words on the two sides of a mark are heard one by one, so they stay apart. */
export class Spacing {
  #isAfterMark = false;
  #isAfterSpace = true;

  of(piece: Piece): string {
    if (piece.kind === 'pause' || piece.kind === 'voice') {
      this.#isAfterMark = true;
      return '';
    }
    const written = writtenOf(piece);
    if (written === '') return '';
    const isApart = this.#isAfterSpace || /^\n/u.test(written);
    const shown = this.#isAfterMark ? `${isApart ? '' : ' '}${written.replace(/^[^\S\n]+/u, '')}` : written;
    this.#isAfterMark = false;
    this.#isAfterSpace = /\s$/u.test(shown === '' ? ' ' : shown);
    return shown;
  }
}

/** The place after a text. It has no column, unless the text is empty. */
export function placeAfter(place: Place, text: string): Place {
  const { source, line } = place;
  if (line === undefined || text === '') return place;
  return { source, line: line + countLineBreaks(text) };
}

/** UTF-16 units. A stage works on so much without a break. */
const STEP = 4096;

/** A text in steps, each with its place. */
export function* inSteps(text: string, place: Place): Generator<TextPiece> {
  let next = place;
  for (let at = 0; at < text.length; ) {
    const step = fitting(text.slice(at, at + STEP + 1), STEP);
    yield { kind: 'text', text: step, place: next };
    at += step.length;
    next = placeAfter(next, step);
  }
}
