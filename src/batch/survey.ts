import { statSync } from 'node:fs';
import { findBatchFiles, type ManifestEntry, type RowShape, readEntries } from './manifest.ts';
import { type BatchPlan, type BatchRow, caseFolded } from './plan.ts';
import { RecordFile } from './record-file.ts';
import type { RowFolder } from './row-folder.ts';
import { hashFile, type RowKey, type RowState } from './row-state.ts';

const STATES: readonly RowState[] = ['unchanged', 'missing', 'stale', 'damaged', 'empty'];
const NOT_MINE = STATES.length;
const NO_ENTRY = -1;

/** Holds the entries of all manifests and journals of a folder. */
export class KnownFiles implements Disposable {
  readonly entries = new RecordFile<ManifestEntry>(
    ({ file }) => `file ${caseFolded(file)}`,
    ({ file, key }) => `key ${key} ${caseFolded(file)}`,
    ({ file, sha256 }) => `sound ${sha256} ${caseFolded(file)}`,
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

  last(file: string): number {
    return this.entries.find(0, `file ${caseFolded(file)}`) ?? NO_ENTRY;
  }

  withKey(file: string, key: string): number {
    return this.entries.find(1, `key ${key} ${caseFolded(file)}`) ?? NO_ENTRY;
  }

  withSound(file: string, sha256: string): number {
    return this.entries.find(2, `sound ${sha256} ${caseFolded(file)}`) ?? NO_ENTRY;
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
  #differing: ReadonlySet<string> | undefined;

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
      const { file } = row;
      const { state, entry } = await stateOf(key, known, { file, path: folder.pathOf(file) }, signal);
      survey.#set(number, state, entry);
      if (isToDo(state)) survey.characters += key.characters;
      if (state === 'stale') survey.#compare(key.shape, known.at(entry)?.shape);
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

  /** What all stale files were made with otherwise. It is empty where there is an unchanged one. */
  get differing(): readonly string[] {
    return this.counts.unchanged > 0 ? [] : [...(this.#differing ?? [])];
  }

  entryOf(number: number): number {
    return this.#entries[number] ?? NO_ENTRY;
  }

  setMade(number: number, entry: number): void {
    this.#entries[number] = entry;
  }

  #set(number: number, state: RowState, entry: number): void {
    this.#states[number] = STATES.indexOf(state);
    this.#entries[number] = entry;
    this.counts[state] += 1;
  }

  #compare(shape: RowShape, made: RowShape | undefined): void {
    const names = made ? Object.keys({ ...shape, ...made }).filter((name) => shape[name] !== made[name]) : [];
    const before = this.#differing;
    this.#differing = new Set(before ? names.filter((name) => before.has(name)) : names);
  }
}

/**
 * Any line of the manifests may be that of the file: where shards meet, one of them may have brought an older file than another.
 */
async function stateOf(
  { key, isBlank }: RowKey,
  known: KnownFiles,
  { file, path }: { readonly file: string; readonly path: string },
  signal: AbortSignal,
): Promise<{ readonly state: RowState; readonly entry: number }> {
  if (isBlank) return { state: 'empty', entry: NO_ENTRY };
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return { state: 'missing', entry: NO_ENTRY };
  const expected = known.withKey(file, key);
  if (expected === NO_ENTRY) return { state: 'stale', entry: known.last(file) };
  const sha256 = await hashFile(path, signal);
  if (known.at(expected)?.sha256 === sha256) return { state: 'unchanged', entry: expected };
  const found = known.withSound(file, sha256);
  if (found === NO_ENTRY) return { state: 'damaged', entry: expected };
  return { state: known.at(found)?.key === key ? 'unchanged' : 'stale', entry: found };
}

function isToDo(state: RowState): boolean {
  return state !== 'unchanged' && state !== 'empty';
}
