/** The exit statuses, promised in the README. */
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
  /** Seconds that the service asked for. */
  readonly after?: number | undefined;
  /** True if fewer requests at once may help. */
  readonly busy?: boolean;
  readonly status?: number;
}

/** Where a text broke off. */
export interface Stop {
  /** Segments before it. */
  readonly done: number;
  readonly total?: number | undefined;
  /** Of the input, from 1. */
  readonly line?: number | undefined;
}

export interface TtsErrorOptions {
  readonly exitCode: ExitCode;
  /** Missing only if the user ended the run. */
  readonly hint?: string | undefined;
  readonly details?: readonly string[] | undefined;
  readonly cause?: unknown;
  /** Set if another try may succeed. */
  readonly retry?: Retry | undefined;
  /** The service refuses this request; it may accept others. */
  readonly isUnwanted?: boolean | undefined;
  readonly stop?: Stop | undefined;
}

/** Has a cause outside this program. Anything else that is thrown is a defect. */
export class TtsError extends Error {
  override readonly name = 'TtsError';
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;
  readonly details: readonly string[] | undefined;
  readonly retry: TtsErrorOptions['retry'];
  readonly isUnwanted: boolean;
  readonly stop: Stop | undefined;

  /** @param message in one line without a full stop */
  constructor(
    message: string,
    { exitCode, hint, details, cause, retry, isUnwanted = false, stop }: TtsErrorOptions,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.exitCode = exitCode;
    this.hint = hint;
    this.details = details;
    this.retry = retry;
    this.isUnwanted = isUnwanted;
    this.stop = stop;
  }

  inWords(message: string, options: Partial<TtsErrorOptions> = {}): TtsError {
    return new TtsError(message, { ...this, ...options, cause: this.cause ?? this });
  }
}

/** A wrong option, text, value or config file. */
export function usageError(message: string, hint: string, cause?: unknown): TtsError {
  return new TtsError(message, { exitCode: ExitCode.usage, hint, cause });
}
