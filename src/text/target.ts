import type { Room } from './pack.ts';
import type { SegmentOptions } from './segment.ts';

/** The second segment of a text that should sound at once, in code points; each next one is twice as long. */
const FIRST_STEP = 250;

/**
 * How many code points of whole sentences go into a segment, by the number of its paragraph and its own in there;
 * never by what came before, so that an edit changes the segments of its paragraph only.
 */
export const targets: Record<SegmentOptions['pace'], (paragraph: number) => Room['target']> = {
  full: () => () => Number.POSITIVE_INFINITY,
  ramp: (paragraph) => (number) => {
    const step = paragraph + number;
    return step === 0 ? 0 : FIRST_STEP * 2 ** (step - 1);
  },
  sentence: () => () => 0,
  whole: () => () => Number.POSITIVE_INFINITY,
};
