import { Refusal, type Speaker, type Utterance } from './contract.ts';
import type { FairQueue } from './fair-queue.ts';
import type { Finish } from './finish.ts';
import { type Passage, passages } from './passages.ts';

export interface Section {
  readonly speakers: readonly Speaker[];
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
      return audible(queue.run(jobs(utterance, how, signal), signal, utterance.isPatient), how.complaint);
    },
    close: () => queue.close(),
  };
}

/** @throws Refusal at the end if all parts were empty: some voices find out only while they speak */
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

/** Seconds behind a passage. */
const PAUSES: Readonly<Record<Passage['end'], number>> = { clause: 0.12, sentence: 0.35, paragraph: 0.65 };

export interface Recipe<Job> {
  /** @returns empty to leave the sentence out */
  normalise(sentence: string): string;
  job(text: string, finish: Finish): Job;
  /** Of a text without sound. */
  readonly complaint: string;
}

async function* jobs<Job>(
  { text, sampleRate, style }: Utterance,
  recipe: Recipe<Job>,
  signal: AbortSignal,
): AsyncGenerator<Job, void, undefined> {
  for await (const passage of passages(text, recipe.normalise, signal)) {
    const pause = PAUSES[passage.end] * style.pause;
    yield recipe.job(passage.text, { sampleRate, loudness: style.loudness, pause });
  }
}
