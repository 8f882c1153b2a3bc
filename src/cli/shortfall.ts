import { ExitCode, TtsError } from '../kit/error.ts';
import type { Notices } from './notices.ts';

/** The most warnings; later items are only counted. */
const MOST_LISTED = 20;

/** Counts what a run failed to do, or may have, while it continued: warns of the first, and makes an error at the end. */
export class Shortfall {
  readonly #notices: Pick<Notices, 'warn'>;
  #count = 0;

  constructor(notices: Pick<Notices, 'warn'>) {
    this.#notices = notices;
  }

  add(text: string): void {
    this.#count += 1;
    if (this.#count <= MOST_LISTED) this.#notices.warn(text);
  }

  /** @returns the error (partial), if anything was added */
  error(message: (count: number) => string, hint: string): TtsError | undefined {
    if (this.#count === 0) return undefined;
    return new TtsError(message(this.#count), { exitCode: ExitCode.partial, hint });
  }
}
