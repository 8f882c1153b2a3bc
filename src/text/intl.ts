/**
 * A segmenter that is made at its first use: the first one of a process takes 10 ms, and short texts need none.
 * Its language hardly matters, since the rules for all languages are one set.
 */
export function segmenterOf(granularity: 'sentence' | 'word' | 'grapheme'): () => Intl.Segmenter {
  let segmenter: Intl.Segmenter | undefined;
  return () => {
    segmenter ??= new Intl.Segmenter('en', { granularity });
    return segmenter;
  };
}
