import { ExitCode, TtsError } from '../kit/error.ts';
import { countOf } from '../kit/words.ts';
import type { FitPlan, Misfit } from '../run/fit.ts';
import type { Listener, RunEvent } from '../run/run.ts';
import { excerpt } from '../text/unicode.ts';
import type { Notices } from './notices.ts';

const MOST_LISTED = 20;

/** The cues of a film that are not heard at their times. */
export class Misfits implements Listener {
  readonly list: Misfit[] = [];
  readonly #notices: Pick<Notices, 'warn'>;
  readonly #most: number;

  constructor({ most }: FitPlan, notices: Pick<Notices, 'warn'>) {
    this.#most = most;
    this.#notices = notices;
  }

  on(event: RunEvent): void {
    if (event.type === 'misfit') this.add(event.misfit);
  }

  /** @param row the row of a batch that it belongs to */
  add(misfit: Misfit, row?: string): void {
    this.list.push(misfit);
    if (this.list.length > MOST_LISTED) return;
    this.#notices.warn(`${row === undefined ? '' : `${row}: `}${inWords(misfit)}`);
  }

  /** @returns the error (partial) of a film that does not fit */
  error(): TtsError | undefined {
    if (this.list.length === 0) return undefined;
    const missing = this.list.reduce((sum, each) => sum + each.missing, 0);
    const verb = this.list.length === 1 ? 'does' : 'do';
    return new TtsError(
      `${countOf(this.list.length, 'cue')} ${verb} not fit: ${missing.toFixed(2)} s are missing in all; nothing is cut`,
      {
        exitCode: ExitCode.partial,
        hint: `shorten these texts, or allow more than --fit ${this.#most}; tts --json lists all of them`,
      },
    );
  }
}

function inWords({ cue, line, text, late, missing }: Misfit): string {
  const where = line === undefined ? '' : ` of line ${line}`;
  const begins = late > 0 ? `begins ${late.toFixed(2)} s late` : '';
  const long = missing > 0 ? `is ${missing.toFixed(2)} s too long` : '';
  return `cue ${cue}${where}, "${excerpt(text)}", ${[begins, long].filter((each) => each !== '').join(' and ')}`;
}
