import type { Command } from 'commander';
import { ExitCode } from '../kit/error.ts';
import { keysFile, storeKey } from '../options/keys.ts';
import { baseUrl } from '../options/kinds.ts';
import { loadSettings } from '../options/load.ts';
import type { Context } from './context.ts';
import { baseCommand, namedBase, readBase } from './login.ts';

export async function run(context: Context): Promise<number> {
  const { host, notices } = context;
  const line = readBase(describeCommand(), context);
  if (!line) return ExitCode.ok;
  const { settings, files } = await loadSettings(line, context);
  const stored = settings.keys?.value;
  const typed = baseUrl.text(line.words[0] ?? '');
  const isStored = typed !== undefined && stored?.has(typed.href);
  const base = isStored ? typed : namedBase(line.words[0], settings, 'tts logout');
  const file = keysFile(host);
  const own = files.find(({ path }) => path === file)?.values.keys as ReadonlyMap<string, string> | undefined;
  const removed = own?.has(base.href) ?? false;
  if (removed) await storeKey(file, { base, key: undefined }, context);
  const others = [...(stored?.keys() ?? [])].filter((url) => url !== base.href).join(', ');
  const more = others && `; there are keys for ${others}`;
  notices.note(
    removed ? `the key for ${base.href} is removed from ${file}` : `no key is stored for ${base.href}${more}`,
  );
  for (const { path, values } of files)
    if (path !== file && (values.keys as typeof own)?.has(base.href))
      notices.warn(`${path} still holds a key for ${base.href}: remove it there`);
  if (notices.json) notices.result({ baseUrl: base.href, ...(removed && { file }), removed });
  return ExitCode.ok;
}

export function describeCommand(): Command {
  return baseCommand('logout', 'Forget the key that tts login has stored for a base URL.');
}
