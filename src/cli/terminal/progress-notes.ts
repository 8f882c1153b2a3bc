import { secondsOf } from '../../audio/pcm.ts';
import type { RunTotals } from '../../speech/totals.ts';
import { isProgressWanted, type Notices } from './notices.ts';
import type { LineOptions, Progress } from './progress.ts';
import type { ProgressState } from './progress-line.ts';

/** A shorter run says nothing off a terminal. */
export const LONG_RUN_MS = 10_000;
const BETWEEN_NOTES_MS = 30_000;

/** Says from time to time how far a long run is. */
export class ProgressNotes implements Disposable {
  readonly #notices: Pick<Notices, 'note'>;
  readonly #text: (signal: AbortSignal) => Promise<string>;
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout;

  constructor(notices: Pick<Notices, 'note'>, text: (signal: AbortSignal) => Promise<string>) {
    this.#notices = notices;
    this.#text = text;
    this.#timer = setTimeout(() => {
      this.#timer = setInterval(() => void this.#say(), BETWEEN_NOTES_MS).unref();
      void this.#say();
    }, LONG_RUN_MS).unref();
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    clearTimeout(this.#timer);
  }

  async #say(): Promise<void> {
    const { signal } = this.#over;
    const text = await this.#text(signal);
    if (!signal.aborted) this.#notices.note(text);
  }
}

interface Speaking {
  readonly totals: RunTotals;
  readonly total: (signal: AbortSignal) => Promise<ProgressState['total']>;
}

export function progressOf({ totals, total }: Speaking): (signal: AbortSignal) => Promise<string> {
  let all: ProgressState['total'];
  return async (signal) => {
    const { renderProgress } = await import('./progress-line.ts');
    const { segments, characters, format, bytes, elapsed } = totals;
    if (bytes > 0) all ??= await total(signal);
    const state: ProgressState = {
      waiting: bytes > 0 ? undefined : { reason: 'waiting for the first sound', secondsLeft: undefined },
      segments,
      characters,
      total: all,
      audioSeconds: format ? secondsOf(format, bytes) : 0,
      seconds: elapsed / 1000,
    };
    return renderProgress(state, Number.POSITIVE_INFINITY);
  };
}

/** @returns `undefined` where a progress line is drawn, and where notes are not wanted */
export function notesFor(
  { host, notices }: LineOptions,
  text: (signal: AbortSignal) => Promise<string>,
): ProgressNotes | undefined {
  const isSilent = notices.quiet || notices.verbose || notices.json || isProgressWanted(host, notices);
  return isSilent ? undefined : new ProgressNotes(notices, text);
}

/** @returns `undefined` without a terminal to draw it on, and where it is not wanted */
export async function showProgress(
  total: (signal: AbortSignal) => Promise<ProgressState['total']>,
  { host, notices }: LineOptions,
  isLive = false,
): Promise<Progress | undefined> {
  if (!isProgressWanted(host, notices)) return undefined;
  const { Progress } = await import('./progress.ts');
  return new Progress({ host, notices, total, isLive });
}
