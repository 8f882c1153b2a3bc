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
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ExitCode, TtsError, usageError } from '../error.ts';
import { syncFolder } from '../files/atomic-file.ts';
import { makeFolder } from '../files/folders.ts';
import { unwritable } from '../files/writable.ts';
import {
  ELSEWHERE,
  type InstalledFile,
  isOwnFolder,
  MANIFEST,
  type Manifest,
  voicesFolder,
} from '../installed/manifest.ts';
import { hashOf } from './fetch/part.ts';

/**
 * Makes the folder of all data, for its owner only.
 * @throws TtsError (usage) for a folder of somebody else, (output) where it cannot be written
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

/** Removes what killed runs left besides parts of files, under the lock. */
export function removeStages(data: string): void {
  for (const name of readdirSync(partsFolder(data)))
    if (/^(stage|old|runtime)-/.test(name))
      rmSync(join(partsFolder(data), name), { recursive: true, force: true });
}

/** Removes parts of files, with what the hub said of them. */
export function removeParts(paths: readonly string[]): void {
  for (const path of paths) for (const file of [path, `${path}.tag`]) rmSync(file, { force: true });
}

export function makeStage(data: string): string {
  return attempt(data, () => mkdtempSync(join(partsFolder(data), 'stage-')));
}

/** Puts a file into a folder without using up its part, so that a killed run costs no second download. */
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

/** Copies a file that belongs to somebody else. */
export function copyInto(from: string, to: string): void {
  attempt(to, () => {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
  });
}

/** Puts a file in the place of a shared one, in one step. */
export function placeShared(from: string, to: string): void {
  attempt(to, () => {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    const draft = join(dirname(to), `.${basename(to)}.part`);
    place(from, draft);
    renameSync(draft, to);
  });
}

/** Gives a whole folder its name, in one step. An older voice of this name goes. */
export async function publish(stage: string, manifest: Manifest, data: string): Promise<void> {
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
}

function sync(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } catch {
    // Some file systems cannot.
  } finally {
    closeSync(fd);
  }
}

/**
 * All files of a folder with their checksums.
 * @param known checksums that were taken while the files came
 */
export async function filesOf(
  folder: string,
  known: ReadonlyMap<string, Omit<InstalledFile, 'name' | 'size'>> = new Map(),
): Promise<InstalledFile[]> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files: InstalledFile[] = [];
  for (const each of names) {
    const path = join(folder, each);
    const stats = statSync(path);
    if (!stats.isFile()) continue;
    const name = each.replaceAll('\\', '/');
    const sums = known.get(name) ?? { sha256: (await hashOf(path)).digest('hex') };
    files.push({ name, size: stats.size, ...sums });
  }
  return files;
}

/** @throws TtsError (output) where there is not enough room for the bytes */
export function assertRoom(data: string, bytes: number): void {
  let free: number;
  try {
    const { bavail, bsize } = statfsSync(data);
    free = bavail * bsize;
  } catch {
    return;
  }
  const needed = Math.ceil(bytes * 1.05);
  if (free >= needed) return;
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

/** @throws TtsError (output) */
export function attempt<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw unwritable(path, error, ELSEWHERE);
  }
}
