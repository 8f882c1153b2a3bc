import { statSync } from 'node:fs';
import type { Host, RunContext } from '../host.ts';
import { findConfig, findKeys } from './config-places.ts';
import type { EngineEntry } from './engine-kind.ts';
import type { Hide } from './read-config.ts';
import {
  type ConfigFile,
  type Flags,
  fromEnvironment,
  resolve,
  type Setting,
  type Settings,
} from './resolve.ts';
import { ruleOf } from './rules.ts';

export interface LoadedSettings {
  readonly settings: Settings;
  readonly files: readonly ConfigFile[];
}

/** @throws TtsError (usage) */
export async function loadSettings(
  { flags }: { readonly flags: Flags },
  { host, notices, signal }: Pick<RunContext, 'host' | 'notices' | 'signal'>,
): Promise<LoadedSettings> {
  const hide = (secret: string) => notices.hide(secret);
  const files = await loadConfig(host, configName(flags, host.env), { hide, signal });
  const settings = resolve({ flags, env: host.env, files });
  notices.quiet = settings.quiet.value;
  notices.verbose = settings.verbose.value;
  for (const secret of secretsOf(settings)) hide(secret);
  for (const name of namesIn(settings)) notices.spare(name);
  return { settings, files };
}

function* secretsOf({ apiKey, engineKey, callbackUrl }: Settings): Generator<string> {
  if (apiKey) yield apiKey.value.trim();
  if (engineKey) yield engineKey.value.trim();
  if (callbackUrl) yield callbackUrl.value.password;
}

function* namesIn(settings: Settings): Generator<string> {
  const { output, subtitles, lexicon, speaker, config } = settings;
  for (const setting of [output, subtitles, lexicon, speaker, config])
    if (typeof setting?.value === 'string') yield* setting.value.split('\n');
}

export function configName(flags: Flags, env: RunContext['host']['env']): string | undefined {
  const named = flags.config ?? fromEnvironment(ruleOf('config'), env)?.value;
  return typeof named === 'string' ? named : undefined;
}

/**
 * A named file is the only one with settings, and may be a pipe. Stored keys belong to their base URLs, whatever the config is; a
 * named file that brings a key for itself counts more.
 * @returns the files, the strongest first
 * @throws TtsError (usage)
 */
async function loadConfig(
  host: Host,
  named: string | undefined,
  options: { readonly hide: Hide; readonly signal: AbortSignal },
): Promise<ConfigFile[]> {
  const [candidates, stored] = [named === undefined ? findConfig(host) : [], findKeys(host)];
  if (named === undefined && candidates.length === 0 && !stored) return [];
  const { loadNamed, readConfig, readKeys } = await import('./read-config.ts');
  const loaded: ConfigFile[] = named === undefined ? [] : [await loadNamed(named, host, options)];
  const bringsKey = loaded.some(({ values }) => (values.apiKey ?? values.apiKeyFile) !== undefined);
  for (const candidate of candidates)
    if (!loaded.some(({ place }) => place === candidate.place))
      loaded.push(readConfig(candidate, options.hide));
  return stored && !bringsKey ? [readKeys(stored, options.hide), ...loaded] : loaded;
}

/** These permission bits let users besides the owner read a file. */
const READ_BY_OTHERS = 0o044;

/** Finds files with a key that other users can read. Windows has no such permissions. */
export function exposedFiles(files: readonly ConfigFile[], platform: NodeJS.Platform): string[] {
  if (platform === 'win32') return [];
  return files
    .filter(({ place, values }) => place === 'user' && holdsKey(values))
    .map(({ path }) => path)
    .filter((path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & READ_BY_OTHERS) !== 0);
}

function holdsKey({ apiKey, keys, engines = new Map() }: ConfigFile['values']): boolean {
  const entries = [...(engines as ReadonlyMap<string, EngineEntry>).values()];
  return (apiKey ?? keys) !== undefined || entries.some(({ key }) => key !== undefined);
}

/** What `--assistant` stands for. An option that is set by itself counts more. */
export function withAssistant(settings: Settings): Settings {
  const { assistant, format, math, play, output, stream, echo } = settings;
  if (!assistant.value) return settings;
  const { origin } = assistant;
  const or = <T>(set: Setting<T> | undefined, value: T): Setting<T> =>
    !set || set.origin.place === 'default' ? { value, origin } : set;
  return {
    ...settings,
    format: or(format, 'markdown'),
    math: or(math, 'skip'),
    play: play ?? (output ? undefined : { value: true, origin }),
    stream: or(stream, true),
    echo: or(echo, true),
  };
}
