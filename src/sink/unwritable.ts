import { ExitCode, TtsError } from '../error.ts';

/** Stands for the way to have it written elsewhere. */
const ELSEWHERE = Symbol();

/** EDQUOT of Linux, and of macOS and BSD, for which Node 20 has no name. */
const QUOTA = new Set([-122, -69]);

/** What the system says, why that is, and what can be done. */
const reasons = new Map<string, [reason: string, ...remedies: (string | typeof ELSEWHERE)[]]>([
  ['ENOSPC', ['no space is left there', 'make room', ELSEWHERE]],
  ['EDQUOT', ['the disk quota is used up', 'make room', ELSEWHERE]],
  ['EFBIG', ['a file may not grow that large here', 'see ulimit -f', ELSEWHERE]],
  ['EACCES', ['it is not allowed', 'check the permissions', ELSEWHERE]],
  ['EPERM', ['it is not allowed', 'check the permissions', ELSEWHERE]],
  ['EROFS', ['the file system is read-only', ELSEWHERE]],
  ['ENOENT', ['the folder does not exist', 'make the folder first']],
  ['ENAMETOOLONG', ['the name is too long', 'choose a shorter one']],
  ['ELOOP', ['its symbolic links lead in a circle', 'correct the links', ELSEWHERE]],
  ['ENOTDIR', ['a part of its path is no folder', 'check the path']],
  ['EISDIR', ['it is a folder', 'add a file name']],
  ['EBADF', ['it is closed, or open for reading only', 'redirect it to a file or a pipe, or use -o']],
  ['ENXIO', ['there is nothing behind that name', ELSEWHERE]],
  ['EIO', ['the device reports an error', ELSEWHERE]],
]);

/**
 * The error for an output that cannot be written, from what the system said.
 * @param elsewhere what would have it written elsewhere
 */
export function unwritable(name: string, cause: unknown, elsewhere = 'write elsewhere with -o'): TtsError {
  if (cause instanceof TtsError) return cause;
  if (!(cause instanceof Error && 'code' in cause)) throw cause;
  const code = 'errno' in cause && QUOTA.has(Number(cause.errno)) ? 'EDQUOT' : String(cause.code);
  const [reason, ...remedies] = reasons.get(code) ?? [code, ELSEWHERE];
  const hint = remedies.map((remedy) => (remedy === ELSEWHERE ? elsewhere : remedy)).join(', or ');
  return new TtsError(`cannot write ${name}: ${reason}`, { exitCode: ExitCode.output, hint, cause });
}
