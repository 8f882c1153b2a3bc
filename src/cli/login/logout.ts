import type { Command } from 'commander';
import { ExitCode } from '../../error.ts';
import { storeKey, userFile } from '../../settings/stored-keys.ts';
import type { Context } from '../commands.ts';
import { settle } from '../settle.ts';
import { tell } from '../tell.ts';
import { baseCommand, namedBase, readBase } from './named-base.ts';

/** `tts logout [base-url]`: forgets the key that `tts login` has stored. With `--json` it tells whether there was one. */
export async function run(context: Context): Promise<number> {
  const { host, notices } = context;
  const line = readBase(logoutCommand(), context);
  if (!line) return ExitCode.ok;
  const { settings, files } = await settle(line, context);
  const base = namedBase(line.words[0], settings, 'tts logout');
  const removed = settings.keys?.value.has(base.href) ?? false;
  const file = removed ? userFile(files, host) : undefined;
  if (file !== undefined) await storeKey(file, base, undefined);
  const others = [...(settings.keys?.value.keys() ?? [])].join(', ');
  const missing = `no key is stored for ${base.href}${others && `; there are keys for ${others}`}`;
  notices.note(removed ? `the key for ${base.href} is removed from ${file}` : missing);
  if (notices.json) tell(host.stdout, notices.inJson({ baseUrl: base.href, file, removed }));
  return ExitCode.ok;
}

export function logoutCommand(): Command {
  return baseCommand('logout', 'Forget the key that tts login has stored for a base URL.');
}
