/** Finds config files. They are never executed, and files that other users put into shared folders are ignored. */
import { lstatSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { codeOf, usageError } from '../kit/error.ts';
import { belongsToUserOrRoot, leadsBelow } from '../kit/guard.ts';
import type { Host } from '../kit/host.ts';

export interface ConfigPath {
  readonly path: string;
  /** A file of a project is not trusted: it may come from someone else. */
  readonly place: 'project' | 'user';
  /** True if another user owns the file, for example after `sudo -E`: it may not name programs to run. */
  readonly isForeign?: boolean;
}

const WRITTEN_BY_ALL = 0o002;

const ENDINGS = ['', '.json', '.yaml', '.yml'];
/** Config files of a project, in order of precedence within a folder. None of them is executed. */
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

/** Finds ignored files that users may take for a config, as cosmiconfig and similar tools read them. Lists folders only. */
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

/** @param names file names without extension */
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

/** Returns the names of regular files, without links and pipes. */
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

/** Returns XDG_CONFIG_HOME, unless it is relative, which is invalid (XDG Base Directory Specification 0.8). */
function xdgFolder({ XDG_CONFIG_HOME: folder }: Host['env']): string | undefined {
  return folder && isAbsolute(folder) ? folder : undefined;
}

export function userPlaces(host: Pick<Host, 'env' | 'home' | 'platform'>): string[] {
  const folder = userFolder(host);
  if (folder === undefined) return [];
  return ['config.json', 'config.yaml', 'config.yml'].map((name) => join(folder, name));
}

/** Returns the path of the file where `tts login` stores keys. */
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
 * @returns config files, those of the nearest folder first
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
        isForeign: !belongsToUserOrRoot(statSync(path), host.uid),
      })),
  ];
}

/** Returns the config files of a folder; if all users may write to it, only those of this user or root. */
function filesIn(folder: string, uid: number | undefined): string[] {
  const beginning = join(folder, sep);
  const files = PROJECT_PLACES.map((place) => beginning + place).filter(isFile);
  if (files.length === 0) return files;
  const isShared = uid !== undefined && (statSync(folder).mode & WRITTEN_BY_ALL) !== 0;
  const isOwn = (stats: Stats) => belongsToUserOrRoot(stats, uid);
  // Check links, too: another user's link could lead to any file of this user.
  const own = isShared ? files.filter((path) => isOwn(lstatSync(path)) && isOwn(statSync(path))) : files;
  return own.filter((path) => isInside(folder, path));
}

/**
 * Returns whether a config file is really inside its folder, so that a link in a clone cannot use another project's settings
 * or key. A linked package.json is only ignored, as build tools make such links.
 * @throws TtsError (usage) for any other linked file
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

/** True if the config folder belongs to another user, for example after `su`. */
function isForeign({ env, home = '', uid }: Pick<Host, 'env' | 'home' | 'uid'>): boolean {
  if (uid === undefined) return false;
  try {
    return statSync(xdgFolder(env) ?? home).uid !== uid;
  } catch {
    return true;
  }
}

/** True for a file; an unreadable place in a project counts as empty. */
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

/** Bytes. A larger package.json is ignored. */
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
