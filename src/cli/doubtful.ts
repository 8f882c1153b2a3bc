import { ExitCode, TtsError } from '../kit/error.ts';
import { countOf } from '../kit/words.ts';
import type { Listener, RunEvent } from '../run/run.ts';
import type { Notices } from './notices.ts';

const MOST_LISTED = 20;

/** Sound that does not seem to be that of its text, though the text was asked for again. It is in the file. */
export class DoubtfulSound implements Listener {
  readonly #notices: Pick<Notices, 'warn'>;
  #count = 0;

  constructor(notices: Pick<Notices, 'warn'>) {
    this.#notices = notices;
  }

  on(event: RunEvent): void {
    if (event.type !== 'voice' || event.event.type !== 'cut' || event.event.how !== 'doubtful') return;
    this.#count += 1;
    const { line } = event.segment.place;
    const place = line === undefined ? '' : `line ${line}: `;
    if (this.#count <= MOST_LISTED) this.#notices.warn(`${place}${event.event.message}; listen to it`);
  }

  /** @returns the error (partial) of a run with such sound */
  error(): TtsError | undefined {
    if (this.#count === 0) return undefined;
    return new TtsError(`${countOf(this.#count, 'passage')} may not have been spoken as written`, {
      exitCode: ExitCode.partial,
      hint: 'listen to what the warnings name; it is not kept in the cache, so that it can be asked for again',
    });
  }
}
