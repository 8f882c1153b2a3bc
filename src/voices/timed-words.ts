/** Another voice says a text once more, unheard, to time its words: the built-in one in English, espeak-ng in other languages. */
import { OWN_RATE } from '../engines/engine.ts';
import type { Espeak } from '../engines/espeak.ts';
import { compiledOnce, FLITE_PROGRAM, FliteThread, fliteTasks } from '../engines/flite-thread.ts';
import type { SpokenWord } from '../engines/flite-words.ts';
import { tasks } from '../engines/queued-engine.ts';
import { styleOf } from '../engines/style.ts';
import type { Host } from '../kit/host.ts';
import { isUnreadByEspeak, languageOf, voiceForLanguage } from './language.ts';

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

interface Built {
  /** The number of a built-in voice; by default it is the one to which others align best. */
  readonly no?: number;
  readonly instructions?: string | undefined;
}

export type Machine = Pick<Host, 'env' | 'platform'> & Partial<Pick<Host, 'runtime'>>;

/** Texts are said one after the other. */
export class Reference implements AsyncDisposable {
  readonly #host: Machine;
  readonly #thread: FliteThread;
  #espeak: Promise<Espeak | undefined> | undefined;
  #before: Promise<unknown> = Promise.resolve();

  constructor(host: Machine, program = FLITE_PROGRAM) {
    this.#host = host;
    this.#thread = new FliteThread(program, compiledOnce(host.runtime));
  }

  /**
   * @param language as a voice or a text has it
   * @returns `undefined` where no voice reads the language, or nothing of the text
   * @throws EngineError; the error of a program
   */
  speakIn(language: string, text: string, signal: AbortSignal): Promise<TimedSound | undefined> {
    if (languageOf(language) === 'en') return this.speak(text, signal);
    return this.#inTurn(() => this.#speakWithEspeak(language, text, signal), signal);
  }

  /**
   * A built-in voice says the text.
   * @returns `undefined` for a text in which there is nothing that it could read
   * @throws EngineError
   */
  speak(text: string, signal: AbortSignal, voice: Built = {}): Promise<TimedSound | undefined> {
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
    const voices = espeak?.voices.map(({ speaker, file }) => ({ ...speaker, file })) ?? [];
    const voice = voiceForLanguage(language, [voices]);
    if (!espeak || !voice) return undefined;
    const { speakTimed } = await import('../engines/espeak-words.ts');
    const said = await speakTimed(text, voice.file, espeak, signal);
    if (!said || said.words.length === 0) return undefined;
    const { samples, ...rest } = said;
    return { ...rest, pieces: [samples], seconds: samples.length / said.sampleRate };
  }

  /** The search is no part of the text for which it is made first: others need its result as well. */
  async #findEspeak(): Promise<Espeak | undefined> {
    const { findEspeak } = await import('../engines/espeak.ts');
    const { signal } = new AbortController();
    return (await findEspeak({ host: this.#host, signal })).espeak;
  }

  async #speakBuiltIn(
    text: string,
    signal: AbortSignal,
    { no = USUAL, instructions }: Built,
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
