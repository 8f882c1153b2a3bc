import { lstatSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { checksumOf } from '../kit/checksum.ts';
import { FileWriter } from '../kit/descriptor.ts';
import { usageError } from '../kit/error.ts';
import { AtomicFile, syncFolder, type Writer } from '../kit/file.ts';
import { fromHome, makeOutputFolder, systemError, unwritable, writing } from '../kit/folders.ts';
import { assertRegular, assertUnlinked, leadsBelow, realOf } from '../kit/guard.ts';
import type { Host } from '../kit/host.ts';
import { checkFile, outputStats } from '../out/open.ts';
import type { Delivery, Sink } from '../out/sink.ts';
import type { Encoding } from '../sound/encode/encoding.ts';
import type { PcmFormat, Track } from '../sound/pcm.ts';

/** The fixed folder of a template. Files that a table or manifest names must have their real path below it. */
export class RowFolder {
  /** Absolute. */
  readonly path: string;
  /** The name in messages. */
  readonly name: string;
  #real: string | undefined;
  /** The last folder that was checked: rows of one folder often follow each other. */
  #checked: string | undefined;

  constructor(path: string, name: string) {
    this.path = path;
    this.name = name;
  }

  /**
   * @param file a relative path, with "/"
   * @throws TtsError (usage) for a link, or a folder that leads outside through one; (output) for a file in place of a
   *   folder
   */
  pathOf(file: string): string {
    const path = join(this.path, file);
    const stats = this.#lookAt(path);
    if (!this.#holds(dirname(path)))
      throw usageError(
        `${dirname(path)} leads out of ${this.path} through a symbolic link`,
        'remove the link, or choose another folder with -o',
      );
    if (!stats?.isDirectory()) assertRegular(path);
    return path;
  }

  /** @returns the path of a file that a manifest names; `undefined` unless it is a regular file below the folder */
  find(file: string): string | undefined {
    const path = join(this.path, file);
    try {
      return this.#lookAt(path)?.isFile() && this.#holds(dirname(path)) ? path : undefined;
    } catch {
      return undefined;
    }
  }

  #lookAt(path: string): Stats | undefined {
    return writing(path, () => lstatSync(path, { throwIfNoEntry: false }));
  }

  #holds(folder: string): boolean {
    if (folder === this.#checked) return true;
    this.#real ??= realOf(this.path);
    if (this.#real === undefined || !leadsBelow(this.#real, folder)) return false;
    this.#checked = folder;
    return true;
  }
}

/**
 * @param fixed the fixed folder of a template. Templates are quoted, so no shell expands `~` in them.
 * @throws TtsError (usage) for a link, (output) for a file in its place, or a path that cannot be examined
 */
export function openRowFolder(fixed: string, { cwd, home }: Pick<Host, 'cwd' | 'home'>): RowFolder {
  const name = fromHome(fixed, home);
  assertUnlinked(name, cwd);
  const path = resolve(cwd, name);
  const stats = writing(path, () => statSync(path, { throwIfNoEntry: false }));
  if (stats?.isDirectory() === false) throw unwritable(path, systemError('ENOTDIR'));
  return new RowFolder(path, name);
}

export interface FinishedFile {
  readonly format: PcmFormat;
  /** Bytes of the sound, without header. */
  readonly bytes: number;
  readonly sha256: string;
}

export interface RowFileOptions extends NamedFile {
  readonly encoding: Encoding;
  /** Called before the file gets its name: if the run is killed in between, the file is made again. */
  readonly onFinished: (file: FinishedFile) => void;
}

/**
 * Makes a sink for a row. The temporary file is opened now, while the service works, as creating a file waits for the disk.
 * @throws TtsError (output)
 */
export function rowFile({ encoding, onFinished, ...file }: RowFileOptions): Sink {
  makeOutputFolder(dirname(file.path));
  const part = openPart(file, true);
  return {
    isLive: false,
    async write(track: Track, signal: AbortSignal): Promise<Delivery> {
      const open = { fd: part.fd, path: part.path, name: file.name, start: 0 };
      const written = await encoding.record(open, track, signal);
      await part.prepare();
      const sha256 = await part.read((path) => checksumOf(path, { signal }), signal);
      onFinished({ format: track.format, bytes: written.bytes, sha256 });
      await part.publish(signal);
      return { ...written, readerLeft: false };
    },
    async discard() {
      part.discard();
    },
  };
}

/** @throws TtsError (output) */
export async function syncFolders(folders: Iterable<string>): Promise<void> {
  for (const folder of folders) {
    await syncFolder(folder).catch((error) => {
      throw unwritable(folder, error);
    });
  }
}

interface NamedFile {
  /** Absolute. */
  readonly path: string;
  /** The name in messages. */
  readonly name: string;
  readonly writer: Writer;
}

/**
 * Writes a file atomically, and never through a link.
 * @throws TtsError (output), (usage) for a link
 */
export async function writeText(
  named: NamedFile,
  pieces: Iterable<string> | AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const part = openPart(named);
  try {
    const file = new FileWriter(part.fd, named.name);
    for await (const piece of pieces) file.write(Buffer.from(piece));
    file.flush();
    await part.publish(signal);
  } finally {
    part.discard();
  }
}

/**
 * Checks, before anything is made, that the file can be written.
 * @throws TtsError (output), (usage) for a link
 */
export function assertTextWritable(file: NamedFile): void {
  replacing(file, (old) => checkFile({ ...file, old, clobber: true }));
}

function openPart(file: NamedFile, isOneOfMany = false): AtomicFile {
  return replacing(file, (old) => AtomicFile.forOutput({ ...file, old, clobber: true, isOneOfMany }));
}

/** @throws TtsError (output), (usage) for a link in place of the file */
function replacing<T>({ path, name }: NamedFile, act: (old: Stats | undefined) => T): T {
  return writing(name, () => {
    const old = outputStats(path, name);
    assertRegular(path);
    return act(old);
  });
}
