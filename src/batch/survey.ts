import { findBatchFiles, type ManifestEntry, readEntries } from './manifest.ts';
import { type BatchPlan, type BatchRow, caseFolded } from './plan.ts';
import { RecordFile } from './record-file.ts';
import type { RowFolder } from './row-folder.ts';
import { type RowKey, type RowState, stateOf } from './row-state.ts';

const STATES: readonly RowState[] = ['unchanged', 'missing', 'stale', 'damaged', 'empty'];
const NOT_MINE = STATES.length;
const NO_ENTRY = -1;

/** Holds the entries of all manifests and journals of a folder. */
export class KnownFiles implements Disposable {
  readonly entries = new RecordFile<ManifestEntry>(
    ({ file }) => caseFolded(file),
    ({ file, key }) => withKey(file, key),
  );

  /** @throws TtsError (usage) for a manifest or journal that is a link or wrong */
  constructor(folder: string, uid?: number) {
    try {
      for (const name of findBatchFiles(folder).sources)
        for (const entry of readEntries(folder, name, uid)) this.entries.add(entry);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** @returns the entry with this key, or the last one */
  find(file: string, key: string): number {
    return this.entries.find(1, withKey(file, key)) ?? this.last(file);
  }

  last(file: string): number {
    return this.entries.find(0, caseFolded(file)) ?? NO_ENTRY;
  }

  at(number: number): ManifestEntry | undefined {
    return number === NO_ENTRY ? undefined : this.entries.at(number);
  }

  [Symbol.dispose](): void {
    this.entries[Symbol.dispose]();
  }
}

interface SurveyOptions {
  readonly folder: RowFolder;
  readonly texts: { keyOf(row: BatchRow, signal: AbortSignal): RowKey | Promise<RowKey> };
  readonly signal: AbortSignal;
}

/** It takes five bytes a row. */
export class Survey {
  readonly counts: Record<RowState, number> = { unchanged: 0, missing: 0, stale: 0, damaged: 0, empty: 0 };
  characters = 0;
  readonly #states: Uint8Array;
  readonly #entries: Int32Array;

  private constructor(rows: number) {
    this.#states = new Uint8Array(rows).fill(NOT_MINE);
    this.#entries = new Int32Array(rows).fill(NO_ENTRY);
  }

  /** @throws TtsError (usage) for a row file that is a link or lies behind one */
  static async take(
    plan: BatchPlan,
    known: KnownFiles,
    { folder, texts, signal }: SurveyOptions,
  ): Promise<Survey> {
    const survey = new Survey(plan.rows.count);
    for (const number of plan.mine()) {
      signal.throwIfAborted();
      const row = plan.rows.at(number);
      const key = await texts.keyOf(row, signal);
      const entry = known.find(row.file, key.key);
      const state = await stateOf(key, known.at(entry), folder.pathOf(row.file), signal);
      survey.#set(number, state, entry);
      if (isToDo(state)) survey.characters += key.characters;
    }
    return survey;
  }

  stateOf(number: number): RowState | undefined {
    return STATES[this.#states[number] ?? NOT_MINE];
  }

  *toDo(): Generator<number> {
    for (const [number, state] of this.#states.entries()) {
      const name = STATES[state];
      if (name && isToDo(name)) yield number;
    }
  }

  get toDoCount(): number {
    const { missing, stale, damaged } = this.counts;
    return missing + stale + damaged;
  }

  entryOf(number: number): number {
    return this.#entries[number] ?? NO_ENTRY;
  }

  setMade(number: number, entry: number): void {
    this.#entries[number] = entry;
  }

  #set(number: number, state: RowState, entry: number): void {
    this.#states[number] = STATES.indexOf(state);
    this.#entries[number] = state === 'empty' || state === 'missing' ? NO_ENTRY : entry;
    this.counts[state] += 1;
  }
}

function withKey(file: string, key: string): string {
  return `${key} ${caseFolded(file)}`;
}

function isToDo(state: RowState): boolean {
  return state !== 'unchanged' && state !== 'empty';
}
