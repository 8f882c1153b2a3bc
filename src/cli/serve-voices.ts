import { type Command, Option } from 'commander';
import { DEFAULT_MAX_QUEUE, type EngineSet } from '../engines/engine.ts';
import { isLoopback, originOf } from '../kit/address.ts';
import { usageError } from '../kit/error.ts';
import { checkedKey } from '../options/keys.ts';
import { type Kind, number, words } from '../options/kinds.ts';
import { type Flags, fromEnvironment, loadSettings, refused, resolveSettings } from '../options/load.ts';
import { type Name, ruleOf } from '../options/rows.ts';
import { DEFAULT_HOST, DEFAULT_MAX_TEXT } from '../serve/http.ts';
import { readSubcommand, subcommand } from './command-line.ts';
import type { Context } from './commands.ts';

type LogForm = 'text' | 'json';

export interface ServeOptions {
  readonly host: string;
  /** The service chooses a free port for 0. */
  readonly port: number;
  /** `null` lets all clients in. */
  readonly apiKey: string | null | undefined;
  /** The path before all others, as in `/api`. It may be empty. */
  readonly basePath: string;
  readonly workers: number | undefined;
  readonly maxQueue: number;
  readonly maxText: number;
  readonly callbacks: readonly string[];
  readonly cors: string | undefined;
  readonly engines: readonly string[];
  /** The settings of a service to stand in front of. */
  readonly relay: Flags | undefined;
  /** The config file that names engines. */
  readonly config: string | undefined;
  readonly log: LogForm | undefined;
  readonly readyFile: string | undefined;
  readonly json: boolean;
}

type OwnFlags = Partial<
  Record<'host' | 'port' | 'apiKey' | 'basePath' | 'readyFile' | 'log' | 'cors', string>
> &
  Partial<Record<'workers' | 'maxQueue' | 'maxText', string>> &
  Partial<Record<'callbacks' | 'engine', string[]>> & { auth: boolean; json?: boolean };

const DEFAULT_PORT = '8787';

/** An empty address is refused: Node would listen on all networks. */
const address: Kind<string> = { ...words, allowed: 'an address or a name of this machine' };
const corsOrigin: Kind<string> = {
  ...words,
  text: (value) => (value === '*' ? value : originOf(value)),
  allowed: 'one origin without a path, as in https://app.example.com, or "*"',
};
const upToAMillion = number({ min: 1, max: 1e6, whole: true });

const pathFaults: readonly (readonly [RegExp, hint: string])[] = [
  [/^[^/]/, 'it begins with a slash, as in /api'],
  [/\/\//, 'one slash stands between two names, as in /api/v1'],
  [/\/\.\.?(\/|$)/, 'leave out "." and "..": clients do not send them'],
  [/[^\w.~/-]/, 'it has letters and digits of ASCII, and . _ ~ - and slashes, as in /api/v1'],
];

/**
 * @returns `undefined` after `--help`
 * @throws TtsError (usage)
 */
export function readServeOptions(context: Pick<Context, 'argv' | 'host'>): ServeOptions | undefined {
  const line = readSubcommand(describeCommand(), context);
  if (!line) return undefined;
  const flags = line.flags as OwnFlags;
  const relay = relayFlags(line.flags);
  const host = parsed('--host', flags.host ?? DEFAULT_HOST, address);
  return {
    host,
    port: parsed('--port', flags.port ?? DEFAULT_PORT, number({ min: 0, max: 65_535, whole: true })),
    apiKey: readKey(flags, relay ? {} : context.host.env, host),
    basePath: readBasePath(flags.basePath ?? ''),
    workers:
      flags.workers === undefined
        ? undefined
        : parsed('--workers', flags.workers, number({ min: 1, max: 256, whole: true })),
    maxQueue: parsed('--max-queue', flags.maxQueue ?? String(DEFAULT_MAX_QUEUE), upToAMillion),
    maxText: parsed('--max-text', flags.maxText ?? String(DEFAULT_MAX_TEXT), upToAMillion),
    callbacks: flags.callbacks ?? [],
    cors: flags.cors === undefined ? undefined : parsed('--cors', flags.cors, corsOrigin),
    engines: flags.engine ?? [],
    relay,
    config: line.flags.config as string | undefined,
    log: flags.log as LogForm | undefined,
    readyFile: flags.readyFile,
    json: flags.json ?? false,
  };
}

/** These settings count for a service that `tts serve` stands in front of. */
const RELAY: readonly Name[] = [
  'baseUrl',
  'concurrency',
  'maxChars',
  'cache',
  'timeout',
  'retries',
  'proxy',
  'allowInsecureHttp',
  'config',
];

/** @throws TtsError (usage) for such a setting without a service, and for a service with engines */
function relayFlags(flags: Flags & { readonly engine?: unknown }): Flags | undefined {
  const said = RELAY.filter((name) => flags[name] !== undefined);
  // The config names engines, too.
  const [first] = said.filter((name) => name !== 'config');
  if (first === undefined) return undefined;
  if (flags.baseUrl === undefined)
    throw usageError(
      `${ruleOf(first).flags?.split(' ')[0]} counts only with --base-url`,
      'name the service that this one is to stand in front of',
    );
  if (flags.engine !== undefined)
    throw usageError('--base-url and --engine contradict each other', 'leave one of them out');
  return Object.fromEntries(said.map((name) => [name, flags[name]]));
}

export function describeCommand(): Command {
  return subcommand(
    'serve',
    'Run the text-to-speech service (POST /tts) on this machine; no network is needed.',
    RELAY,
    [
      new Option('--host <address>', `address to listen on (default: ${DEFAULT_HOST})`),
      new Option('--port <n>', `port; 0 picks a free one (default: ${DEFAULT_PORT})`),
      new Option(
        '--api-key <key>',
        'what clients have to send; or TTS_API_KEY, TTS_API_KEY_FILE (default: one is made and printed)',
      ),
      new Option('--no-auth', 'let in everybody on this machine'),
      new Option('--base-path <path>', 'in front of /tts, as in /api (default: none)'),
      new Option('--workers <n>', 'threads that speak (default: the number of cores)'),
      new Option(
        '--max-queue <n>',
        `requests that may wait; further ones get 503 (default: ${DEFAULT_MAX_QUEUE})`,
      ),
      new Option('--max-text <n>', `characters of the longest text (default: ${DEFAULT_MAX_TEXT})`),
      new Option(
        '--callbacks <origin...>',
        'origins that audio may be sent to, as in https://app.example.com',
      ),
      new Option(
        '--cors <origin>',
        'web pages that may use it, as in https://app.example.com; "*": all pages',
      ),
      new Option(
        '--engine <url|folder|name>',
        'further voices: a server, a model, or one of engines (repeatable)',
      ).argParser((engine: string, engines: string[] = []) => [...engines, engine]),
      new Option('--log <form>', 'a line on stderr for every request').choices(['text', 'json']),
      new Option('--ready-file <file>', 'write the base URL there as soon as it listens'),
      new Option('--json', 'print the address as one line of JSON on stdout'),
    ],
  );
}

function readKey(
  { auth, apiKey }: OwnFlags,
  env: Readonly<Record<string, string | undefined>>,
  host: string,
): string | null | undefined {
  if (auth) return checked(apiKey, '--api-key') ?? checked(env.TTS_API_KEY || undefined, 'TTS_API_KEY');
  if (apiKey !== undefined)
    throw usageError('--no-auth and --api-key contradict each other', 'leave one out');
  if (isLoopback(host)) return null;
  throw usageError(
    `--no-auth would let the whole network in through ${host}`,
    'use --api-key, or --host 127.0.0.1',
  );
}

function checked(value: string | undefined, name: string): string | undefined {
  return value === undefined ? undefined : checkedKey({ value, origin: { place: 'option', name } }).value;
}

function readBasePath(value: string): string {
  const path = value.replace(/\/+$/, '');
  const [, wrong] = pathFaults.find(([fault]) => fault.test(path)) ?? [];
  if (wrong === undefined) return path;
  throw usageError(`bad value for --base-path: ${value}`, wrong);
}

function parsed<T>(option: string, value: string, kind: Kind<T>): T {
  const read = kind.text(value);
  if (read !== undefined) return read;
  throw usageError(`bad value for ${option}: ${value}`, `expected ${kind.allowed}`);
}

/** What speaks in the service: a service that it stands in front of, or else the voices of this machine. */
export async function openServeEngines(options: ServeOptions, context: Context): Promise<EngineSet> {
  const { openLocalVoices, openRelay } = await import('../serve/voices.ts');
  const { relay, maxQueue, workers } = options;
  if (!relay)
    return openLocalVoices({ ...(await namedEngines(options, context)), maxQueue, workers }, context);
  // The file that it names holds what clients send: the service must not get that.
  const { TTS_API_KEY_FILE: _, ...env } = context.host.env;
  const host = { ...context.host, env };
  const { settings, files } = await loadSettings({ flags: relay }, { ...context, host });
  return openRelay({ settings, files, maxQueue }, context);
}

/** Without an engine, the service reads no config. */
async function namedEngines({ engines: named, config }: ServeOptions, context: Context) {
  const rule = ruleOf('engine');
  const fallback = fromEnvironment(rule, context.host.env);
  const said = named.map((value) => ({ value, origin: { place: 'option', name: '--engine' } as const }));
  const engines = said.length > 0 ? said : fallback ? [fallback] : [];
  if (engines.length === 0) return { settings: resolveSettings({ flags: {}, env: {}, files: [] }), engines };
  for (const { value, origin } of engines)
    if (rule.kind.text(value) === undefined) throw refused(rule, value, origin);
  const { settings } = await loadSettings({ flags: config === undefined ? {} : { config } }, context);
  return { settings, engines };
}
