import { ExitCode, TtsError } from '../error.ts';

const reasons = new Map([
  ['ENOSPC', ['no space is left there', 'make room, or write elsewhere with -o']],
  ['EDQUOT', ['the disk quota is used up', 'make room, or write elsewhere with -o']],
  ['EFBIG', ['a file may not grow that large here', 'see ulimit -f, or write elsewhere with -o']],
  ['EACCES', ['it is not allowed', 'check the permissions, or write elsewhere with -o']],
  ['EPERM', ['it is not allowed', 'check the permissions, or write elsewhere with -o']],
  ['EROFS', ['the file system is read-only', 'write elsewhere with -o']],
  ['ENOENT', ['the folder does not exist', 'make the folder first']],
  ['ENAMETOOLONG', ['the name is too long', 'choose a shorter one']],
  ['ELOOP', ['its symbolic links lead in a circle', 'mend the links, or write elsewhere with -o']],
  ['ENOTDIR', ['a part of its path is no folder', 'check the path']],
  ['EISDIR', ['it is a folder', 'add a file name']],
  ['EBADF', ['it is closed', 'redirect it to a file or a pipe, or use -o']],
  ['EIO', ['the device reports an error', 'write elsewhere with -o']],
]);

/** The error for an output that cannot be written, from what the system said. */
export function unwritable(name: string, cause: unknown): TtsError {
  if (cause instanceof TtsError) return cause;
  if (!(cause instanceof Error && 'code' in cause)) throw cause;
  const code = String(cause.code);
  const [reason, hint] = reasons.get(code) ?? [code, 'write elsewhere with -o'];
  return new TtsError(`cannot write ${name}: ${reason}`, { exitCode: ExitCode.output, hint, cause });
}
