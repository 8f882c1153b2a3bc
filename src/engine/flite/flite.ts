import type { Samples } from '../../audio/samples.ts';
import { Wasi } from './wasi.ts';

export interface FliteRequest {
  /** ASCII without control characters, forty words at most. */
  readonly text: string;
  readonly voice: string;
  /** It is a factor of all durations. */
  readonly stretch: number;
  /** Mean fundamental frequency in Hz. */
  readonly pitch?: number | undefined;
}

const WAV_HEADER_BYTES = 44;
const SAMPLE_RATE_OFFSET = 24;

/** The 16 MiB of voices before them never change. */
export const VARIABLES = 17_087_080;

export interface FliteExports {
  readonly memory: WebAssembly.Memory;
  _start(): void;
}

/** The program is CMU Flite 2.2. A fresh instance costs more than a short utterance: the variables of one are restored after each run. */
export class Flite {
  readonly #wasi = new Wasi();
  readonly #program: FliteExports;
  readonly #pristine: Uint8Array;

  constructor(module: WebAssembly.Module) {
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: this.#wasi.imports });
    this.#program = instance.exports as FliteExports;
    this.#pristine = new Uint8Array(this.#program.memory.buffer).slice(VARIABLES);
  }

  /**
   * Blocks the thread for a sixtieth of the duration.
   * @returns samples that are valid until the next call
   * @throws WasiExit or WebAssembly.RuntimeError, and is of no use afterwards
   */
  speak({ text, voice, stretch, pitch }: FliteRequest): Samples {
    const features = [`duration_stretch=${stretch}`];
    if (pitch !== undefined) features.push(`int_f0_target_mean=${pitch}`);
    const settings = features.flatMap((feature) => ['--setf', feature]);
    this.#wasi.prepare(this.#program.memory, [
      'flite',
      '-voice',
      voice,
      ...settings,
      '-t',
      text,
      '-o',
      'speech.wav',
    ]);
    this.#program._start();
    this.#restore();
    return readSpeech(this.#wasi.output);
  }

  #restore(): void {
    const variables = new Uint8Array(this.#program.memory.buffer, VARIABLES);
    variables.set(this.#pristine);
    variables.fill(0, this.#pristine.length);
  }
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
