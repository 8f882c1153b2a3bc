import type { Speaker } from '../sound/voice.ts';
import type { CueTime, Heading, Place } from './piece.ts';

/** All that the cutter knows of a voice. */
export interface Limit {
  /** Code points, at least 1. Only a single grapheme cluster may be longer. */
  readonly maxChars: number;
  /** True for a text whose sound is in the cache. It looks for the name of an entry, and reads nothing. */
  isKept?(part: { readonly text: string; readonly written: string }): boolean;
}

/** Who speaks, and the name that the text gives them; the speaker of the run has none. */
export interface Role extends Limit {
  readonly speaker: Speaker;
  readonly name?: string | undefined;
  /** The language that the role speaks, where the text has several; as the user names it. */
  readonly language?: string | undefined;
}

/** The borders that a run has a silence for, from the greatest to the smallest. Where two of them meet, the greater one counts. */
const BORDERS = ['chapter', 'scene', 'heading', 'paragraph', 'sentence'] as const;
export type Border = (typeof BORDERS)[number];

export function greater(a: Border, b: Border | undefined): Border {
  return b !== undefined && BORDERS.indexOf(b) < BORDERS.indexOf(a) ? b : a;
}

/** Seconds of a mark, or the border that is crossed. */
export type Pause = number | Border | 'none';

/** A range of the input, in code points from its start. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The text of one request. */
export interface Segment<V extends Limit = Role> {
  readonly kind: 'segment';
  /** From 0. */
  readonly index: number;
  /** Clean, without outer white space, never empty. */
  readonly text: string;
  /** The same as it is in the input. */
  readonly written: string;
  readonly place: Place;
  readonly role: V;
  /** The silence before the segment. */
  readonly pause: Pause;
  readonly chapter: Heading | undefined;
  /** When it is to be heard in a film. */
  readonly cue?: CueTime | undefined;
  /** Where the segment is in the input, for events. */
  readonly span?: Span | undefined;
  /**
   * Where a word of the text is in the input.
   * @param at its first UTF-16 unit in the text
   */
  readonly wordSpan?: ((at: number, length: number) => Span | undefined) | undefined;
}

/** Silence at the end of a chapter or text. */
export interface Rest {
  readonly kind: 'rest';
  readonly seconds: number;
}
