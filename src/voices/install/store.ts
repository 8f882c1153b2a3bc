/** The data folder: installed voices, their shared files, and downloads that are not complete. */
import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { checksumOf } from '../../kit/checksum.ts';
import { codeOf, ExitCode, TtsError, usageError } from '../../kit/error.ts';
import { syncFolder } from '../../kit/file.ts';
import { freeBytes, makeFolder, namesIn, unwritable } from '../../kit/folders.ts';
import { isOwnFolder } from '../../kit/guard.ts';
import type { RunContext } from '../../kit/host.ts';
import { isDeadOrUnwritten, Lease } from '../../kit/lock.ts';
import {
  attempt,
  ELSEWHERE,
  type InstalledFile,
  installedVoices,
  MANIFEST,
  type Manifest,
  voicesFolder,
} from './manifest.ts';

/**
 * Makes the data folder, which only its owner may enter.
 * @throws TtsError (usage) for a folder of another user; (output) if it cannot be written
 */
export function openStore(data: string, uid: number | undefined): void {
  attempt(data, () => {
    makeFolder(data);
    for (const folder of [voicesFolder(data), partsFolder(data)]) makeFolder(folder);
  });
  for (const folder of [data, voicesFolder(data), partsFolder(data)])
    if (!isOwnFolder(folder, uid))
      throw usageError(
        `${folder} belongs to somebody else, or others may write to it`,
        `correct its owner and its mode (chmod 700), or ${ELSEWHERE}`,
      );
}

export function partsFolder(data: string): string {
  return join(data, '.parts');
}

/** Removes the folders that killed runs left, but not parts of files. Call this under the lock. */
export function removeStages(data: string): void {
  for (const name of readdirSync(partsFolder(data)))
    if (/^(stage|old|runtime)-/.test(name))
      rmSync(join(partsFolder(data), name), { recursive: true, force: true });
}

export function makeStage(data: string): string {
  return attempt(data, () => mkdtempSync(join(partsFolder(data), 'stage-')));
}

/** Links or copies a file into a folder. Its part is kept, so that a killed run costs no second download. */
export function place(from: string, to: string): void {
  attempt(to, () => {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    rmSync(to, { force: true });
    try {
      linkSync(from, to);
    } catch {
      copyFileSync(from, to, constants.COPYFILE_FICLONE);
    }
  });
}

/** Copies a file of somebody else, which must not be linked. */
export function copyInto(from: string, to: string): void {
  attempt(to, () => {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
  });
}

/** Replaces a shared file in one step. */
export function placeShared(from: string, to: string): void {
  attempt(to, () => {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    const draft = join(dirname(to), `.${basename(to)}.part`);
    place(from, draft);
    renameSync(draft, to);
  });
}

/**
 * Renames a complete stage to the folder of its voice, in one step. An older voice of this name is removed.
 * @param about the manifest, in which references of speakers are paths of files in the stage
 * @param known files of the stage whose checksums are known
 */
export async function publish(
  stage: string,
  about: Omit<Manifest, 'files'>,
  data: string,
  known: readonly InstalledFile[] = [],
): Promise<Manifest> {
  const files = await filesOf(stage, known);
  const speakers = about.speakers.map(({ reference, ...speaker }) =>
    reference === undefined ? speaker : { ...speaker, reference: relative(stage, reference) },
  );
  const manifest: Manifest = { ...about, speakers, files };
  const target = join(voicesFolder(data), manifest.name);
  attempt(target, () => {
    writeFileSync(join(stage, MANIFEST), `${JSON.stringify(manifest, undefined, 1)}\n`, { mode: 0o600 });
    for (const { name } of [{ name: MANIFEST }, ...manifest.files]) sync(join(stage, name));
    const old = join(partsFolder(data), `old-${basename(stage)}`);
    if (statSync(target, { throwIfNoEntry: false })) renameSync(target, old);
    renameSync(stage, target);
    rmSync(old, { recursive: true, force: true });
  });
  await syncFolder(voicesFolder(data)).catch((error: unknown) => {
    throw unwritable(target, error, ELSEWHERE);
  });
  return manifest;
}

function sync(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } catch {
    // Some file systems cannot sync.
  } finally {
    closeSync(fd);
  }
}

/** Lists all files of a folder with their checksums, and computes those that are not known. */
async function filesOf(folder: string, known: readonly InstalledFile[]): Promise<InstalledFile[]> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files: InstalledFile[] = [];
  for (const each of names) {
    const path = join(folder, each);
    const stats = statSync(path);
    if (!stats.isFile()) continue;
    const name = each.replaceAll('\\', '/');
    const file = known.find((other) => other.name === name);
    files.push(file ?? { name, size: stats.size, sha256: await checksumOf(path) });
  }
  return files;
}

/** @throws TtsError (output) if the disk has not enough room for the bytes */
export function assertRoom(data: string, bytes: number): void {
  const free = freeBytes(data);
  const needed = Math.ceil(bytes * 1.05);
  if (free === undefined || free >= needed) return;
  throw new TtsError(
    `there is not enough room in ${data}: ${inMegabytes(needed)} are needed, and ${inMegabytes(free)} are free`,
    {
      exitCode: ExitCode.output,
      hint: `free some space, or ${ELSEWHERE}`,
    },
  );
}

export function inMegabytes(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.max(1, Math.ceil(bytes / 1000))} kB`;
  return `${bytes < 10_000_000 ? (bytes / 1e6).toFixed(1) : Math.round(bytes / 1e6)} MB`;
}

/** Removes a voice in one step, and then all files that no other voice needs. */
export function removeVoice(data: string, name: string, uid: number | undefined): void {
  const aside = join(partsFolder(data), `old-${name}`);
  attempt(aside, () => {
    rmSync(aside, { recursive: true, force: true });
    renameSync(join(voicesFolder(data), name), aside);
    rmSync(aside, { recursive: true, force: true });
  });
  freeUnused(data, installedVoices(data, uid));
}

/** Removes espeak-ng data that no installed voice needs any more, and the runtime together with the last voice. */
function freeUnused(data: string, voices: readonly Manifest[]): void {
  const shared = join(data, 'espeak');
  for (const name of namesIn(shared)) {
    const folder = join(shared, name);
    const users = voices.flatMap(({ espeak }) => (espeak?.folder === `espeak/${name}` ? espeak : []));
    const needed = new Set(users.flatMap(({ files }) => files.map((file) => join(folder, file.name))));
    if (needed.size === 0) rmSync(folder, { recursive: true, force: true });
    else
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        if (entry.isFile() && !needed.has(path)) rmSync(path, { force: true });
      }
  }
  if (namesIn(shared).length === 0) rmSync(shared, { recursive: true, force: true });
  if (voices.length > 0) return;
  for (const name of ['runtime', '.parts']) rmSync(join(data, name), { recursive: true, force: true });
}

/** Returns the files of a voice that are not as they were installed, each with its fault. */
export async function wrongFiles(data: string, { name, files, espeak }: Manifest): Promise<string[]> {
  const folder = join(voicesFolder(data), name);
  const shared = espeak?.files.map((file) => ({ file, path: join(data, espeak.folder, file.name) })) ?? [];
  const own = files.map((file) => ({ file, path: join(folder, file.name) }));
  const wrong: string[] = [];
  for (const { file, path } of [...own, ...shared]) {
    const fault = await faultOf(file, path);
    if (fault !== undefined) wrong.push(`${file.name} ${fault}`);
  }
  return wrong;
}

async function faultOf({ size, sha256 }: InstalledFile, path: string): Promise<string | undefined> {
  try {
    if (statSync(path).size !== size) return `has ${statSync(path).size} bytes instead of ${size}`;
    return (await checksumOf(path)) === sha256 ? undefined : 'has a different checksum';
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'is missing' : `cannot be read (${codeOf(error)})`;
  }
}

/**
 * Runs the action while no other run changes the voices. A second run waits and says so.
 * @throws TtsError (output), and what the action throws
 */
export async function withVoicesLock<T>(
  data: string,
  { host, notices, signal }: RunContext,
  action: () => Promise<T>,
): Promise<T> {
  const path = join(data, '.lock');
  const onWait = () => notices.note(`another run is changing the voices in ${data}: waiting for it`);
  const rules = { isOver: isDeadOrUnwritten, signal, onWait };
  using _lease = (
    await Lease.wait(path, host, rules).catch((error) => {
      signal.throwIfAborted();
      throw unwritable(path, error, ELSEWHERE);
    })
  ).beating();
  return await action();
}
