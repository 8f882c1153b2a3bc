import {
  closeSync,
  constants as files,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Script } from 'node:vm';
import { makeFolder } from './files/folders.ts';
import type { Host } from './host.ts';
import { withChecksum } from './v8-flags.ts';

/** Permission for the group, or for everybody, to write. */
const WRITTEN_BY_OTHERS = 0o022;

/** A link may lead to what somebody else has written, such as a download; Windows has no word for this. */
const NO_LINK = files.O_NOFOLLOW ?? 0;

/** A part of the program, by the name of its file. */
export interface Chunk {
  readonly name: string;
  readonly script: Script;
}

/** Whether the folder is the user's own, or is still to be made. */
export function mayHold(folder: string, uid: number | undefined): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  return !found || isOursAlone(found, uid);
}

/** What lies there is run as it is: nobody else may be able to put it there. */
function isOursAlone({ uid, mode }: Stats, own: number | undefined): boolean {
  return own === undefined || (uid === own && (mode & WRITTEN_BY_OTHERS) === 0);
}

/**
 * Compiled code, unless somebody else may have written it. Whoever may move the folder can put another one in its place
 * at any time: what counts is the file that is read.
 */
export function readKept(path: string, uid: number | undefined): Buffer | undefined {
  const fd = openSync(path, files.O_RDONLY | NO_LINK);
  try {
    return isOursAlone(fstatSync(fd), uid) ? readFileSync(fd) : undefined;
  } finally {
    closeSync(fd);
  }
}

interface Place {
  /** Where compiled code is kept. */
  readonly folder: string;
  /** Where the chunks lie. */
  readonly program: string;
}

/** To be called at the end, when the code of the functions that ran is part of what V8 hands out. */
export function keep(
  chunks: readonly Chunk[],
  { folder, program }: Place,
  host: Pick<Host, 'pid' | 'isRunning'>,
): void {
  makeFolder(folder);
  const ours = readdirSync(program);
  for (const name of readdirSync(folder))
    if (isLeftover(name, host) || isOlder(name, ours)) rmSync(join(folder, name));
  for (const { name, script } of chunks) {
    const part = join(folder, `${name}.${host.pid}.part`);
    try {
      writeFileSync(
        part,
        withChecksum(() => script.createCachedData()),
        { mode: 0o600, flag: 'wx' },
      );
      renameSync(part, join(folder, name));
    } catch (error) {
      rmSync(part, { force: true });
      throw error;
    }
  }
}

/** What a run has left that was killed while it wrote. */
function isLeftover(name: string, { isRunning }: Pick<Host, 'isRunning'>): boolean {
  const pid = /\.(\d+)\.part$/.exec(name)?.[1];
  return pid !== undefined && !isRunning(Number(pid));
}

/** Code of a program that was here before. */
function isOlder(name: string, ours: readonly string[]): boolean {
  return name.endsWith('.cjs') && !ours.includes(name);
}
