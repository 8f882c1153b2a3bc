import type { TtsError } from '../kit/error.ts';
import { countOf } from '../kit/words.ts';
import type { FitPlan, Misfit } from '../run/fit.ts';
import type { Listener, RunEvent } from '../run/run.ts';
import { excerpt } from '../text/unicode.ts';
import type { Notices } from './notices.ts';
import { Shortfall } from './shortfall.ts';

/** Collects the subtitle cues that are not heard at their times, and warns of them. */
export class Misfits implements Listener {
  readonly list: Misfit[] = [];
  readonly #cues: Shortfall;
  readonly #most: number;

  constructor({ most }: FitPlan, notices: Pick<Notices, 'warn'>) {
    this.#most = most;
    this.#cues = new Shortfall(notices);
  }

  /** @param where the row of a batch that the cue belongs to */
  on(event: RunEvent, where?: string): void {
    if (event.type !== 'misfit') return;
    const { misfit } = event;
    this.list.push(misfit);
    this.#cues.add(`${where === undefined ? '' : `${where}: `}${inWords(misfit)}`);
  }

  /** @returns the error (partial) if any cue does not fit */
  error(): TtsError | undefined {
    const missing = this.list.reduce((sum, each) => sum + each.missing, 0);
    return this.#cues.error(
      (count) =>
        `${countOf(count, 'cue')} ${count === 1 ? 'does' : 'do'} not fit: ${missing.toFixed(2)} s too long in total; nothing is cut`,
      `shorten these texts, or allow more than --fit ${this.#most}; tts --json lists all of them`,
    );
  }
}

function inWords({ cue, line, text, late, missing }: Misfit): string {
  const where = line === undefined ? '' : ` of line ${line}`;
  const begins = late > 0 ? `begins ${late.toFixed(2)} s late` : '';
  const long = missing > 0 ? `is ${missing.toFixed(2)} s too long` : '';
  return `cue ${cue}${where}, "${excerpt(text)}", ${[begins, long].filter((each) => each !== '').join(' and ')}`;
}
