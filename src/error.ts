/** The exit statuses a script can rely on; the table stands in the README. */
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
  /** Seconds that the service wants to be left alone. */
  readonly after?: number | undefined;
  /** The service has too much to do: fewer requests at once may help. */
  readonly busy?: boolean;
  /** The HTTP status that said so. */
  readonly status?: number;
}

export interface TtsErrorOptions {
  readonly exitCode: ExitCode;
  /** What the user can do about it: one sentence. Left out only where it was the user who ended the run. */
  readonly hint?: string | undefined;
  /** Lines below the message: one for each thing that is wrong, where these are several. */
  readonly details?: readonly string[] | undefined;
  readonly cause?: unknown;
  /** Set where the same thing tried again may succeed. */
  readonly retry?: Retry | undefined;
  /** The service has understood this very request and does not want it; it may well want another. */
  readonly isUnwanted?: boolean | undefined;
}

/** Everything that can go wrong for a reason outside this program. Whatever else is thrown is a defect. */
export class TtsError extends Error {
  override readonly name = 'TtsError';
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;
  readonly details: readonly string[] | undefined;
  readonly retry: TtsErrorOptions['retry'];
  readonly isUnwanted: boolean;

  /** @param message what happened, in one line without a full stop at its end */
  constructor(
    message: string,
    { exitCode, hint, details, cause, retry, isUnwanted = false }: TtsErrorOptions,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.exitCode = exitCode;
    this.hint = hint;
    this.details = details;
    this.retry = retry;
    this.isUnwanted = isUnwanted;
  }

  /** The same error in other words, for somebody who knows more of what it means. */
  inWords(message: string): TtsError {
    return new TtsError(message, { ...this, cause: this.cause ?? this });
  }
}

/**
 * What was said cannot be done: an option, a text, a value, a config file.
 * @param hint what to say instead
 */
export function usageError(message: string, hint: string, cause?: unknown): TtsError {
  return new TtsError(message, { exitCode: ExitCode.usage, hint, cause });
}
