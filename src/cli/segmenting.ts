import type { Settings } from '../settings/resolve.ts';
import type { SegmentOptions } from '../text/segment.ts';

/**
 * How a text is cut: one that goes to a callback is sent whole, one with subtitles sentence by sentence, and one that is
 * heard at once begins with its first sentence.
 * @param isLive somebody may hear it while it is made
 */
export function segmentOptions(
  { callbackUrl, maxChars, subtitles }: Pick<Settings, 'callbackUrl' | 'maxChars' | 'subtitles'>,
  isLive: boolean,
): SegmentOptions {
  if (callbackUrl) return { maxChars: Number.MAX_SAFE_INTEGER, pace: 'whole' };
  const bySentence = subtitles && maxChars.origin.place !== 'option';
  return { maxChars: maxChars.value, pace: bySentence ? 'sentence' : isLive ? 'ramp' : 'full' };
}
