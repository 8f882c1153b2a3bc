import { ExitCode, TtsError } from '../../error.ts';
import type { Sparing } from '../../pipeline/look-ahead.ts';
import type { Segment } from '../../text/segment.ts';

interface Absent {
  readonly label: string;
  readonly error: TtsError;
}

/** The speakers that a sample has to do without, since the service refuses them. */
export class LeftOut implements Sparing {
  readonly #labelOf: (segment: Segment) => string;
  readonly #absent: Absent[] = [];

  constructor(labelOf: (segment: Segment) => string) {
    this.#labelOf = labelOf;
  }

  get count(): number {
    return this.#absent.length;
  }

  /** Why the first of them was left out. */
  get first(): TtsError | undefined {
    return this.#absent[0]?.error;
  }

  /** Whatever else goes wrong, such as a key that is refused, would with the others too. */
  allows(error: unknown): error is TtsError {
    return error instanceof TtsError && error.isUnwanted;
  }

  spare(error: TtsError, segment: Segment): void {
    this.#absent.push({ label: this.#labelOf(segment), error });
  }

  /** Says of each why. */
  warn(say: (text: string) => void): void {
    for (const { label, error } of this.#absent) say(`${label} is left out: ${error.message}`);
  }

  /** @param all how many there were to be */
  asError(all: number): TtsError {
    const labels = this.#absent.map(({ label }) => label);
    return new TtsError(`${this.count} of ${all} speakers could not be heard: ${labels.join(', ')}`, {
      exitCode: ExitCode.partial,
      hint: `the audio has all the others; ${labels[0]} failed with: ${this.first?.message}`,
    });
  }
}
