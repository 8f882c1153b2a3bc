/** With OpenAI's `/audio/speech` below its URL. */
export interface ServerConfig {
  readonly kind: 'server';
  readonly name: string;
  /** It has no trailing slash and no password. */
  readonly url: URL;
  readonly model?: string | undefined;
  /** The header of this name, with a key or a password. */
  readonly authorization?: string | undefined;
  readonly format: 'wav' | 'pcm';
  readonly voices?: readonly string[] | undefined;
  /** Hz; an answer that is no WAV is read as bare samples. */
  readonly sampleRate?: number | undefined;
  readonly maxChars: number;
  readonly concurrency: number;
}

export interface ProgramConfig {
  readonly kind: 'program';
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly output: 'wav' | 's16le';
  /** Hz; needed for `s16le`. */
  readonly sampleRate?: number | undefined;
  readonly voices?: readonly string[] | undefined;
  readonly maxChars: number;
  readonly concurrency: number;
}

/** For sherpa-onnx. */
interface ModelConfig {
  readonly kind: 'model';
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
  readonly voices?: readonly string[] | undefined;
  readonly maxChars: number;
  readonly concurrency: number;
}

export type SourceConfig = ServerConfig | ProgramConfig | ModelConfig;
