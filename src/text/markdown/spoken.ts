import { type Arrivals, PATIENCE, whileArriving } from '../live.ts';
import type { GrowingMarkdown } from './growing.ts';
import type { MarkdownOptions } from './parser.ts';

/**
 * Markdown as a person would read it aloud: CommonMark with the tables, strikethrough, task lists and footnotes of
 * GitHub. The document is read whole, since a reference may be defined on the last line; the text of one block after the
 * other comes out, separated by an empty line, or by a line break within tight lists and tables.
 *
 * @throws TtsError usage, for more than can be held
 */
export async function* spokenMarkdown(
  text: AsyncIterable<string>,
  { code }: MarkdownOptions,
): AsyncGenerator<string> {
  const { GrowingMarkdown } = await import('./growing.ts');
  const markdown = new GrowingMarkdown(code);
  for await (const piece of text) markdown.push(piece);
  yield* markdown.end();
}

/**
 * The same, of Markdown that somebody is still writing. What comes without a wait is read whole; after {@link PATIENCE} of
 * waiting with text in hand, the blocks come out that are at their end.
 *
 * @throws the signal's reason, at once, even while the source hangs
 */
export async function* liveMarkdown(
  text: AsyncIterable<string>,
  { code }: MarkdownOptions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { GrowingMarkdown } = await import('./growing.ts');
  const markdown = new GrowingMarkdown(code);
  yield* whileArriving(text, signal, (arrivals) => untilEnd(arrivals, markdown));
  yield* markdown.end();
}

async function* untilEnd(arrivals: Arrivals<string>, markdown: GrowingMarkdown): AsyncGenerator<string> {
  let waited = 0;
  let isNew = false;
  for (;;) {
    const startedAt = performance.now();
    const arrival = await arrivals.next(isNew ? Math.max(1, PATIENCE - waited) : undefined);
    if (arrival?.done) return;
    if (isNew) waited += performance.now() - startedAt;
    isNew = arrival !== undefined && waited < PATIENCE;
    if (arrival) markdown.push(arrival.value);
    if (isNew) continue;
    yield* markdown.finished();
    waited = 0;
  }
}
