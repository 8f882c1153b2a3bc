import { late } from './late.ts';

/** Its language hardly matters, since the rules for all languages are one set. */
export function segmenterOf(granularity: 'sentence' | 'word' | 'grapheme'): () => Intl.Segmenter {
  return late(() => new Intl.Segmenter('en', { granularity }));
}
