import { expect, it } from 'vitest';
import { chapterKey, chaptersOf } from '../../../src/batch/split.ts';
import type { Silence } from '../../../src/text/segment.ts';
import { segmentOf } from '../run/segment-of.ts';

it('The key of a chapter stays what it is: all files would be made again.', async () => {
  async function* parts() {
    yield segmentOf('Hello.');
    yield { kind: 'silence', seconds: 2 } satisfies Silence;
  }
  const [chapter] = await chaptersOf(parts(), ({ pause }) => [pause]);
  if (!chapter) throw new Error('there is no chapter');
  const mix = { pauses: { chapter: 2, heading: 1, scene: 1, paragraph: 0.3, sentence: 0 } };
  const shape = { owner: 'flite', voice: { speaker: 1 }, mix, maxChars: 1000, cutsParagraphs: true };
  expect(chapterKey(chapter, shape, ['tags']).key).toBe(
    'fc5a7115567b051a6eca2b852de5c304ecf74dcac4d3fda762b307de7d2e8267',
  );
});
