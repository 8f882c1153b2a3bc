import { ExitCode, TtsError } from '../error.ts';
import type { Sparing } from '../pipeline/look-ahead.ts';
import type { Segment } from '../text/segment.ts';
import type { Notices } from './notices.ts';

/** The speakers that a sample has to do without, since the service refuses them or fails for them. */
export class LeftOut implements Sparing {
  readonly #labelOf: (segment: Segment) => string;
  readonly #notices: Pick<Notices, 'warn'>;
  readonly #labels: string[] = [];
  /** Why the first of them is. */
  first: TtsError | undefined;

  constructor(labelOf: (segment: Segment) => string, notices: Pick<Notices, 'warn'>) {
    this.#labelOf = labelOf;
    this.#notices = notices;
  }

  get count(): number {
    return this.#labels.length;
  }

  /** Whatever else goes wrong, such as a key that is refused, would with the others too. */
  allows(error: unknown): error is TtsError {
    return error instanceof TtsError && error.exitCode === ExitCode.service;
  }

  spare(error: TtsError, segment: Segment): void {
    const label = this.#labelOf(segment);
    this.first ??= error;
    this.#labels.push(label);
    this.#notices.warn(`${label} is left out: ${error.message}`);
  }

  /** @param all how many there were to be */
  asError(all: number): TtsError {
    return new TtsError(`${this.count} of ${all} speakers could not be heard: ${this.#labels.join(', ')}`, {
      exitCode: ExitCode.partial,
      hint: `the sound holds all others; of ${this.#labels[0]} it was said: ${this.first?.message}`,
    });
  }
}
