import { compileResampler } from '../sound/convert.ts';
import type { Samples } from '../sound/samples.ts';
import type { Speaker, Style } from './engine.ts';
import type { Finish } from './finish.ts';
import { compileFlite, type FliteExports, type FliteProgram, startFlite } from './flite-program.ts';
import { Wasi } from './flite-wasi.ts';
import { type Phone, phonesOf, type SpokenWord, spokenWords } from './flite-words.ts';

export interface FliteRequest {
  /** ASCII without control characters, forty words at most. */
  readonly text: string;
  readonly voice: string;
  /** It is a factor of all durations. */
  readonly stretch: number;
  /** Mean fundamental frequency in Hz. */
  readonly pitch?: number | undefined;
}

/** Prints each phone with its end. */
const PHONES = '-psdur';

/** All voices say a word with the same phones. */
const QUICKEST = 'kal';

/** Words whose phones are remembered. */
const MOST_WORDS = 50_000;

const WAV_HEADER_BYTES = 44;
const SAMPLE_RATE_OFFSET = 24;

/** The 16 MiB of voices before them never change. */
export const VARIABLES = 17_087_080;

/** The program is CMU Flite 2.2. A fresh instance costs more than a short utterance: the variables of one are restored after each run. */
export class Flite {
  readonly #wasi = new Wasi();
  readonly #program: FliteExports;
  readonly #pristine: Uint8Array;
  readonly #alone = new Map<string, readonly Phone[]>();

  constructor(program: FliteProgram) {
    this.#program = startFlite(program, this.#wasi.imports);
    this.#pristine = new Uint8Array(this.#program.memory.buffer).slice(VARIABLES);
  }

  /**
   * Blocks the thread for a sixtieth of the duration.
   * @returns samples that are valid until the next call
   * @throws WasiExit or WebAssembly.RuntimeError, and is of no use afterwards
   */
  speak(request: FliteRequest): Samples {
    this.#run(argumentsOf(request), 'speech.wav');
    return readSpeech(this.#wasi.output);
  }

  /** The same, and when each word of the text is said. */
  speakTimed(request: FliteRequest): Samples & { readonly words: readonly SpokenWord[] } {
    this.#run([...argumentsOf(request), PHONES], 'speech.wav');
    const phones = phonesOf(this.#wasi.messages);
    const { samples, sampleRate } = readSpeech(this.#wasi.output);
    const sound = { samples: samples.slice(), sampleRate };
    return { ...sound, words: spokenWords(request.text, phones, (word) => this.#phonesAlone(word)) };
  }

  /** Words are remembered: most of a text are said again. */
  #phonesAlone(word: string): readonly Phone[] {
    if (!/[a-z\d]/iu.test(word)) return [];
    const known = this.#alone.get(word);
    if (known) return known;
    this.#run(['-voice', QUICKEST, '-t', word, PHONES], 'none');
    const phones = phonesOf(this.#wasi.messages);
    if (this.#alone.size >= MOST_WORDS) this.#alone.clear();
    this.#alone.set(word, phones);
    return phones;
  }

  #run(args: readonly string[], output: string): void {
    this.#wasi.prepare(this.#program.memory, ['flite', ...args, '-o', output]);
    this.#program._start();
    this.#restore();
  }

  #restore(): void {
    const variables = new Uint8Array(this.#program.memory.buffer, VARIABLES);
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

interface FliteVoice {
  /** Flite's name for it. */
  readonly name: string;
  readonly language: string;
  readonly gender: 'man' | 'woman';
  /** Hz. */
  readonly sampleRate: number;
  /** It is a factor of all durations. */
  readonly stretch: number;
  /** Mean fundamental frequency in Hz, measured; absent where Flite cannot change it. */
  readonly pitch?: number;
}

const VOICES: readonly FliteVoice[] = [
  { name: 'rms', language: 'en-US', gender: 'man', sampleRate: 16_000, stretch: 1 },
  { name: 'slt', language: 'en-US', gender: 'woman', sampleRate: 16_000, stretch: 1, pitch: 172 },
  { name: 'awb', language: 'en-GB', gender: 'man', sampleRate: 16_000, stretch: 1, pitch: 131 },
  { name: 'kal16', language: 'en-US', gender: 'man', sampleRate: 16_000, stretch: 1.1, pitch: 95 },
  { name: 'kal', language: 'en-US', gender: 'man', sampleRate: 8_000, stretch: 1.1, pitch: 95 },
];

/** A voice has two numbers, which differ by this. */
const MERMISH = 10;

export const FLITE_SPEAKERS: readonly Speaker[] = [...speakers('neo.one'), ...speakers('Mermish')];

function speakers(kind: 'neo.one' | 'Mermish'): Speaker[] {
  return VOICES.map(({ name, language, gender, sampleRate }, index) => ({
    no: index + 1 + (kind === 'Mermish' ? MERMISH : 0),
    name: kind === 'Mermish' ? `${name}-styled` : name,
    kind,
    language,
    gender,
    sampleRate,
  }));
}

export interface FliteTask extends FliteRequest {
  /** The factor of the rate at which its samples are read. */
  readonly warp: number;
  readonly finish: Finish;
  /** The answer is a {@link TimedSpeech}. */
  readonly isTimed?: boolean;
}

/** Where Flite cannot set the pitch, samples are read at another rate, and `stretch` keeps the duration. */
export function fliteTask(
  { no, style }: { readonly no: number; readonly style: Style },
  text: string,
  finish: Finish,
): FliteTask {
  const voice = VOICES[(no - 1) % MERMISH];
  if (!voice) throw new RangeError(`there is no speaker ${no}`);
  const warp = voice.pitch === undefined ? style.pitch : 1;
  return {
    text,
    voice: voice.name,
    stretch: (voice.stretch / style.rate) * warp,
    pitch: style.pitch === 1 ? undefined : voice.pitch && voice.pitch * style.pitch,
    warp,
    finish,
  };
}

export interface TimedSpeech {
  readonly speech: Int16Array;
  /** Their times count from the first sample. */
  readonly words: readonly SpokenWord[];
}

export const READY = 'ready';

/** All workers share the compiled programs. */
export interface Assets {
  readonly flite: FliteProgram;
  readonly resampler: WebAssembly.Module;
}

/** @param runtime the version of Node */
export async function loadAssets(runtime?: string): Promise<Assets> {
  const [flite, resampler] = await Promise.all([compileFlite(runtime), compileResampler()]);
  return { flite, resampler };
}
