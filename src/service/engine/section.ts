import type { Speaker, Utterance } from '../engine.ts';
import { Refusal } from '../refusal.ts';
import type { FairQueue } from './fair-queue.ts';
import { jobs, type Recipe } from './jobs.ts';

/** The speakers of one kind of program, and how they are made to speak. */
export interface Section {
  readonly speakers: readonly Speaker[];
  /** Utterances that wait for their first turn. */
  readonly queued: number;
  speak(utterance: Utterance, signal: AbortSignal): AsyncIterable<Int16Array>;
  close(): Promise<void>;
}

export function createSection<Job>(
  speakers: readonly Speaker[],
  queue: FairQueue<Job>,
  recipe: (utterance: Utterance) => Recipe<Job>,
): Section {
  return {
    speakers,
    get queued() {
      return queue.waiting;
    },
    speak(utterance, signal) {
      const how = recipe(utterance);
      return audible(queue.run(jobs(utterance, how), signal, utterance.isPatient), how.complaint);
    },
    close: () => queue.close(),
  };
}

/**
 * Leaves out empty parts.
 *
 * @throws Refusal at the end, if there was nothing else: some voices know only when they speak that they have no sound
 * for a text
 */
async function* audible(
  parts: AsyncIterable<Int16Array>,
  complaint: string,
): AsyncGenerator<Int16Array, void, undefined> {
  let isSilent = true;
  for await (const part of parts) {
    if (part.length === 0) continue;
    isSilent = false;
    yield part;
  }
  if (isSilent) throw new Refusal(422, 'unsupported_text', complaint, { field: 'text' });
}
