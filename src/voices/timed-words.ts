/** Times the words of a text by having another voice say it unheard: a built-in one in English, else espeak-ng. */
import { OWN_RATE } from '../engines/engine.ts';
import type { Espeak } from '../engines/espeak.ts';
import { compileOnce, FLITE_WORKER, FliteThread, fliteTasks } from '../engines/flite-thread.ts';
import type { SpokenWord } from '../engines/flite-words.ts';
import { tasks } from '../engines/queued-engine.ts';
import { styleOf } from '../engines/style.ts';
import type { Host, ProgramHost } from '../kit/host.ts';
import { isUnreadByEspeak, languageOf, voiceForLanguage } from './language.ts';

export interface TimedSound {
  /** Samples of one channel. */
  readonly pieces: readonly Int16Array[];
  /** Hz. */
  readonly sampleRate: number;
  readonly seconds: number;
  /** The words as the voice got them: without accents, and with numbers as figures. */
  readonly words: readonly SpokenWord[];
}

/** The number of `rms`, the built-in voice to which others align best. */
const USUAL = 1;

interface BuiltInVoice {
  /** The number of a built-in voice; by default `USUAL`. */
  readonly no?: number;
  readonly instructions?: string | undefined;
}

export type Machine = ProgramHost & Partial<Pick<Host, 'runtime'>>;

/** The voices that say texts unheard. Texts are said one after the other. */
export class Reference implements AsyncDisposable {
  readonly #host: Machine;
  readonly #thread: FliteThread;
  #espeak: Promise<Espeak | undefined> | undefined;
  #before: Promise<unknown> = Promise.resolve();

  constructor(host: Machine, program = FLITE_WORKER) {
    this.#host = host;
    this.#thread = new FliteThread(program, compileOnce(host.runtime));
  }

  /**
   * @param language the tag of a voice or a text
   * @returns `undefined` if no voice reads the language, or there is nothing to read in the text
   * @throws EngineError; the error of a program
   */
  speakIn(language: string, text: string, signal: AbortSignal): Promise<TimedSound | undefined> {
    if (languageOf(language) === 'en') return this.speak(text, signal);
    return this.#inTurn(() => this.#speakWithEspeak(language, text, signal), signal);
  }

  /**
   * Has a built-in voice say the text.
   * @returns `undefined` for a text in which the voice can read nothing
   * @throws EngineError
   */
  speak(text: string, signal: AbortSignal, voice: BuiltInVoice = {}): Promise<TimedSound | undefined> {
    return this.#inTurn(() => this.#speakBuiltIn(text, signal, voice), signal);
  }

  #inTurn<T>(speak: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const spoken = this.#before.then(() => {
      signal.throwIfAborted();
      return speak();
    });
    this.#before = spoken.catch(() => {});
    return spoken;
  }

  async #speakWithEspeak(
    language: string,
    text: string,
    signal: AbortSignal,
  ): Promise<TimedSound | undefined> {
    this.#espeak ??= this.#findEspeak();
    const espeak = isUnreadByEspeak(language) ? undefined : await this.#espeak;
    const voice = voiceForLanguage(language, [espeak?.voices ?? []]);
    if (!espeak || !voice) return undefined;
    const { speakTimed } = await import('../engines/espeak-words.ts');
    const said = await speakTimed(text, voice.file, espeak, signal);
    if (!said || said.words.length === 0) return undefined;
    const { samples, ...rest } = said;
    return { ...rest, pieces: [samples], seconds: samples.length / said.sampleRate };
  }

  /** Looks for espeak-ng without the signal of the first text, because later texts need the result as well. */
  async #findEspeak(): Promise<Espeak | undefined> {
    const { findEspeak } = await import('../engines/espeak.ts');
    const { signal } = new AbortController();
    return (await findEspeak({ host: this.#host, signal })).espeak;
  }

  async #speakBuiltIn(
    text: string,
    signal: AbortSignal,
    { no = USUAL, instructions }: BuiltInVoice,
  ): Promise<TimedSound | undefined> {
    const { style } = styleOf(instructions);
    const pieces: Int16Array[] = [];
    const words: SpokenWord[] = [];
    let frames = 0;
    const recipe = fliteTasks({ no, style });
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
