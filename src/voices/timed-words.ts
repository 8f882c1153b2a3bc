/** The built-in voice says a text once more, unheard, to time its words. */
import { OWN_RATE } from '../engines/engine.ts';
import { FLITE_PROGRAM, FliteThread, fliteRecipe, sharedAssets } from '../engines/flite-thread.ts';
import type { SpokenWord } from '../engines/flite-words.ts';
import { tasks } from '../engines/lanes.ts';
import { styleOf } from '../engines/style.ts';

export interface TimedSound {
  /** One channel. */
  readonly pieces: readonly Int16Array[];
  /** Hz. */
  readonly sampleRate: number;
  readonly seconds: number;
  /** As the voice got them: without accents, and with numbers as figures. */
  readonly words: readonly SpokenWord[];
}

/** The number of `rms`: of the built-in voices, it is the one to which others align best. */
const USUAL = 1;

export class Reference implements AsyncDisposable {
  readonly #thread: FliteThread;

  /** @param runtime the version of Node */
  constructor(runtime: string, program = FLITE_PROGRAM) {
    this.#thread = new FliteThread(program, sharedAssets(runtime));
  }

  /**
   * @param no the number of a built-in voice; by default the one to which others align best
   * @returns `undefined` for a text in which there is nothing that the voice could read
   * @throws EngineError
   */
  async speak(
    text: string,
    signal: AbortSignal,
    { no = USUAL, instructions }: { readonly no?: number; readonly instructions?: string | undefined } = {},
  ): Promise<TimedSound | undefined> {
    const { style } = styleOf(instructions);
    const pieces: Int16Array[] = [];
    const words: SpokenWord[] = [];
    let frames = 0;
    const recipe = fliteRecipe({ no, style });
    for await (const task of tasks({ text, style, sampleRate: OWN_RATE }, recipe, signal)) {
      const { speech, words: spoken } = await this.#thread.runTimed(task, signal);
      const before = frames / OWN_RATE;
      for (const { text, start, end } of spoken)
        words.push({ text, start: start + before, end: end + before });
      frames += speech.length;
      pieces.push(speech);
    }
    return words.length === 0
      ? undefined
      : { pieces, words, sampleRate: OWN_RATE, seconds: frames / OWN_RATE };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread.close();
  }
}
