/** Where config files are. None of them is run, and other users cannot put one into a folder of this user. */
import { lstatSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { codeOf, usageError } from '../kit/error.ts';
import { isUsersOrRoots, leadsBelow } from '../kit/guard.ts';
import type { Host } from '../kit/host.ts';

export interface ConfigPath {
  readonly path: string;
  /** A project's file is not trusted. */
  readonly place: 'project' | 'user';
  /** HOME belongs to another user, for example after `sudo -E`: no program that the file names is run. */
  readonly isForeign?: boolean;
}

const WRITTEN_BY_ALL = 0o002;

const ENDINGS = ['', '.json', '.yaml', '.yml'];
/** The names stand in the order in which they count in a folder. None of these files is run. */
export const PROJECT_PLACES = [
  'package.json',
  ...ENDINGS.map((ending) => `.ttsrc${ending}`),
  ...ENDINGS.map((ending) => join('.config', `ttsrc${ending}`)),
  'tts.config.json',
];

export interface UnreadConfig {
  readonly path: string;
  readonly why: string;
}

/** Files that somebody may take for a config, since cosmiconfig and its like read them. Only folders are listed to find them. */
export function unreadConfigs(host: Pick<Host, 'cwd' | 'env' | 'home' | 'platform'>): UnreadConfig[] {
  const folder = userFolder(host);
  return [
    ...[...foldersUpwards(host.cwd)].flatMap((above) => [
      ...unreadIn(above, ['.ttsrc', 'tts.config']),
      ...unreadManifest(above),
      ...unreadIn(join(above, '.config'), ['ttsrc']),
    ]),
    ...(folder === undefined ? [] : unreadIn(folder, ['config'])),
  ];
}

/** @param names the names without their endings */
function unreadIn(folder: string, names: readonly string[]): UnreadConfig[] {
  return [...filesOf(folder)].sort().flatMap((file) => {
    const [, name = '', ending = ''] = /^(.*)\.(\w+)$/.exec(file) ?? [];
    const why = names.includes(name) ? whyUnread(name, ending) : undefined;
    return why === undefined ? [] : [{ path: join(folder, file), why }];
  });
}

function whyUnread(name: string, ending: string): string | undefined {
  if (/^[cm]?[jt]s$/.test(ending)) return 'a config is data, and no code is run: use JSON or YAML';
  if (/^(?:toml|json5|jsonc)$/.test(ending)) return 'use JSON or YAML';
  return name === 'tts.config' && /^ya?ml$/.test(ending)
    ? `call it .ttsrc.${ending}, or tts.config.json with JSON in it`
    : undefined;
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
export function findKeys(host: Host): ConfigPath | undefined {
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
      .map((path) => ({
        path,
        place: 'user' as const,
        isForeign: !isUsersOrRoots(statSync(path), host.uid),
      })),
  ];
}

/** Files of other users do not count in a folder that all users may write. */
function filesIn(folder: string, uid: number | undefined): string[] {
  const beginning = join(folder, sep);
  const files = PROJECT_PLACES.map((place) => beginning + place).filter(isFile);
  if (files.length === 0) return files;
  const isShared = uid !== undefined && (statSync(folder).mode & WRITTEN_BY_ALL) !== 0;
  const isOwn = (stats: Stats) => isUsersOrRoots(stats, uid);
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
