import { join } from 'node:path';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import type { Writer } from '../kit/file.ts';
import { BUDGET_BYTES } from '../run/ahead.ts';
import type { Mix } from '../run/mix.ts';
import { type DeliverOptions, deliver, type Listener } from '../run/run.ts';
import type { Encoding } from '../sound/encode/encoding.ts';
import { frameBytes } from '../sound/pcm.ts';
import type { Segment, Silence } from '../text/segment.ts';
import type { Journal, ManifestEntry } from './manifest.ts';
import type { BatchRow } from './plan.ts';
import { type FinishedFile, type RowFolder, rowFile } from './row-files.ts';
import type { RowKey } from './row-key.ts';

/** Most segments of a row that are requested and not yet written. */
const WINDOW = 4;

export interface MakeOptions {
  readonly folder: RowFolder;
  readonly journal: Journal;
  readonly writer: Writer;
  encodingOf(file: string): Encoding;
  readonly rowsAtOnce: number;
  readonly mix: Mix;
  /** Reads the text of a row. `key` returns the row's key once its text was read to the end. */
  read(row: BatchRow, signal: AbortSignal): { segments: AsyncIterable<Segment | Silence>; key: () => RowKey };
  /** True if texts may name other voices. */
  readonly hasCast: boolean;
  readonly maxFailures: number;
  /** Several rows are made at once. */
  listenersOf(row: BatchRow): readonly Listener[];
  onRow(row: BatchRow, outcome: RowOutcome): void;
}

export type RowOutcome =
  | { readonly state: 'made'; readonly entry: ManifestEntry }
  | { readonly state: 'failed'; readonly error: TtsError };

/** Errors that fail one row and not the run: the service sends no sound, refuses the text or times out. */
const ROW_FAILURES: readonly number[] = [ExitCode.usage, ExitCode.service, ExitCode.timeout];

/** Errors that end the run, but not the rows that are being made: the service may have charged for them. */
const AFTER_OTHERS: readonly number[] = [ExitCode.key, ExitCode.quota];

/** Most rows that wait for the last round, as each keeps its error in memory. */
const MOST_LATER = 10_000;

/** Makes the sound of rows, several at once. */
export class RowMaker {
  readonly #options: MakeOptions;
  #failures = 0;
  /** Number of rows that were begun. */
  #begun = 0;
  #hasMade = false;
  /** True after a lost connection, until a row is made. */
  #isLost = false;
  /** Rows with a failure that may be temporary: they are retried after all others. */
  #later: { readonly row: BatchRow; readonly error: TtsError }[] = [];

  constructor(options: MakeOptions) {
    this.#options = options;
  }

  /**
   * Makes the rows, and stops early if too many fail.
   * @throws TtsError that concerns the whole run: key, quota, connection, output
   */
  async make(rows: Iterable<BatchRow>, signal: AbortSignal): Promise<void> {
    await this.#round(rows, false, signal);
    const later = this.#later;
    this.#later = [];
    const mayContinue = this.#failures + later.length < this.#options.maxFailures;
    // Retry only if some row was made: otherwise, nothing suggests that the failures were temporary.
    if (this.#hasMade && mayContinue) {
      const again = later.map(({ row }) => row);
      await this.#round(again, true, signal);
    } else for (const { row, error } of later) this.#fail(row, error);
  }

  async #round(rows: Iterable<BatchRow>, isLast: boolean, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    const waiting = rows[Symbol.iterator]();
    let fault: unknown;
    const work = async () => {
      for (let next = waiting.next(); !next.done && !until.aborted && !fault; next = waiting.next()) {
        try {
          await this.#makeOne(next.value, isLast, until);
        } catch (error) {
          if (until.aborted) return;
          fault ??= error;
        }
        if (endsOthers(fault) || this.#failures + this.#later.length >= this.#options.maxFailures)
          over.abort();
      }
    };
    await Promise.all(Array.from({ length: this.#options.rowsAtOnce }, work));
    signal.throwIfAborted();
    if (fault) throw fault;
  }

  async #makeOne(row: BatchRow, isLast: boolean, signal: AbortSignal): Promise<void> {
    try {
      const entry = await this.#speak(row, signal);
      this.#hasMade = true;
      this.#isLost = false;
      this.#options.onRow(row, { state: 'made', entry });
    } catch (error) {
      if (signal.aborted || !(error instanceof TtsError)) throw error;
      if (isLast || !this.#mayPass(error)) this.#fail(row, error);
      else this.#later.push({ row, error });
    }
  }

  /** True if a retry may help. A second lost connection without a finished row in between ends the run. */
  #mayPass({ retry, exitCode }: TtsError): boolean {
    if (!retry || this.#later.length === MOST_LATER) return false;
    if (ROW_FAILURES.includes(exitCode)) return true;
    const isFirst = exitCode === ExitCode.connection && !this.#isLost;
    this.#isLost ||= isFirst;
    return isFirst;
  }

  #fail(row: BatchRow, error: TtsError): void {
    if (!ROW_FAILURES.includes(error.exitCode)) throw error;
    this.#failures += 1;
    this.#options.onRow(row, { state: 'failed', error });
  }

  async #speak(row: BatchRow, signal: AbortSignal): Promise<ManifestEntry> {
    const { folder, journal, writer, encodingOf, read, rowsAtOnce, mix, hasCast } = this.#options;
    // Segments of earlier rows take precedence, so that rows are completed in table order.
    const order = this.#begun * ORDER_STEP;
    this.#begun += 1;
    const text = read(row, signal);
    const target = { folder, journal, writer, encoding: encodingOf(row.file), keyOf: text.key };
    return makeRow(row, target, {
      segments: () => text.segments,
      speakerOf: (segment) => segment.role.speaker,
      order,
      window: WINDOW,
      lead: hasCast ? row.speaker : undefined,
      budgetBytes: BUDGET_BYTES / rowsAtOnce,
      mix,
      signal,
      listeners: this.#options.listenersOf(row),
      blank: () => usageError('the text of the row has no words', 'write some, or take the row out'),
    });
  }
}

function endsOthers(fault: unknown): boolean {
  return fault !== undefined && !(fault instanceof TtsError && AFTER_OTHERS.includes(fault.exitCode));
}

interface RowTarget extends Pick<MakeOptions, 'folder' | 'journal' | 'writer'> {
  readonly encoding: Encoding;
  /** Called once the text was read to its end. */
  keyOf(): RowKey;
}

/** Makes the file of one row. @throws TtsError; then no new file exists under its name */
export async function makeRow(
  { id, file }: BatchRow,
  { folder, journal, writer, encoding, keyOf }: RowTarget,
  sound: Omit<DeliverOptions, 'sink'>,
): Promise<ManifestEntry> {
  let entry: ManifestEntry | undefined;
  const onFinished = ({ format, bytes, sha256 }: FinishedFile) => {
    const { key, characters, shape } = keyOf();
    const frames = bytes / frameBytes(format);
    entry = { id, file, key, sha256, frames, sampleRate: format.sampleRate, characters, shape };
    journal.add(entry);
  };
  const name = join(folder.name, file);
  const sink = rowFile({ path: folder.pathOf(file), name, writer, encoding, onFinished });
  try {
    await deliver({ ...sound, sink });
  } finally {
    await sink.discard();
  }
  if (!entry) throw new Error('the sound of a row went elsewhere');
  return entry;
}

/** Distance between the order numbers of two rows: more than the segments of a row. */
const ORDER_STEP = 10_000_000;
