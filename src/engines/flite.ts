/** Speaks with one instance of Flite, in the calling thread. */
import { loadResampler } from '../sound/convert.ts';
import type { Samples } from '../sound/samples.ts';
import { delayOf, finish } from './finish.ts';
import { type FliteExports, type FliteProgram, startFlite } from './flite-program.ts';
import type { FliteRequest, FliteTask } from './flite-voices.ts';
import { Wasi } from './flite-wasi.ts';
import { type Phone, phonesOf, type SpokenWord, spokenWords } from './flite-words.ts';

/** The option that prints each phone with its end time. */
const PHONES = '-psdur';

/** The fastest voice, for finding the phones of a word: they are the same in all voices. */
const FASTEST_VOICE = 'kal';

/** Words whose phones are cached. */
const MOST_CACHED_WORDS = 50_000;

const WAV_HEADER_BYTES = 44;
const SAMPLE_RATE_OFFSET = 24;

/** The address where the variables start. The 16 MiB of voices before it never change. */
export const VARIABLES_START = 17_087_080;

/**
 * CMU Flite 2.2. A fresh instance costs more than a short utterance, so one instance is reused, and its variables are
 * restored after each run.
 */
export class Flite {
  readonly #wasi: Wasi;
  readonly #program: FliteExports;
  readonly #pristine: Uint8Array;
  readonly #alone = new Map<string, readonly Phone[]>();

  private constructor(program: FliteExports, wasi: Wasi) {
    this.#program = program;
    this.#wasi = wasi;
    this.#pristine = new Uint8Array(program.memory.buffer).slice(VARIABLES_START);
  }

  static async start(program: FliteProgram): Promise<Flite> {
    const wasi = new Wasi();
    return new Flite(await startFlite(program, wasi.imports), wasi);
  }

  /**
   * Blocks the thread for a sixtieth of the duration of the sound.
   * @returns samples that are valid until the next call
   * @throws WasiExit or WebAssembly.RuntimeError, after which the instance must not be used again
   */
  speak(request: FliteRequest): Samples {
    this.#run(argumentsOf(request), 'speech.wav');
    return readSpeech(this.#wasi.output);
  }

  /** Like {@link speak}, with the times of all words. */
  speakTimed(request: FliteRequest): Samples & { readonly words: readonly SpokenWord[] } {
    this.#run([...argumentsOf(request), PHONES], 'speech.wav');
    const phones = phonesOf(this.#wasi.messages);
    const { samples, sampleRate } = readSpeech(this.#wasi.output);
    const sound = { samples: samples.slice(), sampleRate };
    return { ...sound, words: spokenWords(request.text, phones, (word) => this.#phonesAlone(word)) };
  }

  /** The phones of a word spoken alone, from a cache, since most words of a text repeat. */
  #phonesAlone(word: string): readonly Phone[] {
    if (!/[a-z\d]/iu.test(word)) return [];
    const known = this.#alone.get(word);
    if (known) return known;
    this.#run(['-voice', FASTEST_VOICE, '-t', word, PHONES], 'none');
    const phones = phonesOf(this.#wasi.messages);
    if (this.#alone.size >= MOST_CACHED_WORDS) this.#alone.clear();
    this.#alone.set(word, phones);
    return phones;
  }

  #run(args: readonly string[], output: string): void {
    this.#wasi.prepare(this.#program.memory, ['flite', ...args, '-o', output]);
    this.#program._start();
    this.#restore();
  }

  #restore(): void {
    const variables = new Uint8Array(this.#program.memory.buffer, VARIABLES_START);
    variables.set(this.#pristine);
    variables.fill(0, this.#pristine.length);
  }
}

function argumentsOf({ text, voice, stretch, pitch }: FliteRequest): readonly string[] {
  const features = [`duration_stretch=${stretch}`];
  if (pitch !== undefined) features.push(`int_f0_target_mean=${pitch}`);
  return ['-voice', voice, ...features.flatMap((feature) => ['--setf', feature]), '-t', text];
}

function readSpeech(wav: Buffer): Samples {
  return {
    samples: new Int16Array(
      wav.buffer,
      wav.byteOffset + WAV_HEADER_BYTES,
      (wav.length - WAV_HEADER_BYTES) >> 1,
    ),
    sampleRate: wav.readUInt32LE(SAMPLE_RATE_OFFSET),
  };
}

export interface TimedSpeech {
  readonly speech: Int16Array;
  /** With times that count from the first sample. */
  readonly words: readonly SpokenWord[];
}

/** The message of a thread that can take tasks. */
export const READY = 'ready';

/** @returns a function that speaks a task and blocks the thread meanwhile */
export async function openSpeaker(
  program: FliteProgram,
): Promise<(task: FliteTask) => Int16Array | TimedSpeech> {
  const [flite, resampler] = await Promise.all([Flite.start(program), loadResampler()]);
  return ({ warp, finish: how, isTimed, ...request }) => {
    const { samples, words, ...sound } = {
      words: [],
      ...flite[isTimed ? 'speakTimed' : 'speak'](request),
    };
    const spoken = { samples, sampleRate: Math.round(sound.sampleRate * warp) };
    const speech = finish(spoken, how, resampler);
    return isTimed ? { speech, words: afterFinish(words, spoken, warp) } : speech;
  };
}

/** Moves the times of words as playing at another rate and {@link finish} do. */
function afterFinish(words: readonly SpokenWord[], spoken: Samples, warp: number): readonly SpokenWord[] {
  const delay = delayOf(spoken);
  return words.map(({ text, start, end }) => ({
    text,
    start: start / warp + delay,
    end: end / warp + delay,
  }));
}
