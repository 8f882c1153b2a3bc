import { ExitCode, usageError } from '../kit/error.ts';
import type { Host } from '../kit/host.ts';
import { canBeOverheard, checkedKey, keysFile, MOST_READ, storeKey } from '../options/keys.ts';
import { BASE_URL, readBaseUrl } from '../options/kinds.ts';
import { loadSettings, outranks, type Settings } from '../options/load.ts';
import { decode } from '../read/decode.ts';
import { abortable, readWhole } from '../read/source.ts';
import { misplaced } from './command-line.ts';
import type { CommandLine, CommandModule, Context } from './commands.ts';
import type { Notices } from './notices.ts';
import { askSecret } from './print.ts';

/**
 * Returns the base URL of the argument, without a trailing `/tts`, or else that of the settings.
 * @throws TtsError (usage) if there is none, or only a project's config names it
 */
function namedBase(word: string | undefined, settings: Settings, command: string): URL {
  if (word !== undefined) return parsed(word, command);
  const { baseUrl: set } = settings;
  const stored = [...(settings.keys?.value.keys() ?? [])].join(', ');
  if (!set)
    throw usageError(
      'no base URL is set',
      `name the service: ${command} https://tts.example.com/api${stored && `; keys are stored for ${stored}`}`,
    );
  if (set.origin.place === 'project')
    throw usageError(
      `${set.value.href} is only named by ${set.origin.name}`,
      `if you mean it: ${command} ${set.value.href}`,
    );
  return set.value;
}

function parsed(word: string, command: string): URL {
  const url = readBaseUrl(word.replace(/\/tts\/?$/, ''));
  if (url) return url;
  throw misplaced(command, `takes a base URL, and was given another word; expected ${BASE_URL}`);
}

export async function run(line: CommandLine, context: Context): Promise<number> {
  const { host, notices, signal } = context;
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

async function readPiped({ stdin }: Host, signal: AbortSignal): Promise<string> {
  const text = decode(abortable(stdin.stream, signal), 'stdin');
  return readWhole(text, MOST_READ, () => usageError('the input on stdin is too long to be a key', HOW));
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
  const stronger = [apiKey, apiKeyFile].find((setting) => setting && outranks(setting.origin, own));
  if (stronger) notices.warn(`while ${stronger.origin.name} is set, its key is used instead`);
}

async function runLogout(line: CommandLine, context: Context): Promise<number> {
  const { host, notices } = context;
  const { settings, files } = await loadSettings(line, context);
  const stored = settings.keys?.value;
  const typed = readBaseUrl(line.words[0] ?? '');
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

export const logout: CommandModule = { run: runLogout };
