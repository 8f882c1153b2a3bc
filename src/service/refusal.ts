interface RefusalOptions {
  readonly field?: string | undefined;
  /** Seconds after which a further try makes sense. */
  readonly retryAfter?: number | undefined;
}

/** An answer other than audio: what the service says to a request that it cannot or will not fulfil. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** HTTP status: 400 to 599, or from 300 on where `--fault` asks for one. */
  readonly status: number;
  /** A word for programs, in snake_case. */
  readonly code: string;
  readonly field: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(status: number, code: string, message: string, { field, retryAfter }: RefusalOptions = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
    this.retryAfter = retryAfter;
  }
}
