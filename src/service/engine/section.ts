import type { Speaker, Utterance } from '../engine.ts';
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
    speak: (utterance, signal) => queue.run(jobs(utterance, recipe(utterance)), signal),
    close: () => queue.close(),
  };
}
