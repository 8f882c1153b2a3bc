import { openSync, statSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ageOf } from '../age.ts';
import { codeOf } from '../error.ts';
import type { Host } from '../host.ts';
import { namesIn } from './paths.ts';

export type Writer = Pick<Host, 'pid' | 'realm' | 'isRunning' | 'uid'>;

export interface PartFile {
  readonly fd: number;
  readonly path: string;
}

/** Milliseconds without a write, after which a part has no owner. */
const ABANDONED_AFTER_MS = 3_600_000;

/** A name that is taken gets a number before its ending. */
const PART = /^(?<target>.+)\.(?<pid>\d+)-(?<tag>[0-9a-f]{8})(?:-\d+)?\.part$/s;

/** It creates `NAME.PID-REALM.part`. A file with this name is not replaced: realms may be equal by chance. */
export function createPart(target: string, { pid, realm }: Writer, mode: number): PartFile {
  for (let number = 0; ; number += 1) {
    const path = besideFile(target, `${pid}-${tagOf(realm)}${number > 0 ? `-${number}` : ''}.part`);
    try {
      return { fd: openSync(path, 'wx+', mode), path };
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

/** Removes the parts that killed runs left of the same file. */
export function removeLeftovers(target: string, writer: Writer): void {
  const short = shortName(target);
  removeLeftoversIn(dirname(target), (name) => name === short, writer);
}

/** @param isTarget gets shortened names for long ones */
export function removeLeftoversIn(folder: string, isTarget: (name: string) => boolean, writer: Writer): void {
  for (const name of namesIn(folder)) {
    const found = PART.exec(name)?.groups;
    if (!found || !isTarget(found.target ?? '')) continue;
    const path = join(folder, name);
    try {
      if (isOver(found, path, writer)) unlinkSync(path);
    } catch {}
  }
}

function isOver({ pid, tag }: Record<string, string>, path: string, writer: Writer): boolean {
  if (tag === tagOf(writer.realm) && Number(pid) !== writer.pid) return !writer.isRunning(Number(pid));
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && ageOf(stats.mtimeMs) > ABANDONED_AFTER_MS;
}

/** The hash has 32 bits, since names are bounded; crc32 would load node:zlib. */
function tagOf(realm: string): string {
  const mixed = Buffer.from(realm).reduce((sum, byte) => (Math.imul(sum, 31) + byte) | 0, 0);
  return (mixed >>> 0).toString(16).padStart(8, '0');
}

/** Most file systems allow 255 bytes. */
const KEPT_BYTES = 200;

export function besideFile(path: string, ending: string): string {
  return join(dirname(path), `${shortName(path)}.${ending}`);
}

function shortName(path: string): string {
  const name = basename(path);
  const bytes = Buffer.from(name);
  if (bytes.length <= KEPT_BYTES) return name;
  let end = KEPT_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
