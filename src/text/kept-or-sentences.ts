import type { Stage } from './live.ts';
import type { Limit, Rest, Segment } from './segment.ts';
import { Segmenter } from './segmenter.ts';

/** Divides segments into their sentences, but for those whose sound is in the cache. */
export class KeptOrSentences<V extends Limit> implements Stage<Segment<V> | Rest, Segment<V> | Rest> {
  #index = 0;

  *push(item: Segment<V> | Rest): Generator<Segment<V> | Rest> {
    if (item.kind === 'rest') yield item;
    else
      for (const segment of item.voice.isKept?.(item) ? [item] : sentencesOf(item)) {
        yield { ...segment, index: this.#index };
        this.#index += 1;
      }
  }

  end(): readonly [] {
    return [];
  }
}

function* sentencesOf<V extends Limit>(whole: Segment<V>): Generator<Segment<V>> {
  const { voice, written, place, chapter } = whole;
  const segmenter = new Segmenter({ voice, pace: 'sentence' });
  let isFirst = true;
  for (const segments of [segmenter.push({ kind: 'text', text: written, place }), segmenter.end()])
    for (const segment of segments) {
      if (segment.kind === 'rest') continue;
      yield { ...segment, chapter, pause: isFirst ? whole.pause : segment.pause };
      isFirst = false;
    }
}
