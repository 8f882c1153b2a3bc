import type { Speaker } from '../sound/voice.ts';
import type { CueTime, Heading, Place } from './piece.ts';

/** What the cutter needs to know about a voice. */
export interface Limit {
  /** Most code points of a segment, at least 1. Only a single grapheme cluster may be longer. */
  readonly maxChars: number;
  /** True if the sound of the text is in the cache. Looks up the entry's name only, and reads no sound. */
  isCached?(part: { readonly text: string; readonly written: string }): boolean;
}

/** A speaker with the name that the text uses for it; the run's default speaker has no name. */
export interface Role extends Limit {
  readonly speaker: Speaker;
  readonly name?: string | undefined;
  /** The role's language as the user writes it, if the text has several languages. */
  readonly language?: string | undefined;
}

/** The borders that get a silence, from the greatest to the smallest. Where two meet, the greater one counts. */
const BORDERS = ['chapter', 'scene', 'heading', 'paragraph', 'sentence'] as const;
export type Border = (typeof BORDERS)[number];

export function greaterBorder(a: Border, b: Border | undefined): Border {
  return b !== undefined && BORDERS.indexOf(b) < BORDERS.indexOf(a) ? b : a;
}

/** The silence before a segment: seconds from a mark, or the border it follows. */
export type Pause = number | Border | 'none';

/** A range of the input, in code points from its start. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The text of one request to a voice. */
export interface Segment<V extends Limit = Role> {
  readonly kind: 'segment';
  /** Position in the run, from 0. */
  readonly index: number;
  /** The text to speak: cleaned, without outer white space, never empty. */
  readonly text: string;
  /** The same text before cleaning. */
  readonly written: string;
  readonly place: Place;
  readonly role: V;
  /** The silence before the segment. */
  readonly pause: Pause;
  readonly chapter: Heading | undefined;
  /** The times of its subtitle cue, if the sound must fit a film. */
  readonly cue?: CueTime | undefined;
  /** Where the segment is in the input, for events. */
  readonly span?: Span | undefined;
  /**
   * Returns where a word of the text is in the input.
   * @param at the word's first UTF-16 unit in `text`
   */
  readonly wordSpan?: ((at: number, length: number) => Span | undefined) | undefined;
}

/** Silence at the end of a chapter or text. */
export interface Silence {
  readonly kind: 'silence';
  readonly seconds: number;
}
