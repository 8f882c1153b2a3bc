import { secondsOf } from '../../audio/pcm.ts';
import type { Cast } from '../../speech/cast/cast.ts';
import type { RunTotals } from '../../speech/totals.ts';
import type { Context } from '../context.ts';
import { isProgressWanted, type Notices } from '../terminal/notices.ts';
import type { ProgressState } from '../terminal/progress-line.ts';

/** A shorter run says nothing off a terminal. */
export const LONG_RUN_MS = 10_000;
const BETWEEN_NOTES_MS = 30_000;

interface NotesOptions {
  readonly notices: Notices;
  readonly totals: RunTotals;
  readonly total: (signal: AbortSignal) => Promise<ProgressState['total']>;
}

export class ProgressNotes implements Disposable {
  readonly #options: NotesOptions;
  readonly #over = new AbortController();
  #total: ProgressState['total'];
  #timer: NodeJS.Timeout;

  constructor(options: NotesOptions) {
    this.#options = options;
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
    const { notices, totals, total } = this.#options;
    const { signal } = this.#over;
    const { renderProgress } = await import('../terminal/progress-line.ts');
    const { segments, characters, format, bytes, elapsed } = totals;
    if (bytes > 0) this.#total ??= await total(signal);
    if (signal.aborted) return;
    const state: ProgressState = {
      waiting: bytes > 0 ? undefined : { reason: 'waiting for the first sound', secondsLeft: undefined },
      segments,
      characters,
      total: this.#total,
      audioSeconds: format ? secondsOf(format, bytes) : 0,
      seconds: elapsed / 1000,
    };
    notices.note(renderProgress(state, Number.POSITIVE_INFINITY));
  }
}

export function isOffTerminal({ host, notices }: Pick<Context, 'host' | 'notices'>): boolean {
  return !notices.quiet && !notices.verbose && !notices.json && !isProgressWanted(host, notices);
}

/** A name that no line begins with is likely to be mistyped. */
export function warnOfAbsent(cast: Cast | undefined, notices: Notices): void {
  for (const name of cast?.absent ?? []) notices.warn(`--voices: no line begins with "${name}: "`);
}
