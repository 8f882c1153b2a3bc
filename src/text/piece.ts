import { countLineBreaks, fitting } from './unicode.ts';

/** Where a text is in the input, for messages and subtitles. */
export interface Place {
  /** A file name; "-" for stdin, and "" for words of the command line or the only text of a run. */
  readonly source: string;
  /** From 1. */
  readonly line?: number | undefined;
  /** From 1, in UTF-16 units. */
  readonly column?: number | undefined;
  /** The document inside a book that contains the text. */
  readonly document?: PlaceInBook | undefined;
}

export interface PlaceInBook {
  /** Path in the archive. */
  readonly path: string;
  /** UTF-16 units of the document before the block. */
  readonly at: number;
}

/** Returns the name of a source for messages. */
export function labelOf(source: string): string {
  if (source === '') return 'the text';
  return source === '-' ? 'stdin' : source;
}

/** The title of a chapter. All segments of a chapter have the same object. */
export interface Heading {
  /** From 1; chapters without a word are not counted. */
  readonly number: number;
  readonly title: string | undefined;
  /** 1 is the highest. */
  readonly level: number;
}

/**
 * What a reader emits, in the order of the sound.
 * @template V the name of a voice, or the voice itself after names are resolved; `undefined` is the run's voice
 */
export type Piece<V = string | undefined> =
  | TextPiece
  | { readonly kind: 'paragraph' }
  /** One before and one after each heading. */
  | { readonly kind: 'heading' /** 1 is the highest. */; readonly level: number }
  /** A change of scene: `* * *` alone on its line. */
  | { readonly kind: 'scene' }
  | ChapterPiece
  | { readonly kind: 'pause'; readonly seconds: number }
  | VoicePiece<V>
  | LanguagePiece
  | CuePiece;

/** The start of a subtitle cue. */
interface CuePiece {
  readonly kind: 'cue';
  /** The speaker that the file names. */
  readonly name: string | undefined;
  /** Set if the sound must fit the film. */
  readonly time: CueTime | undefined;
  readonly place: Place;
}

/** The times of a cue in its film, in seconds. All segments of a cue have the same object. */
export interface CueTime {
  /** Position among the cues of the film, from 1. */
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
  /** Instead of the run's voice, use that of this language, if there is one. */
  readonly language?: string | undefined;
  readonly place: Place;
}

/** The language that a document declares for the text that follows. */
interface LanguagePiece {
  readonly kind: 'language';
  /** A BCP 47 tag; `undefined` if unknown. */
  readonly language: string | undefined;
  /** True for a declaration for the whole document, which is often a careless default. */
  readonly isWhole: boolean;
}

interface ChapterPiece {
  readonly kind: 'chapter';
  readonly title: string | undefined;
  readonly level: number;
  /** Set if earlier chapters are skipped. */
  readonly number?: number;
}

export interface TextPiece {
  readonly kind: 'text';
  readonly text: string;
  /** The place of the first character. */
  readonly place: Place;
}

/** Yield this before you throw: the cutter then flushes the text it holds, so that it is still spoken. */
export const END_BEFORE_ERROR = { kind: 'pause', seconds: 0 } as const;

/** A paragraph border as text. */
export const EMPTY_LINE = '\n\n';

/** Ends a paragraph at a single line break, which stays in the text so that lines are counted correctly. */
export const PARAGRAPH_END = '\u2029';

/** Returns the text of a piece; marks have none. */
export function writtenOf<V>(piece: Piece<V>): string {
  if (piece.kind === 'text') return piece.text;
  return piece.kind === 'paragraph' ? EMPTY_LINE : '';
}

/** Writes pieces as one text. Adds a space at a mark between two words, which are heard apart. */
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

/** Returns the place after a text, without a column unless the text is empty. */
export function placeAfter(place: Place, text: string): Place {
  const { source, line } = place;
  if (line === undefined || text === '') return place;
  return { source, line: line + countLineBreaks(text) };
}

/** Most UTF-16 units that a stage processes at once. */
const STEP = 4096;

/** Splits a text into pieces of at most `STEP` units, each with its place. */
export function* inSteps(text: string, place: Place): Generator<TextPiece> {
  let next = place;
  for (let at = 0; at < text.length; ) {
    const step = fitting(text.slice(at, at + STEP + 1), STEP);
    yield { kind: 'text', text: step, place: next };
    at += step.length;
    next = placeAfter(next, step);
  }
}
