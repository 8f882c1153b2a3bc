import { constants, readFileSync, readlinkSync } from 'node:fs';

/** The flag O_APPEND of Linux. */
const O_APPEND = 0o2000;
const O_ACCMODE = 0o3;

/** True for the number of a descriptor in the place of a file's name. */
export function isDescriptor(name: string): boolean {
  return /^\d+$/.test(name);
}

/**
 * Node opens /dev/null for reading and writing in place of a closed stream; a shell's `> /dev/null` opens it for writing only.
 * Only Linux shows the difference.
 */
export function wasClosed(fd: number): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === '/dev/null' && accessOf(fd) === constants.O_RDWR;
  } catch {
    return false;
  }
}

/** Only Linux has the list of flags: elsewhere the answer is false. */
export function isReadOnly(fd: number): boolean {
  try {
    return accessOf(fd) === constants.O_RDONLY;
  } catch {
    return false;
  }
}

/**
 * @returns `undefined` if every write appends
 * @throws the system's error elsewhere than on Linux
 */
export function positionOf(fd: number): number | undefined {
  return flagsOf(fd) & O_APPEND ? undefined : Number(/^pos:\s*(\d+)/m.exec(infoOf(fd))?.[1]);
}

/** Makes the error for a descriptor that is closed or cannot be written. */
export function notWritable(): NodeJS.ErrnoException {
  return Object.assign(new Error('not open for writing'), { code: 'EBADF' });
}

function accessOf(fd: number): number {
  return flagsOf(fd) & O_ACCMODE;
}

function flagsOf(fd: number): number {
  return Number.parseInt(/^flags:\s*(\d+)/m.exec(infoOf(fd))?.[1] ?? '', 8);
}

function infoOf(fd: number): string {
  return readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1');
}
