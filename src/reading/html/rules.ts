import type { Piece, Place } from '../../text/piece.ts';
import type { Attributes } from './meaning.ts';
import type { Notes } from './notes.ts';

export interface ChapterStart {
  readonly title: string | undefined;
  /** 1 is the highest. */
  readonly level: number;
}

export interface HtmlOptions {
  /** A short reading in kana is spoken in place of its base. */
  readonly speaksReadings: boolean;
  /** Notes are read where they are referred to, if they are known there, and otherwise where they stand. */
  readonly readsNotes: boolean;
}

/** What the reader of a document decides on its elements. */
export interface Rules {
  readonly notes?: Notes | undefined;
  /** True for an element that is not read, besides those that nobody sees. */
  leavesOut?(name: string, attributes: Attributes, meanings: readonly string[]): boolean;
  /** The chapter that begins where the element with this id begins. */
  chapterAt?(id: string): ChapterStart | undefined;
  /** It is called for each element that is read, and its result when the element ends. */
  enter?(name: string, meanings: readonly string[]): (() => void) | undefined;
  place(): Place;
  piece(piece: Piece): void;
}

/** An element that is open. */
export interface Frame {
  readonly name: string;
  readonly isBlock: boolean;
  /** Blocks have begun inside of it. */
  hasBlocks: boolean;
  /** The name of a speaker in a play begins at this place of the text. */
  readonly nameAt: number | undefined;
  /** What may be the large first letter of a word begins at this place of the text. */
  readonly initialAt: number | undefined;
  readonly end: (() => void) | undefined;
}
