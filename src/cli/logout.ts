import type { Command } from 'commander';
import { ExitCode } from '../error.ts';
import { storeKey, userFile } from '../settings/stored-keys.ts';
import type { Context } from './commands.ts';
import { baseCommand, namedBase, readBase } from './named-base.ts';
import { settle } from './settle.ts';

/** `tts logout [base-url]`: forgets the key that `tts login` has stored. */
export async function run(context: Context): Promise<number> {
  const line = readBase(logoutCommand(), context);
  if (!line) return ExitCode.ok;
  const { settings, files } = await settle(line, context);
  const base = namedBase(line.words[0], settings, 'tts logout');
  if (!settings.keys?.value.has(base.href)) {
    context.notices.note(`no key is stored for ${base.href}`);
    return ExitCode.ok;
  }
  const path = userFile(files, context.host);
  await storeKey(path, base, undefined);
  context.notices.note(`the key for ${base.href} is removed from ${path}`);
  return ExitCode.ok;
}

export function logoutCommand(): Command {
  return baseCommand('logout', 'Forget the key that tts login has stored for a base URL.');
}
