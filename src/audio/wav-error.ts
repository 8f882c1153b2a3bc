/**
 * - `not-wav`: the first bytes are those of something else; {@link WavError.head} holds them
 * - `incomplete`: the body ended before the sound did, or without a sample; another try may help
 * - `unsupported`: a WAV, but of a kind that is not read here
 * - `format-changed`: a further WAV in the same body has another format than the first
 */
export type WavProblem = 'not-wav' | 'incomplete' | 'unsupported' | 'format-changed';

/** What is wrong with a body that should be a WAV. An error of the body itself is passed on as it is, never wrapped. */
export class WavError extends Error {
  override readonly name = 'WavError';
  readonly problem: WavProblem;
  /** With `not-wav`: the first bytes of the body, 1024 at most, to be quoted or recognised. Of length 0: an empty body. */
  readonly head: Uint8Array | undefined;

  /** @param message what is wrong, in one line without a full stop at its end */
  constructor(problem: WavProblem, message: string, head?: Uint8Array) {
    super(message);
    this.problem = problem;
    this.head = head;
  }
}
