import type { Heading } from '../../text/piece.ts';
import type { Rest, Segment } from '../../text/segment.ts';
import { countCodePoints } from '../../text/unicode.ts';
import { type RowKey, type Shape, TextHash } from '../row-state.ts';

export interface BookChapter {
  readonly title: string | undefined;
  /** It counts as `--chapters` does: 0 is what comes before the first chapter. */
  readonly number: number;
  readonly segments: number;
  readonly characters: number;
  /** Hashes what is spoken, in which pieces and with which silences. */
  readonly hash: TextHash;
}

/**
 * Goes once over a text. What comes before the first heading is a chapter without a title.
 * @param heardOf all that is heard of a segment besides its text
 */
export async function chaptersOf(
  parts: AsyncIterable<Segment | Rest>,
  heardOf: (segment: Segment) => unknown,
): Promise<readonly BookChapter[]> {
  const chapters: BookChapter[] = [];
  for await (const { heading, parts: own } of byChapter(parts)) {
    const hash = new TextHash();
    let [segments, characters] = [0, 0];
    for await (const part of own) {
      if (part.kind === 'rest') hash.addMark(JSON.stringify(part));
      else {
        hash.addMark(JSON.stringify(heardOf(part)));
        hash.add(part.text);
        segments += 1;
        characters += countCodePoints(part.text);
      }
    }
    chapters.push({ title: heading?.title, number: heading?.number ?? 0, segments, characters, hash });
  }
  return chapters;
}

export function chapterKey({ hash }: BookChapter, shape: Shape, tags: unknown): RowKey {
  hash.addMark(JSON.stringify(tags));
  return hash.finish(shape);
}

export interface ChapterParts {
  readonly heading: Heading | undefined;
  /** Segments are counted from 0 in each chapter. What is not read is passed over. */
  readonly parts: AsyncGenerator<Segment | Rest>;
}

export async function* byChapter(parts: AsyncIterable<Segment | Rest>): AsyncGenerator<ChapterParts> {
  const source = parts[Symbol.asyncIterator]();
  let next = await source.next();
  async function* chapter(heading: Heading | undefined): AsyncGenerator<Segment | Rest> {
    for (let index = 0; !next.done; next = await source.next()) {
      const part = next.value;
      if (part.kind === 'segment' && part.chapter !== heading) return;
      yield part.kind === 'rest' ? part : { ...part, index };
      if (part.kind === 'segment') index += 1;
    }
  }
  try {
    while (!next.done) {
      if (next.value.kind === 'rest') {
        next = await source.next();
        continue;
      }
      const heading = next.value.chapter;
      const own = chapter(heading);
      yield { heading, parts: own };
      // The generator may have been left in the middle, so the rest is passed over here.
      for (; !next.done; next = await source.next())
        if (next.value.kind === 'segment' && next.value.chapter !== heading) break;
    }
  } finally {
    await source.return?.();
  }
}
