/** A server with OpenAI's `/audio/speech` below its URL. */
export interface ServerConfig {
  readonly kind: 'server';
  readonly name: string;
  /** Without a slash at its end. */
  readonly url: URL;
  readonly model?: string | undefined;
  readonly key?: string | undefined;
  /** What the server is asked for. `pcm` is 16-bit mono samples without a header. */
  readonly format: 'wav' | 'pcm';
  readonly voices?: readonly string[] | undefined;
  /** Hz of samples without a header; with it, an answer that is no WAV counts as 16-bit mono samples. */
  readonly sampleRate?: number | undefined;
  readonly maxChars: number;
  readonly concurrency: number;
}

/** A program that speaks one text and ends. */
export interface ProgramConfig {
  readonly kind: 'program';
  readonly name: string;
  /** The program and its arguments, in which `{text}`, `{output}` and `{voice}` stand for two files and a name. */
  readonly command: readonly [string, ...string[]];
  readonly output: 'wav' | 's16le';
  /** Hz; needed for `s16le`. */
  readonly sampleRate?: number | undefined;
  readonly voices?: readonly string[] | undefined;
  readonly maxChars: number;
  readonly concurrency: number;
}

/** A folder with a model that sherpa-onnx runs. */
interface ModelConfig {
  readonly kind: 'model';
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
  readonly voices?: readonly string[] | undefined;
  readonly maxChars: number;
  readonly concurrency: number;
}

export type EngineConfig = ServerConfig | ProgramConfig | ModelConfig;
