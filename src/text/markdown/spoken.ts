import { type Arrivals, FLUSH_AFTER_MS, whileArriving } from '../live.ts';
import type { GrowingMarkdown } from './growing.ts';
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
  for await (const piece of text) markdown.push(piece);
  yield* markdown.end();
}

/**
 * Complete blocks come out after {@link FLUSH_AFTER_MS} of waiting.
 * @throws the signal's reason, at once, even while the source hangs
 */
export async function* liveMarkdown(
  text: AsyncIterable<string>,
  options: MarkdownOptions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { GrowingMarkdown } = await import('./growing.ts');
  const markdown = new GrowingMarkdown(options);
  yield* whileArriving(text, signal, (arrivals) => untilEnd(arrivals, markdown));
  yield* markdown.end();
}

async function* untilEnd(arrivals: Arrivals<string>, markdown: GrowingMarkdown): AsyncGenerator<string> {
  let waited = 0;
  let isNew = false;
  for (;;) {
    const startedAt = performance.now();
    const arrival = await arrivals.next(isNew ? Math.max(1, FLUSH_AFTER_MS - waited) : undefined);
    if (arrival?.done) return;
    if (isNew) waited += performance.now() - startedAt;
    isNew = arrival !== undefined && waited < FLUSH_AFTER_MS;
    if (arrival) markdown.push(arrival.value);
    if (isNew) continue;
    yield* markdown.finished();
    waited = 0;
  }
}
