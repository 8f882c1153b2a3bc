import { type Engine, EngineError, OWN_RATE, type Speaker, type Utterance } from './contract.ts';
import type { FairQueue } from './fair-queue.ts';
import type { Finish } from './finish.ts';
import { type Passage, passages } from './passages.ts';

export function queuedEngine<Task>(
  speakers: readonly Speaker[],
  queue: FairQueue<Task>,
  recipe: (utterance: Utterance) => Recipe<Task>,
): Engine {
  return {
    speakers,
    get queued() {
      return queue.waiting;
    },
    async speak(utterance, signal) {
      const { sampleRate = OWN_RATE } = utterance;
      const how = recipe(utterance);
      const work = tasks({ ...utterance, sampleRate }, how, signal);
      return { sampleRate, samples: audible(queue.run(work, signal, utterance.isPatient), how.complaint) };
    },
    close: () => queue.close(),
  };
}

/** @throws EngineError at the end if all pieces were empty: some voices find out only while they speak */
async function* audible(
  pieces: AsyncIterable<Int16Array>,
  complaint: string,
): AsyncGenerator<Int16Array, void, undefined> {
  let isSilent = true;
  for await (const piece of pieces) {
    if (piece.length === 0) continue;
    isSilent = false;
    yield piece;
  }
  if (isSilent) throw new EngineError('unsupported text', complaint);
}

/** Seconds after a passage. */
const PAUSES: Readonly<Record<Passage['end'], number>> = { clause: 0.12, sentence: 0.35, paragraph: 0.65 };

export interface Recipe<Task> {
  /** @returns empty to leave the sentence out */
  normalise(sentence: string): string;
  task(text: string, finish: Finish): Task;
  /** It is the message for a text without sound. */
  readonly complaint: string;
}

async function* tasks<Task>(
  { text, sampleRate, style }: Utterance & { readonly sampleRate: number },
  recipe: Recipe<Task>,
  signal: AbortSignal,
): AsyncGenerator<Task, void, undefined> {
  for await (const passage of passages(text, recipe.normalise, signal)) {
    const pause = PAUSES[passage.end] * style.pause;
    yield recipe.task(passage.text, { sampleRate, loudness: style.loudness, pause });
  }
}
