import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { usageError } from '../error.ts';
import { fromHome, pathOf } from '../files/paths.ts';
import type { Host } from '../host.ts';
import { keyHint } from '../nearest.ts';
import { readData, readPipedData } from './config-data.ts';
import type { ConfigPath } from './config-places.ts';
import { describedValue } from './kind.ts';
import { type ConfigFile, fileOrigin, refused } from './resolve.ts';
import { type Rule, rules } from './rules.ts';
import { isObject } from './special-kinds.ts';

export type Hide = (secret: string) => void;

/** @throws TtsError (usage) with the file and the key */
export function readConfig(file: ConfigPath, hide: Hide): ConfigFile {
  return checked(file, readData(file.path), hide);
}

/** A file of stored keys has only them. */
export function readKeys(file: ConfigPath, hide: Hide): ConfigFile {
  return checked(file, { keys: readData(file.path) ?? {} }, hide);
}

function checked(file: ConfigPath, read: unknown, hide: Hide): ConfigFile {
  const { path, place } = file;
  const config = read ?? {};
  if (!isObject(config))
    throw usageError(`${path} holds no settings`, 'it has to be a JSON object or a YAML mapping');
  for (const secret of secretsIn(config)) hide(secret);
  const values = Object.entries(config).map(([key, raw]) => [key, checkedValue(key, raw, file)]);
  return { path, folder: dirname(path), place, values: Object.fromEntries(values) };
}

/** The secrets of a file with errors are hidden, too: messages may quote the file. */
function secretsIn(config: object): string[] {
  const { apiKey, keys, engines } = config as Readonly<Record<string, unknown>>;
  const ofEngines = isObject(engines) ? Object.values(engines).map((engine) => engine?.key) : [];
  const raw = [apiKey, ...ofEngines, ...(isObject(keys) ? Object.values(keys) : [])];
  return raw.filter((secret) => typeof secret === 'string').map((secret) => secret.trim());
}

const byKey = new Map(
  Object.values<Rule<unknown>>(rules).flatMap((rule) =>
    rule.key === undefined ? [] : [[rule.key, rule] as const],
  ),
);

function checkedValue(key: string, raw: unknown, file: ConfigPath): unknown {
  const rule = byKey.get(key);
  if (!rule)
    throw usageError(`unknown key ${describedValue(key)} in ${file.path}`, keyHint(key, [...byKey.keys()]));
  if (rule.userOnly && file.place === 'project')
    throw usageError(
      `${key} may not be set in ${file.path}`,
      `set ${key} in your own config: a project's file may come from somebody else`,
    );
  const value = rule.kind.data(raw);
  if (value === undefined) throw refused(rule, raw, fileOrigin(key, file));
  if (file.place === 'project' && rule.projectMay && !rule.projectMay(value))
    throw usageError(
      `${key} in ${file.path} may be a name only, and not ${describedValue(raw)}`,
      `name it in your own config or on the command line: a project's file may come from somebody else`,
    );
  if (file.isForeign && rule.startsProgram?.(value))
    throw usageError(
      `${key} in ${file.path} starts a program, and the file belongs to another user`,
      'set HOME to your own folder; if you trust the file, name it with --config',
    );
  return rule.located?.(value, (name) => fromFolder(dirname(file.path), name)) ?? value;
}

/** A name that begins with `~` is completed later. */
function fromFolder(folder: string, name: string): string {
  return /^~[/\\]/.test(name) ? name : resolve(folder, name);
}

type Place = Pick<Host, 'cwd' | 'home'>;

export async function loadNamed(
  name: string,
  host: Place,
  { hide, signal }: { readonly hide: Hide; readonly signal: AbortSignal },
): Promise<ConfigFile> {
  if (name === '') throw usageError('--config: "" is not the name of a file', 'name a file with settings');
  const named = { path: located(name, host), place: 'user' as const };
  if (!isPiped(named.path)) return readConfig(named, hide);
  return checked(named, await readPipedData(named.path, signal), hide);
}

function located(name: string, { cwd, home }: Place): string {
  try {
    return pathOf(cwd, fromHome(name, home));
  } catch (cause) {
    throw usageError(`there is no ${name}`, 'correct the name, or name another file with --config', cause);
  }
}

function isPiped(path: string): boolean {
  try {
    const stats = statSync(path);
    return !stats.isFile() && !stats.isDirectory();
  } catch {
    return false;
  }
}
