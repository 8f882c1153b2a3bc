import { join } from 'node:path';
import { ExitCode, TtsError } from '../kit/error.ts';
import type { Writer } from '../kit/file.ts';
import type { Misfit } from '../run/fit.ts';
import type { Mix } from '../run/mix.ts';
import { type DeliverOptions, deliver, type Listener } from '../run/run.ts';
import type { Encoding } from '../sound/encode/encoding.ts';
import { frameBytes } from '../sound/pcm.ts';
import type { Rest, Segment } from '../text/segment.ts';
import type { Journal, ManifestEntry } from './manifest.ts';
import type { BatchRow } from './plan.ts';
import { type FinishedFile, type RowFolder, rowFile } from './row-files.ts';
import type { RowKey } from './row-key.ts';

/** Bytes of sound that wait for the disk. */
const BUDGET_BYTES = 64 * 2 ** 20;

const WINDOW = 4;

export interface MakeOptions {
  readonly folder: RowFolder;
  readonly journal: Journal;
  readonly writer: Writer;
  encodingOf(file: string): Encoding;
  readonly rowsAtOnce: number;
  readonly mix: Mix;
  /** The key is that of the row when its text was read. */
  read(row: BatchRow, signal: AbortSignal): { segments: AsyncIterable<Segment | Rest>; key: () => RowKey };
  /** True if texts may name further voices. */
  readonly hasCast: boolean;
  readonly maxFailures: number;
  readonly listeners: readonly Listener[];
  onRow(row: BatchRow, outcome: RowOutcome): void;
  /** A cue of a row that does not fit its film. */
  onMisfit(row: BatchRow, misfit: Misfit): void;
}

export type RowOutcome =
  | { readonly state: 'made'; readonly entry: ManifestEntry }
  | { readonly state: 'failed'; readonly error: TtsError };

/** A service that sends no sound, refuses a text or is silent fails one row. */
const OF_THE_ROW: readonly number[] = [ExitCode.usage, ExitCode.service, ExitCode.timeout];

/** Rows that wait for the last round. Each keeps its error. */
const MOST_LATER = 10_000;

/** Makes the sound of rows, which share one client. */
export class RowMaker {
  readonly #options: MakeOptions;
  #failures = 0;
  /** How many rows were begun. */
  #begun = 0;
  #hasMade = false;
  /** Set by a lost connection, until a row is made. */
  #isLost = false;
  /** Rows whose failure may pass: they are made again when all others are done. */
  #later: { readonly row: BatchRow; readonly error: TtsError }[] = [];

  constructor(options: MakeOptions) {
    this.#options = options;
  }

  /**
   * Ends early if too many rows fail.
   * @throws TtsError of the whole run: key, quota, connection, output
   */
  async make(rows: Iterable<BatchRow>, signal: AbortSignal): Promise<void> {
    await this.#round(rows, false, signal);
    const later = this.#later;
    this.#later = [];
    const mayGoOn = this.#failures + later.length < this.#options.maxFailures;
    // Without a row that was made, nothing says that the failures have passed.
    if (this.#hasMade && mayGoOn) {
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
      for (let next = waiting.next(); !next.done && !until.aborted; next = waiting.next()) {
        try {
          await this.#makeOne(next.value, isLast, until);
        } catch (error) {
          if (until.aborted) return;
          fault = error;
        }
        if (fault || this.#failures + this.#later.length >= this.#options.maxFailures) over.abort();
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

  /** One lost connection may be that of one row. Two without a row between them are the end of the run. */
  #mayPass({ retry, exitCode }: TtsError): boolean {
    if (!retry || this.#later.length === MOST_LATER) return false;
    if (OF_THE_ROW.includes(exitCode)) return true;
    const isFirst = exitCode === ExitCode.connection && !this.#isLost;
    this.#isLost ||= isFirst;
    return isFirst;
  }

  #fail(row: BatchRow, error: TtsError): void {
    if (!OF_THE_ROW.includes(error.exitCode)) throw error;
    this.#failures += 1;
    this.#options.onRow(row, { state: 'failed', error });
  }

  async #speak(row: BatchRow, signal: AbortSignal): Promise<ManifestEntry> {
    const { folder, journal, writer, encodingOf, read, rowsAtOnce, mix, hasCast } = this.#options;
    const misfits: Listener = {
      on: (event) => {
        if (event.type === 'misfit') this.#options.onMisfit(row, event.misfit);
      },
    };
    const listeners = [...this.#options.listeners, misfits];
    // The segments of earlier rows go first, so that rows are complete in the order of the table.
    const order = this.#begun * STEP;
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
      listeners,
    });
  }
}

interface RowTarget extends Pick<MakeOptions, 'folder' | 'journal' | 'writer'> {
  readonly encoding: Encoding;
  /** It is called when the text was read. */
  keyOf(): RowKey;
}

/** @throws TtsError; then there is no file under this name that was not there before */
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

/** More segments than a row has. */
const STEP = 10_000_000;
