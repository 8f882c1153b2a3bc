/** The options and voices of `tts serve`. */
import { isLoopback } from '../kit/address.ts';
import { usageError } from '../kit/error.ts';
import {
  type Flags,
  fromEnvironment,
  loadSettings,
  resolveSettings,
  type Settings,
  settingOf,
} from '../options/load.ts';
import { longFlag } from '../options/option.ts';
import { optionsOf, rowOf, rows } from '../options/rows.ts';
import type { TextReading } from '../serve/clean.ts';
import type { ServedVoices } from '../serve/speak.ts';
import type { Context } from './commands.ts';

/** The options of `tts serve`. */
export type ServeOptions = ReturnType<typeof readServeOptions>;

/** @throws TtsError (usage) */
export function readServeOptions(flags: Flags, env: Context['host']['env']) {
  const { engine = [], ...others } = flags as Flags & { readonly engine?: readonly string[] };
  const relay = relayFlags(flags);
  const { TTS_API_KEY, TTS_API_KEY_FILE } = env;
  // A relay sends TTS_API_KEY to its service, so this cannot be the key of the clients.
  const keys = relay ? { TTS_API_KEY_FILE } : { TTS_API_KEY, TTS_API_KEY_FILE };
  const settings = resolveSettings({ flags: others, env: keys });
  if (!settings.auth.value) assertMayBeOpen(settings);
  const { port, wyoming } = settings;
  if (port.value === wyoming?.value && port.value !== 0)
    throw usageError(`--port and --wyoming are both ${port.value}`, 'choose another port for one of them');
  return {
    settings,
    engines: engine,
    /** The options of the service that requests are relayed to, if there is one. */
    relay,
    /** Options that count for any voices. */
    sharedFlags: Object.fromEntries(SHARED.map((name) => [name, flags[name]])),
  };
}

/** How the texts of clients are read, the config file that may set it, and how long a voice may be silent. */
const SHARED = ['assistant', 'format', 'lexicon', 'config', 'timeout'] as const;

/** The options for the service that requests are relayed to. */
const RELAY = optionsOf('serve').filter((name) => {
  const { commands, forms } = rowOf(name);
  return commands.includes('speak') && !forms?.serve;
});

/** @throws TtsError (usage) for such an option without `--base-url`, and for `--base-url` with `--engine` */
function relayFlags(flags: Flags & { readonly engine?: unknown }): Flags | undefined {
  const given = RELAY.filter((name) => flags[name] !== undefined);
  const [first] = given.filter((name) => !SHARED.some((shared) => shared === name));
  if (first === undefined) return undefined;
  if (flags.baseUrl === undefined)
    throw usageError(
      `${longFlag(rowOf(first))} only works with --base-url`,
      'name the service that this one is to stand in front of',
    );
  if (flags.engine !== undefined)
    throw usageError('--base-url and --engine cannot be used together', 'leave one of them out');
  return Object.fromEntries(given.map((name) => [name, flags[name]]));
}

function assertMayBeOpen({ apiKey, host }: Settings): void {
  if (apiKey?.origin.place === 'option')
    throw usageError('--no-auth and --api-key cannot be used together', 'leave one out');
  if (isLoopback(host.value)) return;
  throw usageError(
    `--no-auth would let the whole network in through ${host.value}`,
    'use --api-key, or --host 127.0.0.1',
  );
}

/** The voices of the service, and how texts are read before they speak. */
export interface Serving {
  readonly voices: ServedVoices;
  readonly reading: TextReading | undefined;
}

/** Opens the service that requests are relayed to, or else the voices of this machine. */
export async function openServing(options: ServeOptions, context: Context): Promise<Serving> {
  const { openLocalVoices, openRelay } = await import('../serve/voices.ts');
  const { relay, sharedFlags } = options;
  const maxQueue = options.settings.maxQueue.value;
  // TTS_API_KEY_FILE holds the key of the clients, which the service behind a relay must not get.
  const { TTS_API_KEY_FILE: _, ...env } = context.host.env;
  const host = relay ? { ...context.host, env } : context.host;
  const flags = { ...relay, ...sharedFlags };
  const { settings, files } = await loadSettings({ flags }, { ...context, host });
  const { readingOf } = await import('../serve/clean.ts');
  const reading = await readingOf(settings, context);
  const voices = relay
    ? await openRelay({ settings, files, maxQueue }, context)
    : await openLocalVoices(
        { ...namedEngines(options, settings, context), maxQueue, workers: options.settings.workers?.value },
        context,
      );
  return { voices, reading };
}

/** Returns the named engines. Their settings come from the config only if an option or variable names an engine. */
function namedEngines(
  { engines: named, sharedFlags }: ServeOptions,
  settings: Settings,
  { host: { env } }: Context,
) {
  const fallback = fromEnvironment(rows.engine, env);
  const given = named.map((text) => settingOf(rows.engine, text, { place: 'option', name: '--engine' }));
  const engines = given.length > 0 ? given : fallback ? [fallback] : [];
  if (engines.length > 0) return { settings, engines };
  return { settings: resolveSettings({ flags: { timeout: sharedFlags.timeout } }), engines };
}
