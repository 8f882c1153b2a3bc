import { countCodePoints } from '../text/code-points.ts';
import type { Segment } from '../text/segment.ts';
import { sentences } from '../text/sentences.ts';

/** A text and when it is heard, in frames from the start. */
export interface Timed {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** What is heard of one segment. */
export interface Cue extends Timed {
  /** From 1. */
  readonly number: number;
  /** Where it starts: see {@link Segment}. */
  readonly file: Segment['file'];
  readonly line: Segment['line'];
  /** Where there are several, their borders are estimated: only those of the cue were counted. */
  readonly sentences: readonly Timed[];
}

/** The text as one line. */
export function folded(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}

/** The sentences of a segment, each with a share of its time by its number of characters. */
export function placed({ text, start, end }: Timed): Timed[] {
  const texts = sentences(text).map(folded);
  const all = texts.reduce((sum, sentence) => sum + countCodePoints(sentence), 0);
  let before = 0;
  const border = () => start + Math.round(((end - start) * before) / all);
  return texts.map((sentence) => {
    const from = border();
    before += countCodePoints(sentence);
    return { text: sentence, start: from, end: border() };
  });
}
