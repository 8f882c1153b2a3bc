import { Refusal, type Speaker, type Utterance } from './contract.ts';
import type { FairQueue } from './fair-queue.ts';
import type { Finish } from './finish.ts';
import { type Segment, segments } from './segments.ts';

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

/** Seconds of silence behind a segment, before the style changes them. */
const PAUSES: Readonly<Record<Segment['end'], number>> = { clause: 0.12, sentence: 0.35, paragraph: 0.65 };

/** How a voice is given its work. */
export interface Recipe<Job> {
  /** Brings a sentence into the form that the voice can read; an empty string leaves it out. */
  normalise(sentence: string): string;
  job(text: string, finish: Finish): Job;
  /** What to say of a text that has nothing to be heard in it. */
  readonly complaint: string;
}

/** The jobs that an utterance consists of, made as they are asked for. */
async function* jobs<Job>(
  { text, sampleRate, style }: Utterance,
  recipe: Recipe<Job>,
): AsyncGenerator<Job, void, undefined> {
  for await (const segment of segments(text, recipe.normalise)) {
    const pause = PAUSES[segment.end] * style.pause;
    yield recipe.job(segment.text, { sampleRate, loudness: style.loudness, pause });
  }
}
