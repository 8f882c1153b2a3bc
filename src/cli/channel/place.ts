import { fstatSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { type TtsError, usageError } from '../../error.ts';
import { cacheFolder, ownCacheFolder } from '../../files/folders.ts';
import type { Host } from '../../host.ts';

type User = Pick<Host, 'env' | 'home' | 'platform' | 'uid'>;

const NAME = /^(?!\.+$)[\w.-]{1,64}$/u;
const WRITTEN_BY_OTHERS = 0o022;

/**
 * Without a name, each terminal is a channel.
 * @returns `undefined` for a user without a folder of their own
 * @throws TtsError (usage) for a name that is not allowed
 */
export function folderOf(name: string | undefined, user: User): string | undefined {
  if (name !== undefined && !NAME.test(name))
    throw usageError(
      `--channel: "${name}" is not allowed`,
      'name it with letters, digits, hyphens, underscores, and dots between them',
    );
  const folder = runtimeFolder(user) ?? ownCacheFolder(user);
  return folder && join(folder, 'run', name ?? terminal() ?? 'default');
}

export function noFolder(user: User): TtsError {
  const folder = cacheFolder(user);
  if (folder === undefined)
    return usageError(
      'there is no folder for runs: HOME names none',
      'set HOME, or XDG_RUNTIME_DIR to a folder of your own',
    );
  return usageError(
    `runs are not kept in ${folder}: it belongs to another user`,
    'set HOME to your own folder',
  );
}

/**
 * Who else can write there could name any process as a run. The XDG Base Directory Specification wants a folder that only its
 * owner may enter.
 */
function runtimeFolder({ env: { XDG_RUNTIME_DIR: folder }, uid }: User): string | undefined {
  if (!folder || !isAbsolute(folder)) return undefined;
  if (uid === undefined) return join(folder, 'tts');
  try {
    const { uid: owner, mode } = statSync(folder);
    return owner === uid && (mode & WRITTEN_BY_OTHERS) === 0 ? join(folder, 'tts') : undefined;
  } catch {
    return undefined;
  }
}

export function terminal(): string | undefined {
  for (const fd of [2, 1, 0]) {
    try {
      const stats = fstatSync(fd);
      // Devices with major number 1, such as /dev/null, are not terminals.
      if (stats.isCharacterDevice() && stats.rdev >> 8 !== 1) return `terminal-${stats.rdev}`;
    } catch {}
  }
  return undefined;
}
