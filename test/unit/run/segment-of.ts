import type { Segment } from '../../../src/text/segment.ts';

/** A segment that begins a paragraph. */
export function segmentOf(text: string, index = 0, line = index + 1): Segment {
  const place = { source: '', line };
  return {
    kind: 'segment',
    index,
    text,
    written: text,
    place,
    voice: { maxChars: 1000 },
    pause: 'paragraph',
    chapter: undefined,
  };
}
