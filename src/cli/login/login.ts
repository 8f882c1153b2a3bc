import type { Command } from 'commander';
import { ExitCode, usageError } from '../../error.ts';
import type { Host } from '../../host.ts';
import { decode } from '../../reading/decode.ts';
import { abortable, readWhole } from '../../reading/source.ts';
import { canBeOverheard, checkedKey } from '../../settings/key.ts';
import { MOST_READ } from '../../settings/key-file.ts';
import { loadSettings } from '../../settings/load.ts';
import { outranks, type Settings } from '../../settings/resolve.ts';
import { keysFile, storeKey } from '../../settings/stored-keys.ts';
import type { Context } from '../context.ts';
import { askSecret } from '../terminal/ask.ts';
import type { Notices } from '../terminal/notices.ts';
import { baseCommand, namedBase, readBase } from './base.ts';

export async function run(context: Context): Promise<number> {
  const { host, notices, signal } = context;
  const line = readBase(describeCommand(), context);
  if (!line) return ExitCode.ok;
  const { settings } = await loadSettings(line, context);
  const base = namedBase(line.words[0], settings, 'tts login');
  if (line.words[0]?.match(/\/tts\/?$/)) notices.note(`the base URL is ${base.href}: /tts is added to it`);
  const path = keysFile(host);
  const typed = host.stdin.isTTY
    ? await askSecret(`Key for ${base.href} (it is not shown): `, context)
    : await readPiped(host, signal);
  if (typed.trim() === '') throw usageError('no key was given', HOW);
  notices.hide(typed.trim());
  const { value: key } = checkedKey({
    value: typed,
    origin: { place: 'option', name: host.stdin.isTTY ? 'the terminal' : 'stdin' },
  });
  await storeKey(path, { base, key }, context);
  notices.note(`the key for ${base.href} is stored in ${path}`);
  explain(base, settings, notices);
  if (notices.json) notices.result({ baseUrl: base.href, file: path });
  return ExitCode.ok;
}

const HOW = 'type it at the terminal, or send it through a pipe: tts login URL < key-file';

export function describeCommand(): Command {
  return baseCommand('login', 'Keep the key of a service in a file of its own, for that base URL only.');
}

async function readPiped({ stdin }: Host, signal: AbortSignal): Promise<string> {
  const text = decode(abortable(stdin.stream, signal), 'stdin');
  return readWhole(text, MOST_READ, () => usageError('what came from stdin is too long to be a key', HOW));
}

function explain(
  base: URL,
  { baseUrl, apiKey, apiKeyFile, keys, allowInsecureHttp }: Settings,
  notices: Notices,
): void {
  if (baseUrl?.value.href !== base.href)
    notices.note(`to speak with it: --base-url ${base.href}, TTS_BASE_URL, or "baseUrl" in your config`);
  if (canBeOverheard(base, allowInsecureHttp))
    notices.warn(
      `others could read the key on the way to ${base.host}: use https://, or --allow-insecure-http with each run`,
    );
  const own = keys?.origin ?? { place: 'user', name: '' };
  const stronger = [apiKey, apiKeyFile].find((said) => said && outranks(said.origin, own));
  if (stronger) notices.warn(`as long as ${stronger.origin.name} is set, that key is used instead`);
}
