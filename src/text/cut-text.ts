import type { Limit } from './segment.ts';
import { Segmenter } from './segmenter.ts';

/** The texts of the segments of a text without marks. */
export function* cutText(text: string, voice: Limit): Generator<string> {
  const segmenter = new Segmenter({ voice, pace: 'full' });
  const place = { source: '' };
  for (const segments of [segmenter.push({ kind: 'text', text, place }), segmenter.end()])
    for (const each of segments) if (each.kind === 'segment') yield each.text;
}
