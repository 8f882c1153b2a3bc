import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, ExitCode, TtsError } from '../error.ts';
import type { Writer } from './part-name.ts';

export interface FileOptions {
  readonly name: string;
  /** It is an absolute path. */
  readonly path: string;
  /** The file that is replaced. */
  readonly old: Stats | undefined;
  readonly clobber: boolean;
  readonly writer: Writer;
  /** The caller removes leftovers and syncs the folder at the end. */
  readonly isOneOfMany?: boolean;
  readonly elsewhere?: string;
}

/** The permission bit of folders like /tmp, where only the owner of a file may replace it. */
const STICKY = 0o1000;

/**
 * Finds before any writing what will make it fail.
 * @param target the file that links lead to
 * @throws TtsError (output), or the system's error
 */
export function assertWritable(target: string, { name, old, clobber, writer }: FileOptions): void {
  if (!old) return;
  accessSync(target, constants.W_OK);
  if (!clobber) throw exists(name);
  if (isKeptByFolder(old, statSync(dirname(target)), writer.uid))
    throw new TtsError(
      `cannot write ${name}: it belongs to somebody else, and its folder keeps it for them`,
      {
        exitCode: ExitCode.output,
        hint: 'choose another name or another folder',
      },
    );
}

function isKeptByFolder(file: Stats, folder: Stats, uid: number | undefined): boolean {
  if (uid === undefined || uid === 0 || (folder.mode & STICKY) === 0) return false;
  return file.uid !== uid && folder.uid !== uid;
}

export function exists(name: string): TtsError {
  return new TtsError(`${name} exists`, {
    exitCode: ExitCode.output,
    hint: 'choose another name, or leave out --no-clobber',
  });
}

export function removed(name: string, part: string): TtsError {
  return new TtsError(`cannot write ${name}: somebody removed ${part}, which held it so far`, {
    exitCode: ExitCode.output,
    hint: 'try again',
  });
}

const ELSEWHERE = Symbol();

/** The numbers of EDQUOT on Linux, and on macOS and BSD. Node 20 has no name for them. */
const QUOTA = new Set([-122, -69]);

const reasons = new Map<string, [reason: string, ...remedies: (string | typeof ELSEWHERE)[]]>([
  ['ENOSPC', ['no space is left there', 'free some space', ELSEWHERE]],
  ['EDQUOT', ['the disk quota is used up', 'free some space', ELSEWHERE]],
  ['EFBIG', ['a file may not grow that large here', 'see ulimit -f', ELSEWHERE]],
  ['EACCES', ['it is not allowed', 'check the permissions', ELSEWHERE]],
  ['EPERM', ['it is not allowed', 'check the permissions', ELSEWHERE]],
  ['EROFS', ['the file system is read-only', ELSEWHERE]],
  ['ENOENT', ['the folder does not exist', 'make the folder first']],
  ['ENAMETOOLONG', ['the name is too long', 'choose a shorter one']],
  ['ELOOP', ['its symbolic links form a loop', 'correct the links', ELSEWHERE]],
  ['ENOTDIR', ['a part of its path is not a folder', 'check the path']],
  ['EISDIR', ['it is a folder', 'add a file name']],
  ['EBADF', ['it is closed, or open for reading only', 'redirect it to a file or a pipe, or use -o']],
  ['ENXIO', ['there is no such device', ELSEWHERE]],
  ['EIO', ['the device reports an error', ELSEWHERE]],
]);

export function unwritable(name: string, cause: unknown, elsewhere = 'write elsewhere with -o'): TtsError {
  if (cause instanceof TtsError) return cause;
  if (!(cause instanceof Error && 'code' in cause)) throw cause;
  const code = 'errno' in cause && QUOTA.has(Number(cause.errno)) ? 'EDQUOT' : String(cause.code);
  const [reason, ...remedies] = reasons.get(code) ?? [code, ELSEWHERE];
  const hint = remedies.map((remedy) => (remedy === ELSEWHERE ? elsewhere : remedy)).join(', or ');
  return new TtsError(`cannot write ${name}: ${reason}`, { exitCode: ExitCode.output, hint, cause });
}

/** The codes of a write to a reader that has gone. */
const READER_GONE = new Set([
  'EPIPE',
  'ECONNRESET',
  'EOF',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
]);

export function isReaderGone(error: Error): boolean {
  return READER_GONE.has(codeOf(error));
}
