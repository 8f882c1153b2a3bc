import { join } from '../audio/join.ts';
import type { Speech } from '../audio/pcm.ts';
import type { Delivery, Sink } from '../sink/sink.ts';
import { blankText } from '../text/blank.ts';
import type { Segment } from '../text/segment.ts';
import { LookAhead, type LookAheadOptions, type Part } from './look-ahead.ts';
import { withPauses } from './pauses.ts';

export interface Journey extends LookAheadOptions {
  /** The text, to be read until the signal aborts. */
  readonly segments: (signal: AbortSignal) => AsyncIterable<Segment>;
  /** Seconds of silence between two paragraphs. */
  readonly paragraphPause: number;
  readonly sink: Sink;
  /** Sees every part in its turn, before its sound is read, and may put its own around the sound. */
  readonly watch: (part: Part) => Part;
  /** Called when all of the sound has gone by, before the sink makes it whole: what fails here fails the run. */
  readonly complete?: (() => Promise<void>) | undefined;
}

/**
 * The whole way: segments, requests ahead of their turn, one sound, the sink.
 * @returns `undefined` where the service sends the sound elsewhere
 * @throws TtsError; then the sink holds nothing that looks whole
 */
export async function deliver(journey: Journey): Promise<Delivery | undefined> {
  const { segments, paragraphPause, sink, watch, complete, signal } = journey;
  const ahead = new LookAhead(segments, journey);
  const parts = ahead.parts();
  let begun = false;
  try {
    const first = await unlessLeft(parts.next(), sink);
    if (!first) return NOTHING_HEARD;
    if (first.done) throw blankText();
    const head = watch(first.value);
    if (!head.speech) return undefined;
    const speeches = withPauses(watched(head, parts, { watch, complete }), paragraphPause);
    const speech: Speech = await join(speeches, { isSingle: () => ahead.isSingle });
    begun = true;
    return await sink.write(speech, signal);
  } finally {
    if (!begun) await sink.discard();
    ahead.leave();
  }
}

const NOTHING_HEARD: Delivery = { bytes: 0, overheadBytes: 0, readerLeft: true };

/** What comes, unless whoever was to hear it is gone by then. */
async function unlessLeft<T>(coming: Promise<T>, { left }: Sink): Promise<T | undefined> {
  if (!left) return coming;
  // When nobody hears it, it does not matter any more what becomes of it.
  coming.catch(() => {});
  return Promise.race([coming, left.then(() => undefined)]);
}

async function* watched(
  head: Part,
  rest: AsyncIterable<Part>,
  { watch, complete }: Pick<Journey, 'watch' | 'complete'>,
): AsyncGenerator<Part> {
  yield head;
  for await (const part of rest) yield watch(part);
  await complete?.();
}
