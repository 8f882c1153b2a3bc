import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { checksumOf } from '../kit/checksum.ts';
import { codeOf, ExitCode, TtsError } from '../kit/error.ts';
import { removeLeftoversIn, shortened, type Writer } from '../kit/file.ts';
import { reading, systemError, writing } from '../kit/folders.ts';
import { assertNoHardLink, openOwn } from '../kit/guard.ts';
import type { Host } from '../kit/host.ts';
import { DEAD_MS, type Holder, holderOf, isDead, Lease, type LeaseHost } from '../kit/lock.ts';
import { outputStats } from '../out/open.ts';
import { hasKnownEnding, hasRawEnding } from '../sound/encode/encodings.ts';
import { type BatchPlan, type BatchRow, caseFolded, type Shard } from './plan.ts';
import { type RowFolder, writeText } from './row-files.ts';
import type { RowKey, RowShape } from './row-key.ts';

/** A line of a manifest or journal: a file that was made. */
export interface ManifestEntry {
  readonly id: string;
  /** Relative to the manifest, with "/". */
  readonly file: string;
  /** Hash of everything that affects the sound, in hex ({@link RowKey}). */
  readonly key: string;
  readonly sha256: string;
  readonly frames: number;
  /** Hz. */
  readonly sampleRate: number;
  /** Code points of the text. */
  readonly characters: number;
  /** The options it was made with, to name the one that makes a file stale. */
  readonly shape?: RowShape | undefined;
}

/** @param shard `undefined` for a run that makes the whole table */
export function batchFile(kind: 'jsonl' | 'journal' | 'lock', shard?: Shard): string {
  return `tts-batch${shard ? `.${shard.index}-of-${shard.count}` : ''}.${kind}`;
}

const PART = /^tts-batch\.\d+-of-\d+\.(?:jsonl|journal)$/;
const LOCK = /^tts-batch(?:\.\d+-of-\d+)?\.lock$/;

/** Finds the manifests, journals and locks of all shards. */
export function findBatchFiles(folder: string) {
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  const shards = names.filter((name) => PART.test(name));
  const main = names.filter((name) => name === batchFile('jsonl'));
  const journal = names.filter((name) => name === batchFile('journal'));
  const byAge = [...shards.filter(isManifest), ...shards.filter((name) => !isManifest(name))];
  return {
    parts: [...shards, ...journal],
    locks: names.filter((name) => LOCK.test(name)),
    /** Files with entries, the newest entries last. */
    sources: [...main, ...byAge, ...journal],
  };
}

/** True for the name of a manifest, journal or lock, in any case, as some file systems ignore it. */
export function isBatchFile(name: string): boolean {
  return /^tts-batch(?:\.\d+-of-\d+)?\.(?:jsonl|journal|lock)$/i.test(name);
}

const isManifest = (name: string) => name.endsWith('.jsonl');

/**
 * Reads the entries of a manifest or journal. In a journal, a torn line is skipped.
 * @throws TtsError (usage) for a link, and with the line of a manifest that is not an entry, such as a merge conflict
 */
export function* readEntries(folder: string, name: string, uid?: number): Generator<ManifestEntry> {
  let number = 0;
  for (const line of linesOf(join(folder, name), uid)) {
    number += 1;
    const entry = entryOf(line);
    if (entry) yield entry;
    else if (isManifest(name))
      throw new TtsError(`${join(folder, name)}, line ${number}: this is not an entry of a manifest`, {
        exitCode: ExitCode.usage,
        hint: CONFLICT.test(line) ? OF_CONFLICT : 'delete the line: the file that it stood for is made again',
      });
  }
}

const CONFLICT = /^(?:<{7}|={7}|>{7})(?: |\r?$)/;
const OF_CONFLICT = 'this is a conflict of git: delete the lines <<<<<<<, ======= and >>>>>>>, and run again';

function entryOf(line: string): ManifestEntry | undefined {
  try {
    const entry = inOrder(JSON.parse(line));
    const texts = [entry.id, entry.file, entry.key, entry.sha256];
    const numbers = [entry.frames, entry.sampleRate, entry.characters];
    const isWhole = texts.every((text) => typeof text === 'string') && numbers.every(Number.isSafeInteger);
    if (!isWhole || !isInside(entry.file)) return undefined;
    return isShape(entry.shape) ? entry : { ...entry, shape: undefined };
  } catch {
    return undefined;
  }
}

/** Returns the fields in a fixed order, so that equal runs write equal bytes. */
function inOrder(entry: ManifestEntry): ManifestEntry {
  const { id, file, key, sha256, frames, sampleRate, characters, shape } = entry;
  return { id, file, key, sha256, frames, sampleRate, characters, shape };
}

/** Most fields of a shape, as the manifest may come from someone else. */
const MOST_FIELDS = 20;

function isShape(shape: unknown): shape is RowShape {
  if (typeof shape !== 'object' || shape === null || Array.isArray(shape)) return false;
  const values = Object.values(shape);
  return values.length <= MOST_FIELDS && values.every((each) => /^(?:string|number)$/.test(typeof each));
}

/** True if a name stays inside the folder: `--prune` deletes files that a manifest names. */
function isInside(file: string): boolean {
  const isAbsolute = /^(?:[/\\]|[a-z]:)/i.test(file);
  return !isAbsolute && !file.includes('\0') && !file.split(/[/\\]/).some((part) => NO_NAMES.has(part));
}

const NO_NAMES = new Set(['', '.', '..']);

export function lineOf(entry: ManifestEntry): string {
  return `${JSON.stringify(inOrder(entry))}\n`;
}

const CHUNK_BYTES = 1024 * 1024;

/** Bytes. A longer line is truncated, so that it is not an entry. */
const LONGEST_LINE = 128 * 1024 * 1024;

function* linesOf(path: string, uid: number | undefined): Generator<string> {
  const fd = openOwn(path, 'O_RDONLY', uid);
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let pieces: Buffer[] = [];
    let length = 0;
    for (let size = readSync(fd, chunk); size > 0; size = readSync(fd, chunk)) {
      let start = 0;
      for (let end = chunk.indexOf(10); end >= 0 && end < size; end = chunk.indexOf(10, start)) {
        yield Buffer.concat([...pieces, chunk.subarray(start, end)]).toString();
        pieces = [];
        length = 0;
        start = end + 1;
      }
      if (length < LONGEST_LINE) pieces.push(Buffer.from(chunk.subarray(start, size)));
      length += size - start;
    }
    if (length > 0) yield Buffer.concat(pieces).toString();
  } finally {
    closeSync(fd);
  }
}

/** Appends each file that was made, so that a killed run can resume. */
export class Journal implements Disposable {
  readonly #path: string;
  readonly #fd: number;

  /** @throws TtsError (usage) for a link, (output), as `add` does */
  constructor(path: string, uid?: number) {
    this.#path = path;
    this.#fd = writing(path, () => openOwn(path, 'O_APPEND', uid));
    assertNoHardLink(this.#fd, path);
    // Ends a torn line of a killed run.
    this.#write('\n');
  }

  add(entry: ManifestEntry): void {
    this.#write(lineOf(entry));
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  #write(text: string): void {
    writing(this.#path, () => writeFileSync(this.#fd, Buffer.from(text)));
  }
}

/**
 * `stale`: the file has another text or voice, or no manifest names it. `damaged`: its bytes are not those that were
 * written. `empty`: the row has no text.
 */
export type RowState = 'unchanged' | 'missing' | 'stale' | 'damaged' | 'empty';

interface RowCheck {
  readonly state: RowState;
  entry: ManifestEntry | undefined;
}

/** Entries of all manifests and journals of a folder by case-folded file name, for each file the oldest first. */
type KnownFiles = ReadonlyMap<string, readonly ManifestEntry[]>;

/** @returns a string that changes whenever a manifest or journal of the folder does */
function versionOf(folder: string): string {
  const versions = findBatchFiles(folder).sources.map((name) => {
    const { size, mtimeMs } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {};
    return [name, size, mtimeMs];
  });
  return JSON.stringify(versions);
}

/** Most attempts to read a folder whose files other shards replace. */
const MOST_READINGS = 100;

/** Reads all entries, again from the start if a finishing shard replaces its journal by a manifest meanwhile. */
function readKnownFiles(folder: string, uid: number | undefined): KnownFiles {
  for (let left = MOST_READINGS; ; left -= 1) {
    try {
      return readOnce(folder, uid);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || left === 0) throw error;
    }
  }
}

function readOnce(folder: string, uid: number | undefined): KnownFiles {
  const known = new Map<string, ManifestEntry[]>();
  // Most rows have the same settings: they share one object.
  const shapes = new Map<string, RowShape>();
  for (const name of findBatchFiles(folder).sources)
    for (const read of readEntries(folder, name, uid)) {
      const entry = { ...read, shape: read.shape && sharedShape(read.shape, shapes) };
      const file = caseFolded(entry.file);
      const others = known.get(file);
      if (others) others.push(entry);
      else known.set(file, [entry]);
    }
  return known;
}

function sharedShape(shape: RowShape, shapes: Map<string, RowShape>): RowShape {
  const text = JSON.stringify(shape);
  const shared = shapes.get(text);
  if (shared) return shared;
  shapes.set(text, shape);
  return shape;
}

/** The files that a batch wants in a folder. */
export interface FolderPlan {
  readonly folder: RowFolder;
  readonly shard: Shard | undefined;
  readonly plan: BatchPlan;
  readonly texts: { keyOf(row: BatchRow, signal: AbortSignal): RowKey | Promise<RowKey> };
}

/** The state of each row of a shard in a folder, and the entry of its file. */
export class RowStates {
  readonly folder: RowFolder;
  readonly shard: Shard | undefined;
  readonly plan: BatchPlan;
  readonly known: KnownFiles;
  readonly counts: Record<RowState, number> = { unchanged: 0, missing: 0, stale: 0, damaged: 0, empty: 0 };
  characters = 0;
  readonly #version: string;
  readonly #rows = new Map<BatchRow, RowCheck>();
  #differing: ReadonlySet<string> | undefined;

  private constructor({ folder, shard, plan }: FolderPlan, uid: number | undefined) {
    this.folder = folder;
    this.shard = shard;
    this.plan = plan;
    this.#version = versionOf(folder.path);
    this.known = readKnownFiles(folder.path, uid);
  }

  /** True until another run changes the manifests and journals that were read. */
  get isCurrent(): boolean {
    return versionOf(this.folder.path) === this.#version;
  }

  /**
   * @throws TtsError (usage) if a manifest, journal or row file is a link, or a manifest is malformed; (output) if one of them
   * cannot be read
   */
  static async take(
    planned: FolderPlan,
    { host, signal }: { readonly host: Pick<Host, 'uid'>; readonly signal: AbortSignal },
  ): Promise<RowStates> {
    const { folder, plan } = planned;
    const states = await reading(folder.path, () => new RowStates(planned, host.uid));
    const { known } = states;
    for (const row of plan.mine) {
      signal.throwIfAborted();
      const key = await planned.texts.keyOf(row, signal);
      const found = await stateOf(key, entriesOf(row.file, known), folder.pathOf(row.file), signal);
      const { state, entry } = found;
      states.#rows.set(row, found);
      states.counts[state] += 1;
      if (isToDo(state)) states.characters += key.characters;
      if (state === 'stale') states.#compare(key.shape, entry?.shape);
    }
    return states;
  }

  stateOf(row: BatchRow): RowState | undefined {
    return this.#rows.get(row)?.state;
  }

  /** Yields the rows to make, in the order of the tables. */
  *toDo(): Generator<BatchRow> {
    for (const [row, { state }] of this.#rows) if (isToDo(state)) yield row;
  }

  get toDoCount(): number {
    const { missing, stale, damaged } = this.counts;
    return missing + stale + damaged;
  }

  /** The options in which every stale file differs; none if any file is unchanged. */
  get differing(): readonly string[] {
    return this.counts.unchanged > 0 ? [] : [...(this.#differing ?? [])];
  }

  entryOf(row: BatchRow): ManifestEntry | undefined {
    return this.#rows.get(row)?.entry;
  }

  setMade(row: BatchRow, entry: ManifestEntry): void {
    const found = this.#rows.get(row);
    if (found) found.entry = entry;
  }

  #compare(shape: RowShape, made: RowShape | undefined): void {
    const names = made ? Object.keys({ ...shape, ...made }).filter((name) => shape[name] !== made[name]) : [];
    const before = this.#differing;
    this.#differing = new Set(before ? names.filter((name) => before.has(name)) : names);
  }
}

/**
 * Compares a file with all its entries, not only the newest: a copy from another machine may be older than the newest entry.
 */
async function stateOf(
  { key, isBlank }: RowKey,
  entries: readonly ManifestEntry[],
  path: string,
  signal: AbortSignal,
): Promise<RowCheck> {
  if (isBlank) return { state: 'empty', entry: undefined };
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return { state: 'missing', entry: undefined };
  const expected = entries.findLast((entry) => entry.key === key);
  if (!expected) return { state: 'stale', entry: entries.at(-1) };
  const sha256 = await reading(path, () => checksumOf(path, { signal }));
  if (expected.sha256 === sha256) return { state: 'unchanged', entry: expected };
  const found = entries.findLast((entry) => entry.sha256 === sha256);
  if (!found) return { state: 'damaged', entry: expected };
  return { state: found.key === key ? 'unchanged' : 'stale', entry: found };
}

function entriesOf(file: string, known: KnownFiles): readonly ManifestEntry[] {
  return known.get(caseFolded(file)) ?? [];
}

function isToDo(state: RowState): boolean {
  return state !== 'unchanged' && state !== 'empty';
}

/**
 * Rewrites the manifest, and removes the journals and shard manifests that are merged into it.
 * @throws TtsError (output), (usage) for a link
 */
export async function writeManifest(states: RowStates, writer: Writer, signal: AbortSignal): Promise<void> {
  const { folder, shard } = states;
  const path = join(folder.path, batchFile('jsonl', shard));
  await writeText({ path, name: path, writer }, entryLinesOf(states), signal);
  const merged = shard ? [batchFile('journal', shard)] : findBatchFiles(folder.path).parts;
  for (const name of merged) rmSync(join(folder.path, name), { force: true });
}

function* entryLinesOf(states: RowStates): Generator<string> {
  for (const row of states.plan.mine) {
    const entry = states.entryOf(row);
    if (entry) yield lineOf(entry);
  }
  if (!states.shard) for (const entry of leftOver(states)) yield lineOf(entry);
}

/** Yields the newest entry of each existing file that no row of the batch makes. */
export function* leftOver({ folder, plan, known }: RowStates): Generator<ManifestEntry> {
  for (const entries of known.values()) {
    const entry = entries.at(-1);
    if (entry && !plan.hasFile(entry.file) && folder.find(entry.file)) yield entry;
  }
}

export function countLeftOver(states: RowStates): number {
  return states.shard ? 0 : [...leftOver(states)].length;
}

/** Yields each left-over file, with a reason if `--prune` must not delete it. */
export async function* prunable(
  states: RowStates,
  signal: AbortSignal,
): AsyncGenerator<{ readonly file: string; readonly reasonToKeep: string | undefined }> {
  for (const { file } of leftOver(states))
    yield { file, reasonToKeep: await reasonToKeep(file, states, signal) };
}

/** Allows deleting only unchanged sound files, as a manifest may come from someone else. */
async function reasonToKeep(
  file: string,
  states: RowStates,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!isSound(file, states)) return 'its name is not that of a sound of this batch';
  const path = states.folder.pathOf(file);
  const sha256 = await reading(path, () => checksumOf(path, { signal }));
  const isUnchanged = entriesOf(file, states.known).some((entry) => entry.sha256 === sha256);
  return isUnchanged ? undefined : 'it was changed since it was made';
}

/** True if the extension is that of sound, or one that this batch writes: `--encode` allows any. */
function isSound(file: string, { plan }: RowStates): boolean {
  return hasKnownEnding(file) || hasRawEnding(file) || plan.couldHave(file);
}

/**
 * Checks that all folders can be written, and removes temporary files of killed runs.
 * @returns the folders, for a sync at the end
 * @throws TtsError (output)
 */
export function prepareRowFiles(states: RowStates, writer: Writer): ReadonlySet<string> {
  const { folder, plan } = states;
  const folders = new Set<string>();
  const fileOf = (path: string) => relative(folder.path, path).split(sep).join('/');
  const longNamed = plan.rows.filter(({ file }) => shortened(file) !== file);
  const shortenedFiles = new Set(longNamed.map(({ file }) => fileOf(join(folder.path, shortened(file)))));
  const isTarget = (file: string) => plan.hasFile(file) || shortenedFiles.has(file);
  for (const { file } of states.toDo()) {
    const path = folder.pathOf(file);
    const parent = dirname(path);
    writing(path, () => outputStats(path, path));
    if (folders.has(parent)) continue;
    writing(path, () => assertFolderWritable(parent));
    folders.add(parent);
    removeLeftoversIn(parent, (name) => isTarget(fileOf(join(parent, name))), writer);
  }
  return folders;
}

function assertFolderWritable(folder: string): void {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (!stats && dirname(folder) !== folder) {
    assertFolderWritable(dirname(folder));
    return;
  }
  if (!stats?.isDirectory()) throw systemError('ENOTDIR');
  accessSync(folder, constants.W_OK | constants.X_OK);
}

/**
 * Locks a folder against other runs. Shards of the same count may share it.
 * @throws TtsError (output) that names the other run, (usage) for a lock that is a link or not a file
 */
export function lockFolder(folder: string, shard: Shard | undefined, host: LeaseHost): Disposable {
  const path = join(folder, batchFile('lock', shard));
  const lease = writing(path, () => Lease.take(path, host, { machine: hostname() }));
  if (!(lease instanceof Lease)) throw lockedBy(path, lease);
  try {
    for (const other of findBatchFiles(folder).locks)
      if (excludes(other, shard)) assertDead(join(folder, other), host);
  } catch (error) {
    lease[Symbol.dispose]();
    throw error;
  }
  return lease.beating();
}

function excludes(name: string, shard: Shard | undefined): boolean {
  if (name === batchFile('lock', shard)) return false;
  return !(shard && name.endsWith(`-of-${shard.count}.lock`));
}

function assertDead(path: string, host: LeaseHost): void {
  const holder = writing(path, () => holderOf(path, host));
  if (holder && !isDead(holder, host)) throw lockedBy(path, holder);
}

function lockedBy(path: string, { owner }: Holder): TtsError {
  const who = owner ? `process ${owner.pid} on ${owner.machine}` : 'another run';
  return new TtsError(`${who} is at work in this folder (${path})`, {
    exitCode: ExitCode.output,
    hint: `wait for it, or end it; a machine that is gone is forgotten after ${DEAD_MS / 1000} s`,
  });
}
