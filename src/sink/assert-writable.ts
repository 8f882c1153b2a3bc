import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ExitCode, TtsError } from '../error.ts';
import type { FileOptions } from './part-file.ts';

/** A folder in which everybody may make files, and replace only their own: /tmp. */
const STICKY = 0o1000;

/**
 * Whether a file could be written and then take the place of the one that is there, as far as that can be known before.
 * @param target behind links
 * @throws TtsError (output), or what the system says
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

/** Even where everybody may write the file itself. */
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
