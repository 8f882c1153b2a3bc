import type { TtsError } from '../kit/error.ts';
import { countOf } from '../kit/words.ts';
import type { Listener, RunEvent } from '../run/run.ts';
import type { Notices } from './notices.ts';
import { Shortfall } from './shortfall.ts';

/** Warns of sound that still does not seem to match its text after a second request. The output has it nevertheless. */
export class DoubtfulSound implements Listener {
  readonly #passages: Shortfall;

  constructor(notices: Pick<Notices, 'warn'>) {
    this.#passages = new Shortfall(notices);
  }

  /** @param where the row of a batch, instead of a line of its text */
  on(event: RunEvent, where?: string): void {
    if (event.type !== 'voice' || event.event.type !== 'cut' || event.event.how !== 'doubtful') return;
    const { line } = event.segment.place;
    const place = where ?? (line === undefined ? undefined : `line ${line}`);
    this.#passages.add(`${place === undefined ? '' : `${place}: `}${event.event.message}; listen to it`);
  }

  /** @returns the error (partial) if there was such sound */
  error(): TtsError | undefined {
    return this.#passages.error(
      (count) => `${countOf(count, 'passage')} may not have been spoken as written`,
      'listen to what the warnings name; delete its file and run the same command again; add --no-cache if it sounds the same',
    );
  }
}
