import { Segmenter } from './segmenter.ts';

/** What one request speaks. */
export interface Segment {
  /** As it stands in the input, line breaks included, but without outer white space; never empty. */
  readonly text: string;
  /** Where it starts, of several files; "-" is standard input. */
  readonly file?: string | undefined;
  /** The line of its input on which it starts, from 1; `undefined` where the text is not spoken as it stands there. */
  readonly line: number | undefined;
  readonly startsParagraph: boolean;
  /** Its place in the whole text, from 0. */
  readonly index: number;
}

export interface SegmentOptions {
  /** The longest segment in Unicode code points, at least 1; only a single grapheme cluster may be longer. */
  readonly maxChars: number;
  /**
   * - full: segments are as long as they may be
   * - ramp: sound should start at once: the first segment is one sentence, and the next ones grow
   * - sentence: each sentence is a segment, for subtitles
   * - whole: nothing is given out before the text is at its end
   */
  readonly pace: 'full' | 'ramp' | 'sentence' | 'whole';
}

/**
 * Cuts a text into segments. Nothing but white space between them is dropped, and nothing is changed.
 *
 * - A text that fits into one segment is one segment (not at pace "sentence").
 * - A longer one is cut at the best border that fits: paragraph, sentence, clause, word, grapheme cluster. No
 *   segment spans two paragraphs, and whole sentences are put together up to the limit.
 * - Borders are stable: they depend on the text of their paragraph only (at pace "ramp" also on its number).
 * - They do not depend on how the text comes in pieces.
 *
 * Memory is bounded by a window of eight segments, at least 16,384 UTF-16 units. The bound has a price in what is
 * no text: longer paragraphs are cut window by window, and a longer grapheme cluster is cut.
 */
export async function* segments(
  text: AsyncIterable<string>,
  options: SegmentOptions,
): AsyncGenerator<Segment> {
  const segmenter = new Segmenter(options);
  for await (const piece of text) yield* segmenter.push(piece);
  yield* segmenter.end();
}
