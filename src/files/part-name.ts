import { openSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Host } from '../host.ts';

/** Who writes. The process tells the parts of runs at the same time apart, and those of runs that are over. */
export type Writer = Pick<Host, 'pid' | 'realm' | 'isRunning' | 'uid'>;

export interface Part {
  readonly fd: number;
  readonly path: string;
}

/** A part that nobody has written to for so long is nobody's. */
const ABANDONED_AFTER_MS = 3_600_000;

/** The name of the target, process, realm, and a number where both are taken. */
const PART = /^(?<target>.+)\.(?<pid>\d+)-(?<tag>[0-9a-f]{8})(?:-\d+)?\.part$/s;

/**
 * A new file beside the target, `NAME.PID-REALM.part`. A name that is taken is left to its owner: where realms cannot be
 * told apart, two runs may agree in both.
 */
export function createPart(target: string, { pid, realm }: Writer, mode: number): Part {
  for (let number = 0; ; number += 1) {
    const path = besideFile(target, `${pid}-${tagOf(realm)}${number > 0 ? `-${number}` : ''}.part`);
    try {
      return { fd: openSync(path, 'wx+', mode), path };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** A run that was killed could not tidy up: what it left is removed by the next one for the same file, if it may be. */
export function removeLeftovers(target: string, writer: Writer): void {
  const short = shortName(target);
  removeLeftoversIn(dirname(target), (name) => name === short, writer);
}

/**
 * The same for many files of one folder.
 * @param isTarget gets names whose end is cut if they are long
 */
export function removeLeftoversIn(folder: string, isTarget: (name: string) => boolean, writer: Writer): void {
  for (const name of namesIn(folder)) {
    const found = PART.exec(name)?.groups;
    if (!found || !isTarget(found.target ?? '')) continue;
    const path = join(folder, name);
    try {
      if (isOver(found, path, writer)) unlinkSync(path);
    } catch {
      // It may be somebody else's, in a folder like /tmp.
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Some folders may be written and not read.
    return [];
  }
}

/** Processes elsewhere cannot be seen, nor a namesake of this one: there only time tells. */
function isOver({ pid, tag }: Record<string, string>, path: string, writer: Writer): boolean {
  if (tag === tagOf(writer.realm) && Number(pid) !== writer.pid) return !writer.isRunning(Number(pid));
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > ABANDONED_AFTER_MS;
}

/** Short, since names of files are bounded: 32 bits, mixed here, since node:zlib would be loaded for its crc32 alone. */
function tagOf(realm: string): string {
  const mixed = Buffer.from(realm).reduce((sum, byte) => (Math.imul(sum, 31) + byte) | 0, 0);
  return (mixed >>> 0).toString(16).padStart(8, '0');
}

/** Names are bounded by 255 bytes on most file systems: what stands behind the kept beginning always has room. */
const KEPT_BYTES = 200;

/** The path of a neighbour of a file, `NAME.ENDING`, in which a name that is too long for that is cut. */
export function besideFile(path: string, ending: string): string {
  return join(dirname(path), `${shortName(path)}.${ending}`);
}

/** The name with which those of a file's neighbours begin. Several files may share a long one. */
function shortName(path: string): string {
  const name = basename(path);
  const bytes = Buffer.from(name);
  if (bytes.length <= KEPT_BYTES) return name;
  let end = KEPT_BYTES;
  // Bytes that go on with a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
