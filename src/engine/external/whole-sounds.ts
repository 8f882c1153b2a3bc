import { printable } from '../../printable.ts';
import { cutText } from '../../text/cut-text.ts';
import { countCodePoints } from '../../text/unicode.ts';
import { EngineError, type Utterance } from '../contract.ts';
import type { SourceVoice } from '../source.ts';
import { leastSecondsOf, VoicePace } from './pace.ts';

/** A text that is not longer is not divided. */
const FEWEST_CHARACTERS = 40;

/** Halves that are longer than the whole by more than this show that a part of it was missing. */
const LONGER = 1.05;

/** Seconds. Two sounds have more silence at their ends than one. */
const MORE_SILENCE = 0.5;

/** A text that may be spoken in parts. */
export interface Parted {
  readonly text: string;
  readonly voice: SourceVoice;
  readonly onCut?: Utterance['onCut'];
}

/** A text and its sound. */
interface Spoken {
  readonly text: string;
  readonly seconds: number;
  readonly samples: readonly Int16Array[];
}

type Once<Task> = (task: Task, count: { seconds: number }) => AsyncIterable<Int16Array>;

/** Speaks texts of an engine that may drop parts of them in silence. */
export class WholeSounds<Task extends Parted> {
  readonly #name: string;
  readonly #once: Once<Task>;
  readonly #paces = new Map<SourceVoice, VoicePace>();

  /**
   * @param name that of the engine
   * @param once asks the engine, and keeps the seconds of the sound in `count`
   */
  constructor(name: string, once: Once<Task>) {
    this.#name = name;
    this.#once = once;
  }

  /** Sound that seems to be too short is compared with that of the halves of its text. */
  async *speak(task: Task): AsyncGenerator<Int16Array> {
    const { text } = task;
    const pace = this.#paceOf(task.voice);
    const enough = pace.secondsOfWhole(text);
    const isEarly = !pace.isKnown;
    const held: Int16Array[] = [];
    const count = { seconds: 0 };
    for await (const samples of this.#once(task, count)) {
      held.push(samples);
      if (count.seconds >= enough) yield* held.splice(0);
    }
    const { seconds } = count;
    if (seconds >= enough) {
      yield* held;
      const onShort = () => task.onCut?.(this.#tooShort({ text, seconds }, pace).message, false);
      pace.learn(text, seconds, isEarly ? onShort : undefined);
      return;
    }
    const whole = { text, seconds, samples: held };
    const divided = await this.#divided(task, whole, () => this.#tooShort(whole, pace));
    if (divided.seconds < leastSecondsOf(text)) throw this.#tooShort(whole, pace);
    if (divided !== whole) task.onCut?.(this.#tooShort(whole, pace).message, true);
    yield* divided.samples;
  }

  /**
   * @param failure makes the error for a text that is cut and too short to be divided
   * @returns the sound of the halves, unless it shows that the whole lacks nothing
   */
  async #divided(
    task: Task,
    whole: Spoken,
    failure: () => EngineError,
    isSurelyCut = false,
  ): Promise<Spoken> {
    const pace = this.#paceOf(task.voice);
    if (countCodePoints(whole.text) <= FEWEST_CHARACTERS) return whole;
    const texts = halves(whole.text);
    if (texts.length < 2) return whole;
    const parts: Spoken[] = [];
    for (const text of texts) parts.push(await this.#half({ ...task, text }, whole, failure));
    const seconds = parts.reduce((sum, part) => sum + part.seconds, 0);
    const isCut = isSurelyCut || seconds > LONGER * whole.seconds + MORE_SILENCE;
    if (!isCut && whole.seconds >= leastSecondsOf(whole.text)) {
      pace.learnFast(whole.text, whole.seconds);
      return whole;
    }
    if (isCut) pace.learnLimit(whole.seconds);
    return { text: whole.text, seconds, samples: parts.flatMap(({ samples }) => samples) };
  }

  async #half(task: Task, whole: Spoken, failure: () => EngineError): Promise<Spoken> {
    const pace = this.#paceOf(task.voice);
    const count = { seconds: 0 };
    const samples: Int16Array[] = [];
    for await (const piece of this.#once(task, count)) samples.push(piece);
    const half = { text: task.text, seconds: count.seconds, samples };
    // What is as long as the whole was cut at the same place.
    const isCut = isAsLong(half, whole);
    if (!isCut && half.seconds >= pace.secondsOfWhole(half.text)) {
      pace.learn(half.text, half.seconds);
      return half;
    }
    if (isCut && countCodePoints(half.text) <= FEWEST_CHARACTERS) throw failure();
    return this.#divided(task, half, failure, isCut);
  }

  #paceOf(voice: SourceVoice): VoicePace {
    const pace = this.#paces.get(voice) ?? new VoicePace();
    this.#paces.set(voice, pace);
    return pace;
  }

  /** The engine does the same each time, so it is not asked once more. */
  #tooShort({ text, seconds }: Omit<Spoken, 'samples'>, pace: VoicePace): EngineError {
    const sent = `${this.#name} sent ${seconds.toFixed(1)} s of sound for "${excerpt(text)}"`;
    const what = `too short for ${countCodePoints(text)} characters: the engine seems to drop text`;
    return new EngineError(
      'failed',
      `${sent}, ${what}; set maxChars: ${rounded(pace.charactersIn(seconds))}`,
      {
        isFinal: true,
      },
    );
  }
}

function isAsLong(half: Spoken, whole: Spoken): boolean {
  return Math.abs(half.seconds - whole.seconds) <= whole.seconds * SAME_LENGTH;
}

const SAME_LENGTH = 0.02;

function rounded(spoken: number): number {
  const step = spoken < 100 ? 10 : 50;
  return Math.max(FEWEST_CHARACTERS, step * Math.round(spoken / step));
}

function halves(text: string): string[] {
  const length = countCodePoints(text);
  let parts: string[] = [];
  for (const share of LARGER_HALVES) {
    parts = [...cutText(text, { maxChars: Math.ceil(length * share) })];
    if (parts.length === 2) break;
  }
  return parts;
}

const LARGER_HALVES = [0.5, 0.55, 0.6];

export function excerpt(text: string): string {
  return printable(text.slice(0, 60));
}
