import { inTurn, through } from '../../text/live.ts';
import { openCharacters } from '../characters.ts';
import type { Reading, ReadingOptions, Source } from '../reading.ts';
import { GrowingMarkdown } from './growing.ts';
import type { MarkdownOptions } from './parser.ts';

/**
 * A document is read whole, since its last line may define a reference. Only one that is heard while it is written gives out
 * the words that are settled.
 * @throws TtsError (usage) for what is not text
 */
export async function openMarkdown(
  source: Source,
  options: MarkdownOptions,
  signal: AbortSignal,
): Promise<Reading> {
  const characters = await openCharacters(source, signal);
  const stageOf = (inFront: ReadingOptions['inFront']) => {
    const markdown = new GrowingMarkdown(options, source.name);
    return inFront ? inTurn(inFront, markdown) : markdown;
  };
  return {
    source,
    pieces: (until, { inFront } = {}) => through(characters(until), stageOf(inFront)),
    live: (until, { inFront } = {}) => ({ characters: characters(until), stage: stageOf(inFront) }),
  };
}
