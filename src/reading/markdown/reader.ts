import { inTurn, through, whileArriving } from '../../text/live.ts';
import { openCharacters } from '../characters.ts';
import type { Reading, Source } from '../reading.ts';
import { GrowingMarkdown } from './growing.ts';
import type { MarkdownOptions } from './parser.ts';

/**
 * A document is read whole, since its last line may define a reference. Only one that is heard while it is written gives out
 * blocks, items and sentences that are complete.
 * @throws TtsError (usage) for what is not text
 */
export async function openMarkdown(
  source: Source,
  options: MarkdownOptions,
  signal: AbortSignal,
): Promise<Reading> {
  const characters = await openCharacters(source, signal);
  return {
    source,
    pieces(until, { inFront, isHeardLive } = {}) {
      const markdown = new GrowingMarkdown(options, source.name);
      const stage = inFront ? inTurn(inFront, markdown) : markdown;
      return isHeardLive && source.isLive
        ? whileArriving(characters(until), stage, until)
        : through(characters(until), stage);
    },
  };
}
