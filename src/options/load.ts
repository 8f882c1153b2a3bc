import { lstatSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { codeOf, ExitCode, TtsError, usageError } from '../kit/error.ts';
import { fromHome, pathOf } from '../kit/folders.ts';
import { isWithin, leadsBelow } from '../kit/guard.ts';
import { valueHint } from '../kit/hints.ts';
import type { Host, RunContext } from '../kit/host.ts';
import { check, choicesOf, fromText, type Schema } from '../kit/schema.ts';
import { nearestName } from '../kit/words.ts';
import type { EngineEntry } from './engine-entry.ts';
import { describedValue, hostOnly, PROXY, readProxy } from './kinds.ts';
import { longFlag, type Option } from './option.ts';
import { type Name, names, rowOf, rows, type Value } from './rows.ts';

export interface ConfigPath {
  readonly path: string;
  /** A project's file is not trusted. */
  readonly place: 'project' | 'user';
  /** HOME belongs to another user, for example after `sudo -E`: no program that the file names is run. */
  readonly isForeign?: boolean;
}

const WRITTEN_BY_ALL = 0o002;
const ROOT = 0;

const ENDINGS = ['', '.json', '.yaml', '.yml'];
/** The names stand in the order in which they count in a folder. None of these files is run. */
export const PROJECT_PLACES = [
  'package.json',
  ...ENDINGS.map((ending) => `.ttsrc${ending}`),
  ...ENDINGS.map((ending) => join('.config', `ttsrc${ending}`)),
  'tts.config.json',
];

/** Endings that cosmiconfig and its like read, and `tts` does not. */
const CODE = ['js', 'cjs', 'mjs', 'ts', 'cts', 'mts'];
const UNREAD_ENDINGS: readonly (readonly [ending: string, why: string])[] = [
  ...CODE.map((ending) => [ending, 'a config is data, and no code is run: use JSON or YAML'] as const),
  ...['toml', 'json5', 'jsonc'].map((ending) => [ending, 'use JSON or YAML'] as const),
];
const UNREAD_PLACES: readonly (readonly [name: string, why: string])[] = [
  ...['.ttsrc', 'tts.config'].flatMap((name) =>
    UNREAD_ENDINGS.map(([ending, why]) => [`${name}.${ending}`, why] as const),
  ),
  ...['yaml', 'yml'].map(
    (ending) =>
      [`tts.config.${ending}`, `call it .ttsrc.${ending}, or tts.config.json with JSON in it`] as const,
  ),
];
const UNREAD_IN_CONFIG = UNREAD_ENDINGS.map(([ending, why]) => [`ttsrc.${ending}`, why] as const);

export interface UnreadConfig {
  readonly path: string;
  readonly why: string;
}

/** Files that somebody may take for a config, since other tools read such files. Only folders are listed to find them. */
export function unreadConfigs(host: Pick<Host, 'cwd' | 'env' | 'home' | 'platform'>): UnreadConfig[] {
  const folder = userFolder(host);
  const own = UNREAD_ENDINGS.map(([ending, why]) => [`config.${ending}`, why] as const);
  return [
    ...[...foldersUpwards(host.cwd)].flatMap((above) => [
      ...unreadIn(above, UNREAD_PLACES),
      ...unreadManifest(above),
      ...unreadIn(join(above, '.config'), UNREAD_IN_CONFIG),
    ]),
    ...(folder === undefined ? [] : unreadIn(folder, own)),
  ];
}

function unreadIn(folder: string, places: typeof UNREAD_PLACES): UnreadConfig[] {
  const names = filesOf(folder);
  return places.filter(([name]) => names.has(name)).map(([name, why]) => ({ path: join(folder, name), why }));
}

function unreadManifest(folder: string): UnreadConfig[] {
  const path = join(folder, 'package.yaml');
  if (!filesOf(folder).has('package.yaml') || !namesTts(path)) return [];
  return [{ path, why: 'its key tts is read in package.json only' }];
}

/** Regular files: no link and no pipe is followed. */
function filesOf(folder: string): ReadonlySet<string> {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
  } catch {
    return new Set();
  }
}

function namesTts(path: string): boolean {
  try {
    return (
      statSync(path).size <= LONGEST_MANIFEST && /^["']?tts["']?[ \t]*:/mu.test(readFileSync(path, 'utf8'))
    );
  } catch {
    return false;
  }
}

export function userFolder({
  env,
  home,
  platform,
}: Pick<Host, 'env' | 'home' | 'platform'>): string | undefined {
  const xdg = xdgFolder(env);
  if (xdg !== undefined) return join(xdg, 'tts');
  if (platform === 'win32' && env.APPDATA) return join(env.APPDATA, 'tts');
  if (home === undefined) return undefined;
  if (platform === 'win32') return join(home, 'AppData', 'Roaming', 'tts');
  if (platform === 'darwin') return join(home, 'Library', 'Preferences', 'tts');
  return join(home, '.config', 'tts');
}

/** Relative paths are invalid (XDG Base Directory Specification 0.8). */
function xdgFolder({ XDG_CONFIG_HOME: folder }: Host['env']): string | undefined {
  return folder && isAbsolute(folder) ? folder : undefined;
}

export function userPlaces(host: Pick<Host, 'env' | 'home' | 'platform'>): string[] {
  const folder = userFolder(host);
  if (folder === undefined) return [];
  return ['config.json', 'config.yaml', 'config.yml'].map((name) => join(folder, name));
}

/** Where `tts login` keeps keys. */
export function keysPlace(host: Pick<Host, 'env' | 'home' | 'platform'>): string | undefined {
  const folder = userFolder(host);
  return folder && join(folder, 'keys.json');
}

/** @throws TtsError (usage) if the user's folder cannot be searched */
function findKeys(host: Host): ConfigPath | undefined {
  const path = keysPlace(host);
  return path !== undefined && isOwnFile(path, host) ? { path, place: 'user' } : undefined;
}

/**
 * @returns the files, the nearest first
 * @throws TtsError (usage) if the user's folder cannot be searched
 */
export function findConfig(host: Host): ConfigPath[] {
  const project = [...foldersUpwards(host.cwd)]
    .flatMap((folder) => filesIn(folder, host.uid))
    .filter((path) => !path.endsWith('package.json') || mentionsTts(path));
  return [
    ...project.map((path) => ({ path, place: 'project' as const })),
    ...userPlaces(host)
      .filter((path) => isOwnFile(path, host))
      .map((path) => ({ path, place: 'user' as const, isForeign: isOfOther(path, host.uid) })),
  ];
}

/** Files of other users do not count in a folder that all users may write. */
function filesIn(folder: string, uid: number | undefined): string[] {
  const beginning = join(folder, sep);
  const files = PROJECT_PLACES.map((place) => beginning + place).filter(isFile);
  if (files.length === 0) return files;
  const isShared = uid !== undefined && (statSync(folder).mode & WRITTEN_BY_ALL) !== 0;
  const isOwn = (stats: Stats) => uid === undefined || !isOther(stats, uid);
  // The link of another user could lead to any file of this user.
  const own = isShared ? files.filter((path) => isOwn(lstatSync(path)) && isOwn(statSync(path))) : files;
  return own.filter((path) => isInside(folder, path));
}

/**
 * What another project says, its key too, does not count in a clone that has a link to it. A package.json is left out:
 * build tools link it.
 * @throws TtsError (usage) for another file
 */
function isInside(folder: string, path: string): boolean {
  if (leadsBelow(realpathSync.native(folder), path)) return true;
  if (path.endsWith('package.json')) return false;
  throw usageError(
    `${path} leads out of its folder through a symbolic link`,
    'remove the link, or name the file that it leads to with --config',
  );
}

function isOfOther(path: string, uid: number | undefined): boolean {
  return uid !== undefined && isOther(statSync(path), uid);
}

function isOther(owner: Stats, uid: number): boolean {
  return owner.uid !== uid && owner.uid !== ROOT;
}

function* foldersUpwards(folder: string): Generator<string> {
  yield folder;
  const parent = dirname(folder);
  if (parent !== folder) yield* foldersUpwards(parent);
}

const NOWHERE = new Set(['ENOTDIR', 'ENAMETOOLONG']);

function isOwnFile(path: string, host: Pick<Host, 'env' | 'home' | 'uid'>): boolean {
  try {
    return isThere(path);
  } catch (cause) {
    if (NOWHERE.has(codeOf(cause)) || isForeign(host)) return false;
    throw usageError(
      `cannot read the settings in ${path}`,
      'check its permissions and those of its folder, or name another file with --config',
      cause,
    );
  }
}

/** HOME may be another user's, for example after `su`. */
function isForeign({ env, home = '', uid }: Pick<Host, 'env' | 'home' | 'uid'>): boolean {
  if (uid === undefined) return false;
  try {
    return statSync(xdgFolder(env) ?? home).uid !== uid;
  } catch {
    return true;
  }
}

/** A place in a project that cannot be read counts as empty. */
function isFile(path: string): boolean {
  try {
    return isThere(path);
  } catch {
    return false;
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Bytes. A longer package.json is not read. */
const LONGEST_MANIFEST = 1024 * 1024;

function mentionsTts(path: string): boolean {
  try {
    if (statSync(path).size > LONGEST_MANIFEST) return false;
    const text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
    return text.includes('"tts"') && hasSettings(text);
  } catch (cause) {
    throw usageError(
      `cannot read ${path}`,
      'check its permissions, or name a config file with --config',
      cause,
    );
  }
}

function hasSettings(manifest: string): boolean {
  try {
    return Object.hasOwn(JSON.parse(manifest), 'tts');
  } catch {
    return true;
  }
}

/** What commander read: a text, several texts, or true and false of a switch. By the names of the options. */
export type Flags = Readonly<Record<string, unknown>>;

export interface ConfigFile {
  readonly path: string;
  /** Relative paths begin here. */
  readonly folder: string;
  readonly place: ConfigPath['place'];
  /** They are checked, and as their schemas make them. */
  readonly values: Readonly<Record<string, unknown>>;
}

export interface SettingSources {
  readonly flags: Flags;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly files?: readonly ConfigFile[];
}

export type Settings = {
  readonly [N in Name]: (typeof rows)[N] extends { readonly fallback: unknown }
    ? Setting<Value<N>>
    : Setting<Value<N>> | undefined;
};

/**
 * Takes each setting from the strongest place that has it.
 * @throws TtsError (usage) with the value, its origin and what is wrong with it
 */
export function resolveSettings(sources: SettingSources): Settings {
  return Object.fromEntries(names.map((name) => [name, resolved(name, rowOf(name), sources)])) as Settings;
}

function resolved(name: Name, row: Option, sources: SettingSources): Setting<unknown> | undefined {
  const said = saidOf(row, sources.flags[name], sources);
  const { value: strongest } = said.next();
  if (!strongest) return row.fallback === undefined ? undefined : { value: row.fallback, origin: DEFAULT };
  if (!row.merge) return strongest;
  return { ...strongest, value: row.merge([strongest, ...said].map(({ value }) => value)) };
}

/** What the places say, the strongest first. A weaker one is not looked at where it does not count. */
function* saidOf(
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

/** An empty variable counts as not set. */
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
 * Reads the text of a flag, a variable or a cell of a table.
 * @throws TtsError (usage)
 */
export function settingOf<T>(row: Option<T>, text: string | readonly string[], origin: Origin): Setting<T> {
  return { value: checkedValue(row, fromText(row.schema, text), origin), origin };
}

/**
 * @param data as a config file has it
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

/** A switch is named as it was typed. */
function flagName(row: Option, raw: unknown): string {
  const long = longFlag(row);
  if (raw === true) return long.replace('--no-', '--');
  return raw === false && !long.startsWith('--no-') ? long.replace('--', '--no-') : long;
}

const places = ['option', 'environment', 'project', 'user', 'default'] as const;
type SettingPlace = (typeof places)[number];

export interface Origin {
  readonly place: SettingPlace;
  /** It reads `--speaker`, `TTS_SPEAKER`, or `speaker in /home/anna/.ttsrc`. */
  readonly name: string;
  /** Relative paths begin here. */
  readonly folder?: string | undefined;
}

export interface Setting<T> {
  readonly value: T;
  readonly origin: Origin;
}

export function outranks(a: Origin, b: Origin): boolean {
  return places.indexOf(a.place) < places.indexOf(b.place);
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

export type Hide = (secret: string) => void;

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
  const settings = resolveSettings({ flags, env: host.env, files });
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
    for (const name of [setting?.value].flat()) if (typeof name === 'string') yield name;
}

export function configName(flags: Flags, env: RunContext['host']['env']): string | undefined {
  const named = flags.config ?? fromEnvironment(rows.config, env)?.value;
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
  // The parsers load only where there is a file.
  const { loadNamed, readConfig, readKeys } = await import('./config-file.ts');
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

/** The settings of the single names. */
export function singleNames({ value, origin }: Setting<readonly string[]>): readonly Setting<string>[] {
  return value.map((name) => ({ value: name, origin }));
}

/**
 * A relative name counts from the folder of its config file.
 * @param byYourself the advice how a user names the file
 * @throws TtsError (usage) for a project's name of a file outside: its contents would go to a server of the project's choice
 */
export function namedFile(
  { value, origin }: Setting<string>,
  { cwd, home }: Pick<Host, 'cwd' | 'home'>,
  byYourself: string,
): string {
  const name = fromHome(value, home);
  const path = found(name, origin, () => pathOf(resolve(cwd, origin.folder ?? ''), name));
  if (origin.place !== 'project') return path;
  // A clone may contain links to any place.
  const real = found(path, origin, () => realpathSync(path));
  if (!isWithin(projectOf(origin), real))
    throw usageError(
      `${origin.name} lies outside of that project`,
      `name it yourself, with ${byYourself} or in your own config`,
    );
  // Only a regular file is read: a pipe in a project may never end.
  if (statSync(real).isFile()) return path;
  throw usageError(
    `${origin.name} is not a regular file`,
    `name it yourself, with ${byYourself} or in your own config`,
  );
}

/** The project of a file in `.config` is the folder around it. */
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
