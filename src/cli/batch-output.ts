import { join } from 'node:path';
import type { RowOutcome } from '../batch/make.ts';
import type { RowStates } from '../batch/manifest.ts';
import { type BatchPlan, type BatchRow, placeOf } from '../batch/plan.ts';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import { countOf, shellQuoted, withMore } from '../kit/words.ts';
import type { RunTotals } from '../run/totals.ts';
import type { Context } from './commands.ts';
import { readerReady } from './print.ts';

/** Failed rows that the closing error lists at most. */
const MOST_SHOWN = 20;

/** Rows printed before the output waits for the reader of stdout. */
const ROWS_BETWEEN_WAITS = 1000;

/** Failed rows whose messages are kept in memory for `--report`. */
const MOST_KEPT = 10_000;

const RESULTS = ['made', 'unchanged', 'failed', 'skipped'] as const;
export type RowResult = (typeof RESULTS)[number];

const EMPTY = usageError('the row has no text', '--allow-empty skips rows without one');

/** Names a row in a message. */
export function rowInWords(row: BatchRow): string {
  return `${placeOf(row)} (${row.id})`;
}

/** Prints the outcome of the rows: with `--json` one object each, otherwise those that need action. */
export class BatchOutput {
  readonly counts: Record<RowResult, number> = { made: 0, unchanged: 0, failed: 0, skipped: 0 };
  readonly #context: Context;
  readonly #plan: BatchPlan;
  readonly #folder: string;
  readonly #isJson: boolean;
  readonly #failures: string[] = [];
  readonly #messages = new Map<BatchRow, string>();
  /** Rows that the run did not reach. */
  #left = 0;
  readonly #results = new Map<BatchRow, RowResult>();

  constructor(plan: BatchPlan, folder: string, isJson: boolean, context: Context) {
    this.#plan = plan;
    this.#folder = folder;
    this.#isJson = isJson;
    this.#context = context;
  }

  /** @param allowEmpty skips rows without a text */
  async begin(states: RowStates, allowEmpty: boolean): Promise<void> {
    for (const [number, row] of this.#plan.mine.entries()) {
      if (number % ROWS_BETWEEN_WAITS === 0) await readerReady(this.#context.host.stdout);
      const state = states.stateOf(row);
      if (state === 'unchanged') this.#row(row, 'unchanged');
      if (state === 'empty' && allowEmpty) this.#row(row, 'skipped');
      else if (state === 'empty') this.finish(row, { state: 'failed', error: EMPTY });
    }
  }

  finish(row: BatchRow, outcome: RowOutcome): void {
    if (outcome.state === 'made') {
      this.#row(row, 'made');
      return;
    }
    const { id, table } = row;
    const { message, hint } = outcome.error;
    for (const name of [id, table]) this.#context.notices.spare(name);
    if (this.#failures.length < MOST_SHOWN)
      this.#failures.push(`${rowInWords(row)}: ${message}${hint ? `; ${hint}` : ''}`);
    if (this.#messages.size < MOST_KEPT) this.#messages.set(row, message);
    this.#row(row, 'failed', outcome.error);
  }

  async end(): Promise<void> {
    for (const [number, row] of this.#plan.mine.entries()) {
      if (number % ROWS_BETWEEN_WAITS === 0) await readerReady(this.#context.host.stdout);
      if (this.#results.has(row)) continue;
      this.#left += 1;
      this.#row(row, 'skipped');
    }
  }

  resultOf(row: BatchRow): RowResult | undefined {
    return this.#results.get(row);
  }

  messageOf(row: BatchRow): string | undefined {
    return this.#messages.get(row);
  }

  /** @param leftOver the number of files that `--prune` would look at */
  summarise({ characters, requests, retries, fromCache, elapsed }: RunTotals, leftOver: number): void {
    const { notices } = this.#context;
    const rows = this.#plan.mine.length;
    if (this.#isJson) {
      const seconds = Math.round(elapsed) / 1000;
      const summary = { rows, ...this.counts, characters, requests, retries, fromCache, seconds };
      notices.result(summary);
      return;
    }
    const counts = RESULTS.map((result) => `${this.counts[result]} ${result}`).join(', ');
    const rest =
      leftOver > 0 ? `, ${leftOver} left over: --prune deletes ${leftOver > 1 ? 'them' : 'it'}` : '';
    notices.note(`${countOf(rows, 'row')}: ${counts}${rest}`);
  }

  /** The error of a run in which rows failed. */
  partial(): TtsError {
    const { failed } = this.counts;
    const left = this.#left > 0 ? `, ${countOf(this.#left, 'was', 'were')} left` : '';
    return new TtsError(`${failed} of ${countOf(this.#plan.mine.length, 'row')} failed${left}`, {
      exitCode: ExitCode.partial,
      details: withMore(this.#failures, failed),
      hint: `the same command makes only what is missing: ${this.command}`,
    });
  }

  get command(): string {
    return ['tts', 'batch', ...this.#context.argv].map(shellQuoted).join(' ');
  }

  #row(row: BatchRow, state: RowResult, error?: TtsError): void {
    this.#results.set(row, state);
    this.counts[state] += 1;
    if (!this.#isJson) return;
    const { id, file } = row;
    const fault = error && {
      error: { message: error.message, hint: error.hint, exitCode: error.exitCode },
    };
    this.#context.notices.result({ id, state, out: join(this.#folder, file), ...fault });
  }
}
