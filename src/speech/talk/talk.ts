import type { Drops } from '../../drops.ts';
import type { Rest, Segment } from '../../text/segment.ts';
import type { Places } from '../events/places.ts';
import type { Answers } from './answers.ts';

/** What a run that is heard wants besides the segments. */
export interface Talking {
  readonly drops?: Drops | undefined;
  /** They tell the segments where they stand in the input. */
  readonly places?: Places | undefined;
}

interface Talk {
  readonly drops: Drops;
  /** Without them, the text is one answer. */
  readonly answers: Answers | undefined;
  readonly signal: AbortSignal;
}

/**
 * The segments of a conversation, answer by answer. After a drop, the next answer begins with what comes then.
 * @param segmentsOf makes those of the next answer
 */
export async function* talk(
  segmentsOf: (until: AbortSignal) => AsyncIterable<Segment | Rest>,
  { drops, answers, signal }: Talk,
): AsyncGenerator<Segment | Rest> {
  let index = 0;
  do {
    const lines = answers?.passed.lines ?? 0;
    for await (const each of answerOf(segmentsOf, drops.signal, signal)) {
      yield each.kind === 'rest' ? each : inTalk(each, index, lines);
      if (each.kind === 'segment') index += 1;
    }
  } while (answers?.goesOn);
}

/** It ends at a drop. */
async function* answerOf(
  segmentsOf: (until: AbortSignal) => AsyncIterable<Segment | Rest>,
  dropped: AbortSignal,
  signal: AbortSignal,
): AsyncGenerator<Segment | Rest> {
  try {
    for await (const each of segmentsOf(AbortSignal.any([signal, dropped]))) {
      if (dropped.aborted) return;
      yield each;
    }
  } catch (error) {
    if (signal.aborted || !dropped.aborted) throw error;
  }
}

/** Numbers count on from answer to answer, and so do the lines of the pipe. */
function inTalk(segment: Segment, index: number, lines: number): Segment {
  const { source, line } = segment.place;
  const isOfPipe = source === '-' || source === '';
  const place = line === undefined || !isOfPipe ? segment.place : { ...segment.place, line: line + lines };
  return { ...segment, index, place };
}
