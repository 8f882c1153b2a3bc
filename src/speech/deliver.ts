import { passing } from '../async.ts';
import { join } from '../audio/join.ts';
import { type PcmFormat, type Speech, silence, silentFrames } from '../audio/pcm.ts';
import type { Delivery, Sink } from '../sink/sink.ts';
import type { Segment } from '../text/segment.ts';
import { blankText } from '../text/source.ts';
import { LookAhead, type LookAheadOptions, type Part } from './look-ahead.ts';

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
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const ahead = new LookAhead((until) => passing(segments(until), { each: begin }), journey);
  const parts = ahead.parts();
  let isWriting = false;
  try {
    // Not before there is something to speak: what is no text is an error, whoever has left.
    const left = sink.left && begun.then(() => sink.left);
    const first = await unlessLeft(parts.next(), left);
    if (!first) return NOTHING_HEARD;
    if (first.done) throw blankText();
    const head = watch(first.value);
    if (!head.speech) return undefined;
    const speeches = withPauses(watched(head, parts, { watch, complete }), paragraphPause);
    const speech: Speech = await join(speeches, { isSingle: () => ahead.isSingle });
    isWriting = true;
    return await sink.write(speech, signal);
  } finally {
    if (!isWriting) await sink.discard();
    ahead.leave();
  }
}

const NOTHING_HEARD: Delivery = { bytes: 0, overheadBytes: 0, readerLeft: true };

/** What comes, unless whoever was to hear it is gone by then. */
async function unlessLeft<T>(coming: Promise<T>, left: Promise<void> | undefined): Promise<T | undefined> {
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

/** The sound of the parts, each paragraph but the first with silence before it. Parts whose sound goes elsewhere are left out. */
async function* withPauses(parts: AsyncIterable<Part>, seconds: number): AsyncGenerator<Speech> {
  let begun = false;
  for await (const { segment, speech } of parts) {
    if (!speech) continue;
    const paused = begun && pauseFrames(segment, speech.format, seconds) > 0;
    begun = true;
    yield paused ? { ...speech, bytes: undefined, pcm: behindSilence(speech, seconds) } : speech;
  }
}

/** Frames of silence before a segment. */
export function pauseFrames({ startsParagraph, index }: Segment, format: PcmFormat, seconds: number): number {
  return startsParagraph && index > 0 ? silentFrames(format, seconds) : 0;
}

async function* behindSilence({ format, pcm }: Speech, seconds: number): AsyncGenerator<Uint8Array> {
  yield* silence(format, seconds);
  yield* pcm;
}
