import type { Segment } from '../../../src/text/segment.ts';
import { asRole } from '../../../src/voices/cast.ts';
import { silent } from '../../support/speaker.ts';

/** A segment that begins a paragraph. */
export function segmentOf(text: string, index = 0, line = index + 1): Segment {
  const place = { source: '', line };
  return {
    kind: 'segment',
    index,
    text,
    written: text,
    place,
    role: asRole(silent),
    pause: 'paragraph',
    chapter: undefined,
  };
}
