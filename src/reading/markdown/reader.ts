import { whileGrowing } from '../../text/live.ts';
import type { MarkdownOptions } from './parser.ts';

/**
 * The document is read whole: its last line may define a reference. An empty line separates blocks, a line break tight items
 * and rows.
 * @throws TtsError (usage) for a document that is too long
 */
export async function* spokenMarkdown(
  text: AsyncIterable<string>,
  options: MarkdownOptions,
): AsyncGenerator<string> {
  const { GrowingMarkdown } = await import('./growing.ts');
  const markdown = new GrowingMarkdown(options);
  for await (const piece of text) yield* markdown.push(piece);
  yield* markdown.end();
}

/**
 * Gives out blocks, items and sentences that are complete, while the writer waits.
 * @throws the signal's reason, at once, even while the source hangs
 */
export async function* liveMarkdown(
  text: AsyncIterable<string>,
  options: MarkdownOptions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { GrowingMarkdown } = await import('./growing.ts');
  yield* whileGrowing(text, new GrowingMarkdown(options), signal);
}
