import type { Cleaned } from './clean.ts';
import type { Heading, Place } from './piece.ts';

/** All that the segmenter knows of a voice. */
export interface Limit {
  /** Code points, at least 1. Only a single grapheme cluster may be longer. */
  readonly maxChars: number;
  /** True for a part whose sound is in the cache. It is asked at once, so it does not look inside. */
  isKept?(part: Cleaned): boolean;
}

/** Seconds of a mark, or a border that the run has a silence for. */
export type Pause = number | 'chapter' | 'paragraph' | 'none';

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
}

/** Silence that no segment of its chapter follows. */
export interface Rest {
  readonly kind: 'rest';
  readonly seconds: number;
}
