// Types that packages, or TypeScript's libraries, do not have.
declare module 'markdown-it-footnote' {
  import type MarkdownIt from 'markdown-it';
  const footnotes: (parser: MarkdownIt) => void;
  export default footnotes;
}

declare module 'fft.js' {
  export default class FFT {
    /** A power of two. */
    readonly size: number;
    constructor(size: number);
    /** @returns an array for the alternating real and imaginary parts of all frequency bins */
    createComplexArray(): number[];
    /** Writes the bins up to half the size. */
    realTransform(spectrum: number[], samples: ArrayLike<number>): void;
  }
}

/** Parts of ES2024 that Node 20 has, but TypeScript's library for ES2023 has not. */
interface ArrayBufferConstructor {
  new (byteLength: number, options: { readonly maxByteLength: number }): ArrayBuffer;
}
interface ArrayBuffer {
  resize(byteLength: number): void;
}

/** The C API of the Speex resampler (speex_resampler.h), as exported by Emscripten. Addresses are in bytes. */
declare module '@echogarden/speex-resampler-wasm/simd' {
  export interface Speex {
    readonly HEAPU32: Uint32Array;
    readonly HEAPF32: Float32Array;
    _malloc(bytes: number): number;
    _free(address: number): void;
    _speex_resampler_init(channels: number, from: number, to: number, quality: number, error: number): number;
    _speex_resampler_destroy(state: number): void;
    _speex_resampler_skip_zeros(state: number): number;
    _speex_resampler_get_input_latency(state: number): number;
    _speex_resampler_process_float(
      state: number,
      channel: number,
      input: number,
      inputFrames: number,
      output: number,
      outputFrames: number,
    ): number;
  }
  interface Options {
    /** Instantiates the module, instead of reading and compiling a file. */
    instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => unknown): unknown;
  }
  const boot: (options: Options) => Promise<Speex>;
  export default boot;
}

/** The C API of Sonic (sonic.h), as exported by Emscripten. Addresses are in bytes, counts in frames; 0 means failure. */
declare module '@echogarden/sonic-wasm' {
  export interface Sonic {
    readonly HEAPF32: Float32Array;
    _malloc(bytes: number): number;
    _free(address: number): void;
    _sonicCreateStream(sampleRate: number, channels: number): number;
    _sonicDestroyStream(stream: number): void;
    _sonicSetSpeed(stream: number, speed: number): void;
    _sonicWriteFloatToStream(stream: number, samples: number, frames: number): number;
    _sonicReadFloatFromStream(stream: number, samples: number, mostFrames: number): number;
    _sonicFlushStream(stream: number): number;
  }
  interface Options {
    /** Instantiates the module, instead of reading and compiling a file. */
    instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => unknown): unknown;
  }
  const boot: (options: Options) => Promise<Sonic>;
  export default boot;
}

/** TypeScript declares this only in its DOM library. */
declare namespace WebAssembly {
  class Module {
    private readonly brand;
    constructor(program: Uint8Array);
  }
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
  type Imports = Record<string, Record<string, (...values: never[]) => unknown>>;
  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: unknown;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
}

declare module '*?raw' {
  const text: string;
  export default text;
}
