import { countLineBreaks, fitting } from './unicode.ts';

/** It says where a piece of text stands, for messages and subtitles. */
export interface Place {
  /** The name of a file; "-" is stdin, and an empty one stands for words, or for the only text of a run. */
  readonly source: string;
  /** From 1. */
  readonly line?: number | undefined;
  /** From 1, in UTF-16 units. */
  readonly column?: number | undefined;
}

/** What messages call the source of a place. */
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
  /** It stands in front of a heading, and after it. */
  | { readonly kind: 'heading' /** 1 is the highest. */; readonly level: number }
  /** A change of scene: `* * *` alone on its line. */
  | { readonly kind: 'scene' }
  | ChapterPiece
  | { readonly kind: 'pause'; readonly seconds: number }
  | { readonly kind: 'voice'; readonly voice: V; readonly place: Place };

interface ChapterPiece {
  readonly kind: 'chapter';
  readonly title: string | undefined;
  readonly level: number;
  /** It is set where chapters before it are left out. */
  readonly number?: number;
}

export interface TextPiece {
  readonly kind: 'text';
  readonly text: string;
  /** Line breaks in the text count on from here. */
  readonly place: Place;
}

/** What stands in front of an error is complete, and is heard. */
export const END_BEFORE_ERROR = { kind: 'pause', seconds: 0 } as const;

/** What the border of a paragraph is worth as text. */
export const EMPTY_LINE = '\n\n';

/** It ends a paragraph in front of a line break, which stays for the sake of the lines. */
export const PARAGRAPH_END = '\u2029';

/** The characters that a piece is worth; marks are worth none. */
export function writtenOf<V>(piece: Piece<V>): string {
  if (piece.kind === 'text') return piece.text;
  return piece.kind === 'paragraph' ? EMPTY_LINE : '';
}

/** The place of what follows a text. It has no column, unless the text is empty. */
export function placeAfter(place: Place, text: string): Place {
  const { source, line } = place;
  if (line === undefined || text === '') return place;
  return { source, line: line + countLineBreaks(text) };
}

/** UTF-16 units: work on a step takes a moment. */
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
