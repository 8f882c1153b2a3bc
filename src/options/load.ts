/** Loads the settings of a run from flags, environment and config files, with the origin of each. */
import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import { fromHome, pathOf } from '../kit/folders.ts';
import { isWithin } from '../kit/guard.ts';
import { valueHint } from '../kit/hints.ts';
import type { Host, RunContext } from '../kit/host.ts';
import { check, choicesOf, fromText, type Schema } from '../kit/schema.ts';
import { nearestName } from '../kit/words.ts';
import type { ReadOptions } from './config-file.ts';
import { type ConfigPath, findConfig, findKeys } from './config-places.ts';
import type { EngineEntry } from './engine-entry.ts';
import { describedValue, hostOnly, PROXY, readProxy } from './kinds.ts';
import { longFlag, type Option } from './option.ts';
import { type Name, names, rowOf, rows, type Value } from './rows.ts';

/** What commander parsed, by option name: a text, several texts, or true or false for a switch. */
export type Flags = Readonly<Record<string, unknown>>;

export interface ConfigFile {
  readonly path: string;
  /** The folder that relative paths in the file start from. */
  readonly folder: string;
  readonly place: ConfigPath['place'];
  /** The values by key, checked and transformed by their schemas. */
  readonly values: Readonly<Record<string, unknown>>;
}

export type Settings = {
  readonly [N in Name]: (typeof rows)[N] extends { readonly fallback: unknown }
    ? Setting<Value<N>>
    : Setting<Value<N>> | undefined;
};

const places = ['option', 'environment', 'project', 'user', 'default'] as const;
type SettingPlace = (typeof places)[number];

export interface Origin {
  readonly place: SettingPlace;
  /** For messages: `--speaker`, `TTS_SPEAKER`, or `speaker in /home/anna/.ttsrc`. */
  readonly name: string;
  /** The folder that relative paths in the value start from. */
  readonly folder?: string | undefined;
}

export interface Setting<T> {
  readonly value: T;
  readonly origin: Origin;
}

export function outranks(a: Origin, b: Origin): boolean {
  return places.indexOf(a.place) < places.indexOf(b.place);
}

export type Hide = (secret: string) => void;

export interface LoadedSettings {
  readonly settings: Settings;
  readonly files: readonly ConfigFile[];
}

/** @throws TtsError (usage) */
export async function loadSettings(
  { flags }: { readonly flags: Flags },
  { host, notices, signal }: RunContext,
): Promise<LoadedSettings> {
  const hide = (secret: string) => notices.hide(secret);
  const files = await loadConfig(host, configName(flags, host.env), { hide, signal });
  const settings = resolveSettings({ flags, env: host.env, files });
  notices.quiet = settings.quiet.value;
  notices.verbose = settings.verbose.value;
  for (const secret of secretsOf(settings)) hide(secret);
  for (const name of namesIn(settings)) notices.spare(name);
  return { settings, files };
}

/** Yields secrets to hide in messages, except the keys for base URLs, which were hidden when their file was read. */
function* secretsOf(settings: Settings): Generator<string> {
  for (const name of names) {
    const value = settings[name]?.value;
    if (rowOf(name).isSecret && typeof value === 'string') yield value.trim();
  }
  if (settings.callbackUrl) yield settings.callbackUrl.value.password;
}

function* namesIn(settings: Settings): Generator<string> {
  const { output, subtitles, lexicon, speaker, config } = settings;
  for (const setting of [output, subtitles, lexicon, speaker, config])
    for (const name of [setting?.value].flat()) if (typeof name === 'string') yield name;
}

export function configName(flags: Flags, env: RunContext['host']['env']): string | undefined {
  const named = flags.config ?? fromEnvironment(rows.config, env)?.value;
  return typeof named === 'string' ? named : undefined;
}

/**
 * Loads the config files. A named file, which may be a pipe, replaces all others. The stored keys are loaded in addition,
 * unless a named file brings its own key.
 * @returns the files, the strongest first
 * @throws TtsError (usage)
 */
async function loadConfig(
  host: Host,
  named: string | undefined,
  options: ReadOptions,
): Promise<ConfigFile[]> {
  const [candidates, stored] = [named === undefined ? findConfig(host) : [], findKeys(host)];
  if (named === undefined && candidates.length === 0 && !stored) return [];
  // Load the parsers only if there is a file.
  const { loadNamed, readConfig, readKeys } = await import('./config-file.ts');
  const loaded: ConfigFile[] = named === undefined ? [] : [await loadNamed(named, host, options)];
  const bringsKey = loaded.some(({ values }) => (values.apiKey ?? values.apiKeyFile) !== undefined);
  for (const candidate of candidates)
    if (!loaded.some(({ place }) => place === candidate.place))
      loaded.push(await readConfig(candidate, options));
  return stored && !bringsKey ? [await readKeys(stored, options), ...loaded] : loaded;
}

interface SettingSources {
  readonly flags: Flags;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly files?: readonly ConfigFile[];
}

/**
 * Takes each setting from the strongest place that has it.
 * @throws TtsError (usage) with the value, its origin and what is wrong with it
 */
export function resolveSettings(sources: SettingSources): Settings {
  return Object.fromEntries(names.map((name) => [name, resolved(name, rowOf(name), sources)])) as Settings;
}

function resolved(name: Name, row: Option, sources: SettingSources): Setting<unknown> | undefined {
  const said = valuesSet(row, sources.flags[name], sources);
  const { value: strongest } = said.next();
  if (!strongest) return row.fallback === undefined ? undefined : { value: row.fallback, origin: DEFAULT };
  if (!row.merge) return strongest;
  return { ...strongest, value: row.merge([strongest, ...said].map(({ value }) => value)) };
}

/** Yields the values that are set, the strongest first. Lazy: a weaker place is read only if it counts. */
function* valuesSet(
  row: Option,
  flag: unknown,
  { env = {}, files = [] }: SettingSources,
): Generator<Setting<unknown>, undefined> {
  if (flag !== undefined) yield fromFlag(row, flag);
  const inEnvironment = fromEnvironment(row, env);
  if (inEnvironment) yield inEnvironment;
  const { key } = row;
  if (key === undefined) return;
  for (const file of files)
    if (file.values[key] !== undefined) yield { value: file.values[key], origin: fileOrigin(key, file) };
}

const DEFAULT: Origin = { place: 'default', name: 'the default' };

function fromFlag(row: Option, raw: unknown): Setting<unknown> {
  const origin = { place: 'option', name: flagName(row, raw) } as const;
  return typeof raw === 'boolean' ? { value: raw, origin } : settingOf(row, raw as string | string[], origin);
}

/** Reads an option from its environment variable. An empty variable counts as not set. */
export function fromEnvironment<T>(
  row: Option<T>,
  env: Readonly<Record<string, string | undefined>>,
): Setting<T> | undefined {
  const text = row.env && env[row.env];
  return row.env && text ? settingOf(row, text, { place: 'environment', name: row.env }) : undefined;
}

export function fileOrigin(key: string, file: Pick<ConfigFile, 'place' | 'path'>): Origin {
  return { place: file.place, name: `${key} in ${file.path}`, folder: dirname(file.path) };
}

/**
 * Parses the text of a flag, a variable or a table cell.
 * @throws TtsError (usage)
 */
export function settingOf<T>(row: Option<T>, text: string | readonly string[], origin: Origin): Setting<T> {
  return { value: checkedValue(row, fromText(row.schema, text), origin), origin };
}

/**
 * @param data the raw value from a config file
 * @throws TtsError (usage), as in `--sample-rate must be 8000 or more, and is 7000`
 */
export function checkedValue<T>(row: Option<T>, data: unknown, origin: Origin): T {
  const result = check(row.schema, data);
  if ('value' in result) return result.value;
  const { path, problem, found } = result;
  const where = path === '' || row.isSecret ? origin.name : `${path} of ${origin.name}`;
  const { shown = describedValue, isSecret, flags = row.key ?? row.env, help } = row;
  const saysWhatIsExpected = problem.startsWith('must');
  const value = saysWhatIsExpected && !isSecret ? `, and is ${shown(found)}` : '';
  throw new TtsError(`${where} ${problem}${value}`, {
    exitCode: ExitCode.usage,
    hint:
      valueHint(row.key ?? longFlag(row).slice(2), found) ??
      nearestChoice(row.schema, found) ??
      (saysWhatIsExpected ? undefined : `${flags}: ${help}`),
  });
}

function nearestChoice(schema: Schema, found: unknown): string | undefined {
  const nearest = typeof found === 'string' ? nearestName(found, choicesOf(schema) ?? []) : undefined;
  return nearest && `did you mean ${nearest}?`;
}

/** Returns the flag as typed: a switch may be set with `--no-`. */
function flagName(row: Option, raw: unknown): string {
  const long = longFlag(row);
  if (raw === true) return long.replace('--no-', '--');
  return raw === false && !long.startsWith('--no-') ? long.replace('--', '--no-') : long;
}

export function chooseProxy(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
  address: URL,
): { url: URL; except: string; origin: Origin } | undefined {
  const { proxy } = settings;
  const chosen = proxy?.origin.place === 'option' ? proxy : (proxyFromEnvironment(env, address) ?? proxy);
  return chosen && { url: chosen.value, except: env.no_proxy || env.NO_PROXY || '', origin: chosen.origin };
}

function proxyFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  address: URL,
): Setting<URL> | undefined {
  const upper = address.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const name = env[upper.toLowerCase()] ? upper.toLowerCase() : upper;
  const text = env[name];
  if (!text) return undefined;
  const value = readProxy(text.includes('://') ? text : `http://${text}`);
  if (value) return { value, origin: { place: 'environment', name } };
  throw usageError(`${name} must be ${PROXY}, and is ${hostOnly(text)}`, `correct or unset ${name}`);
}

/** Applies the options that `--assistant` implies, except those that are set explicitly. */
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

/** Splits a setting with several names into settings with one name each. */
export function singleNames({ value, origin }: Setting<readonly string[]>): readonly Setting<string>[] {
  return value.map((name) => ({ value: name, origin }));
}

/**
 * Resolves a file name, relative to the folder of its config file.
 * @param byYourself for the hint: how users can name the file themselves
 * @throws TtsError (usage) if a project's config names a file outside the project, which it could send to its own server
 */
export function namedFile(
  { value, origin }: Setting<string>,
  { cwd, home }: Pick<Host, 'cwd' | 'home'>,
  byYourself: string,
): string {
  const name = fromHome(value, home);
  const path = found(name, origin, () => pathOf(resolve(cwd, origin.folder ?? ''), name));
  if (origin.place !== 'project') return path;
  // A cloned repository may contain links to any file.
  const real = found(path, origin, () => realpathSync(path));
  if (!isWithin(projectOf(origin), real))
    throw usageError(
      `${origin.name} lies outside of that project`,
      `name it yourself, with ${byYourself} or in your own config`,
    );
  // Only a regular file: a pipe in a project may never end.
  if (statSync(real).isFile()) return path;
  throw usageError(
    `${origin.name} is not a regular file`,
    `name it yourself, with ${byYourself} or in your own config`,
  );
}

/** Returns the project folder of a config file, which is the parent of a `.config` folder. */
function projectOf({ folder = '' }: Origin): string {
  return realpathSync(basename(folder) === '.config' ? dirname(folder) : folder);
}

function found(path: string, { name }: Origin, find: () => string): string {
  try {
    return find();
  } catch (cause) {
    throw usageError(
      `there is no ${path} (${name})`,
      'correct the name, or name another file yourself',
      cause,
    );
  }
}

/** Permission bits that let users other than the owner read a file. */
const READ_BY_OTHERS = 0o044;

/** Finds files with a key that other users can read; none on Windows, which has no such permissions. */
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
