/** A server with OpenAI's `/audio/speech` below its URL. */
export interface ServerConfig {
  readonly kind: 'server';
  readonly name: string;
  /** Without a trailing slash. */
  readonly url: URL;
  readonly model?: string | undefined;
  readonly key?: string | undefined;
  /** `pcm`: 16-bit mono samples without a header. */
  readonly format: 'wav' | 'pcm';
  readonly voices?: readonly string[] | undefined;
  /** Hz of samples without a header. If set, an answer that is no WAV is read as such samples. */
  readonly sampleRate?: number | undefined;
  readonly maxChars: number;
  readonly concurrency: number;
}

/** A program that speaks one text and ends. */
export interface ProgramConfig {
  readonly kind: 'program';
  readonly name: string;
  /** `{text}`, `{output}` and `{voice}` stand for two files and a name. */
  readonly command: readonly [string, ...string[]];
  readonly output: 'wav' | 's16le';
  /** Hz; needed for `s16le`. */
  readonly sampleRate?: number | undefined;
  readonly voices?: readonly string[] | undefined;
  readonly maxChars: number;
  readonly concurrency: number;
}

/** A model folder for sherpa-onnx. */
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
