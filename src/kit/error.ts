/** The exit statuses, which docs/exit-status.md promises. */
export const ExitCode = {
  ok: 0,
  defect: 1,
  usage: 2,
  key: 3,
  quota: 4,
  timeout: 5,
  connection: 6,
  service: 7,
  output: 8,
  partial: 9,
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

interface Retry {
  /** Seconds to wait, as the service asked. */
  readonly after?: number | undefined;
  /** True if fewer requests at once may help. */
  readonly busy?: boolean;
  readonly status?: number;
}

/** The place where a text broke off. */
export interface Stop {
  /** The number of segments before this place. */
  readonly done: number;
  readonly total?: number | undefined;
  /** The line of the input, counted from 1. */
  readonly line?: number | undefined;
}

export interface TtsErrorOptions {
  readonly exitCode: ExitCode;
  /** Missing if the user ended the run, or if the message already says what is expected. */
  readonly hint?: string | undefined;
  readonly details?: readonly string[] | undefined;
  readonly cause?: unknown;
  /** Set if a retry may succeed. */
  readonly retry?: Retry | undefined;
  /** True if the service refuses this text and may accept others. */
  readonly concernsThisTextOnly?: boolean | undefined;
  /** True if the other side is at fault and a retry does not help. */
  readonly isOutage?: boolean | undefined;
  readonly stop?: Stop | undefined;
}

/** An error with a cause outside this program. Anything else that is thrown is a defect. */
export class TtsError extends Error {
  override readonly name = 'TtsError';
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;
  readonly details: readonly string[] | undefined;
  readonly retry: TtsErrorOptions['retry'];
  readonly concernsThisTextOnly: boolean;
  readonly isOutage: boolean;
  readonly stop: Stop | undefined;

  /** @param message one line without a full stop */
  constructor(message: string, options: TtsErrorOptions) {
    const { exitCode, hint, details, cause, retry, stop } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.exitCode = exitCode;
    this.hint = hint;
    this.details = details;
    this.retry = retry;
    this.concernsThisTextOnly = options.concernsThisTextOnly ?? false;
    this.isOutage = options.isOutage ?? false;
    this.stop = stop;
  }

  reworded(message: string, options: Partial<TtsErrorOptions> = {}): TtsError {
    return new TtsError(message, { ...this, ...options, cause: this.cause ?? this });
  }
}

/** Another run, or `tts stop`, has ended this one. */
export class Silenced extends TtsError {
  constructor() {
    super('silenced by tts stop, or by the next run', { exitCode: ExitCode.terminated });
  }
}

/** Makes the error for a wrong option, text, value or config file. */
export function usageError(message: string, hint: string, cause?: unknown): TtsError {
  return new TtsError(message, { exitCode: ExitCode.usage, hint, cause });
}

/**
 * Reads the code without `instanceof`: an error of another `node:vm` context is no instance of this `Error`.
 * @returns the code of a system's error, such as `ENOENT`; empty without one
 */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
