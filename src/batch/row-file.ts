import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { PcmFormat, Track } from '../audio/pcm.ts';
import { AtomicFile, syncFolder } from '../files/atomic-file.ts';
import { makeOutputFolder } from '../files/folders.ts';
import { removeLeftoversIn, type Writer } from '../files/part-name.ts';
import { unwritable } from '../files/writable.ts';
import type { Encoding } from '../sink/encoding/encoding.ts';
import { lookAt } from '../sink/open.ts';
import type { Delivery, Sink } from '../sink/sink.ts';
import type { Outcome } from './closing.ts';
import { hashFile } from './row-state.ts';

export interface FinishedFile {
  readonly format: PcmFormat;
  /** Bytes of the sound alone. */
  readonly bytes: number;
  readonly sha256: string;
}

export interface RowFileOptions {
  /** It is absolute. */
  readonly path: string;
  /** Messages name the file by it. */
  readonly name: string;
  readonly writer: Writer;
  readonly encoding: Encoding;
  /** It is called before the file gets its name: a run that is killed in between makes it again. */
  readonly onFinished: (file: FinishedFile) => Promise<void>;
}

/**
 * The part opens while the service works: making a file waits for the disk.
 * @throws TtsError (output)
 */
export function rowFile({ path, name, writer, encoding, onFinished }: RowFileOptions): Sink {
  const part = openPart({ path, name, writer });
  return {
    isLive: false,
    async write(track: Track, signal: AbortSignal): Promise<Delivery> {
      const file = { fd: part.fd, path: part.path, name, start: 0 };
      const written = await encoding.record(file, track, signal);
      await part.prepare();
      const sha256 = await hashFile(part.path, signal);
      await onFinished({ format: track.format, bytes: written.bytes, sha256 });
      await part.publish(signal);
      return { ...written, readerLeft: false };
    },
    async discard() {
      part.discard();
    },
  };
}

/**
 * Finds folders that cannot be written, and removes parts of killed runs.
 * @returns the folders, to be synced at the end
 * @throws TtsError (output)
 */
export function prepareRowFiles({ folder, plan, survey }: Outcome, writer: Writer): ReadonlySet<string> {
  const folders = new Set<string>();
  const isRowFile = (path: string) => plan.hasFile(relative(folder.path, path).split(sep).join('/'));
  for (const number of survey.toDo()) {
    const path = folder.pathOf(plan.rows.at(number).file);
    const parent = dirname(path);
    try {
      lookAt(path, path);
      if (folders.has(parent)) continue;
      assertFolderWritable(parent);
    } catch (error) {
      throw unwritable(path, error);
    }
    folders.add(parent);
    removeLeftoversIn(parent, (name) => isRowFile(join(parent, name)), writer);
  }
  return folders;
}

/** @throws TtsError (output) */
export async function syncFolders(folders: Iterable<string>): Promise<void> {
  for (const folder of folders) {
    await syncFolder(folder).catch((error) => {
      throw unwritable(folder, error);
    });
  }
}

function assertFolderWritable(folder: string): void {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (!stats && dirname(folder) !== folder) {
    assertFolderWritable(dirname(folder));
    return;
  }
  if (!stats?.isDirectory()) throw Object.assign(new Error('no folder'), { code: 'ENOTDIR' });
  accessSync(folder, constants.W_OK | constants.X_OK);
}

function openPart({ path, name, writer }: Omit<RowFileOptions, 'encoding' | 'onFinished'>): AtomicFile {
  try {
    makeOutputFolder(dirname(path));
    const old = lookAt(path, name);
    return AtomicFile.forOutput({ path, name, writer, old, clobber: true, isOneOfMany: true });
  } catch (error) {
    throw unwritable(name, error);
  }
}
