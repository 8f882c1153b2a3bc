import type { Stage } from './live.ts';
import type { Piece } from './piece.ts';
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
  const { voice, chapter } = whole;
  const segmenter = new Segmenter({ voice, pace: 'sentence' });
  let isFirst = true;
  for (const segment of segmented(partsOf(whole), segmenter)) {
    if (segment.kind === 'rest') continue;
    yield { ...segment, chapter, pause: isFirst ? whole.pause : segment.pause };
    isFirst = false;
  }
}

function* segmented<V extends Limit>(parts: Iterable<Piece<V>>, segmenter: Segmenter<V>) {
  for (const part of parts) yield* segmenter.push(part);
  yield* segmenter.end();
}

/** The parts of a segment that were joined, each with its place. */
function* partsOf<V extends Limit>({ written, place, anchors = [] }: Segment<V>): Generator<Piece<V>> {
  const all = [{ at: 0, place }, ...anchors];
  for (const [number, part] of all.entries())
    yield { kind: 'text', text: written.slice(part.at, all[number + 1]?.at), place: part.place };
}
