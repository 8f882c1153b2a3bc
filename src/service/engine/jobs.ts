import type { Utterance } from '../engine.ts';
import type { Finish } from './finish.ts';
import { type Segment, segments } from './segments.ts';

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
export async function* jobs<Job>(
  { text, sampleRate, style }: Utterance,
  recipe: Recipe<Job>,
): AsyncGenerator<Job, void, undefined> {
  for await (const segment of segments(text, recipe.normalise)) {
    const pause = PAUSES[segment.end] * style.pause;
    yield recipe.job(segment.text, { sampleRate, loudness: style.loudness, pause });
  }
}
