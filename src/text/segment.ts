import type { Heading, Place } from './piece.ts';

/** All that the segmenter knows of a voice. */
export interface Limit {
  /** Code points, at least 1. Only a single grapheme cluster may be longer. */
  readonly maxChars: number;
  /** True for a part whose sound is in the cache. It answers without waiting, so it looks for the name of an entry and not inside. */
  isKept?(part: { readonly text: string; readonly written: string }): boolean;
}

/** The borders that a run has a silence for, from the greatest to the smallest. Where two of them meet, the greater one counts. */
const BORDERS = ['chapter', 'scene', 'heading', 'paragraph', 'sentence'] as const;
export type Border = (typeof BORDERS)[number];

export function greater(a: Border, b: Border | undefined): Border {
  return b !== undefined && BORDERS.indexOf(b) < BORDERS.indexOf(a) ? b : a;
}

/** Seconds of a mark, or the border that is crossed. */
export type Pause = number | Border | 'none';

/** A stretch of the input, in code points since its start. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The text of one request. */
export interface Segment<V = Limit> {
  readonly kind: 'segment';
  /** From 0. */
  readonly index: number;
  /** It is clean, has no outer white space and is never empty. */
  readonly text: string;
  /** The same as it stands in the text. */
  readonly written: string;
  readonly place: Place;
  readonly voice: V;
  /** It comes before the segment. */
  readonly pause: Pause;
  readonly chapter: Heading | undefined;
  /** It says where the segment stands in the input, if somebody asked for that. */
  readonly span?: Span | undefined;
}

/** Silence that no segment of its chapter follows. */
export interface Rest {
  readonly kind: 'rest';
  readonly seconds: number;
}
