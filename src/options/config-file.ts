import { basename, dirname, extname } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { defaultLoadersSync } from 'cosmiconfig';
import { codeOf, TtsError, usageError } from '../kit/error.ts';
import { fromHome, pathOf, reasonUnread } from '../kit/folders.ts';
import type { Host } from '../kit/host.ts';
import { keyHint } from '../kit/words.ts';
import { readSmall } from '../read/source.ts';
import type { ConfigPath } from './config-places.ts';
import { describedValue, isObject } from './kinds.ts';
import { type ConfigFile, checkedValue, fileOrigin, type Hide } from './load.ts';
import { names, rowOf } from './rows.ts';

export interface ReadOptions {
  readonly hide: Hide;
  readonly signal: AbortSignal;
}

/** @throws TtsError (usage) with the file and the key */
export async function readConfig(file: ConfigPath, { hide, signal }: ReadOptions): Promise<ConfigFile> {
  return checked(file, await readData(file.path, signal), hide);
}

/** Reads the file of stored keys, which contains nothing else. */
export async function readKeys(file: ConfigPath, { hide, signal }: ReadOptions): Promise<ConfigFile> {
  const remedy = 'correct the file, or remove it: tts login writes it again';
  return checked(file, { keys: (await readData(file.path, signal, remedy)) ?? {} }, hide);
}

function checked(file: ConfigPath, read: unknown, hide: Hide): ConfigFile {
  const { path, place } = file;
  const config = read ?? {};
  if (!isObject(config))
    throw usageError(`${path} holds no settings`, 'it has to be a JSON object or a YAML mapping');
  for (const secret of secretsIn(config)) hide(secret);
  const values = Object.entries(config).map(([key, raw]) => [key, settingIn(key, raw, file)]);
  return { path, folder: dirname(path), place, values: Object.fromEntries(values) };
}

/** Returns the secrets before the file is checked, as error messages may quote it. */
function secretsIn(config: object): string[] {
  const raw = Object.entries(config).flatMap(([key, value]) => {
    if (key === 'engines') return isObject(value) ? Object.values(value).map((engine) => engine?.key) : [];
    if (!byKey.get(key)?.isSecret) return [];
    return isObject(value) ? Object.values(value) : [value];
  });
  return raw.filter((secret) => typeof secret === 'string').map((secret) => secret.trim());
}

const byKey = new Map(
  names.map(rowOf).flatMap((row) => (row.key === undefined ? [] : [[row.key, row] as const])),
);

function settingIn(key: string, raw: unknown, file: ConfigPath): unknown {
  const row = byKey.get(key);
  if (!row)
    throw usageError(`unknown key ${describedValue(key)} in ${file.path}`, keyHint(key, [...byKey.keys()]));
  if (row.setBy === 'user' && file.place === 'project')
    throw usageError(
      `${key} may not be set in ${file.path}`,
      `set ${key} in your own config: a project's file may come from somebody else`,
    );
  const value = checkedValue(row, raw, fileOrigin(key, file));
  if (file.place === 'project' && typeof row.setBy === 'function' && !row.setBy(value))
    throw usageError(
      key === 'speakers'
        ? `${key} in ${file.path} may name no reference, which is a file with a voice`
        : `${key} in ${file.path} may be a name only, and not ${describedValue(raw)}`,
      `name it in your own config or on the command line: a project's file may come from somebody else`,
    );
  if (file.isForeign && row.startsProgram?.(value))
    throw usageError(
      `${key} in ${file.path} starts a program, and the file belongs to another user`,
      'set HOME to your own folder; if you trust the file, name it with --config',
    );
  return row.relativeTo?.(value, dirname(file.path)) ?? value;
}

type ConfigPlace = Pick<Host, 'cwd' | 'home'>;

export async function loadNamed(name: string, host: ConfigPlace, options: ReadOptions): Promise<ConfigFile> {
  if (name === '') throw usageError('--config: "" is not the name of a file', 'name a file with settings');
  return readConfig({ path: located(name, host), place: 'user' }, options);
}

function located(name: string, { cwd, home }: ConfigPlace): string {
  try {
    return pathOf(cwd, fromHome(name, home));
  } catch (cause) {
    throw usageError(`there is no ${name}`, 'correct the name, or name another file with --config', cause);
  }
}

/** Bytes, or UTF-16 units for a pipe. A parser needs many times the size of the file. */
const LONGEST_CONFIG = 1024 * 1024;

/**
 * Parses a config file; of a package.json, only `tts` is returned.
 * @returns `undefined` or `null` for a file without settings
 * @throws TtsError (usage) with the file, and the line if known
 */
async function readData(
  path: string,
  signal: AbortSignal,
  remedy = 'correct the file, or name another with --config',
): Promise<unknown> {
  if (!['', '.json', '.yaml', '.yml'].includes(extname(path)))
    throw usageError(
      `${path} is not read`,
      'settings are data: a file that ends in .json, .yaml or .yml, or has no ending',
    );
  try {
    const data = parse(path, await readSmall(path, LONGEST_CONFIG, () => tooLong(path), signal));
    return basename(path) === 'package.json' && isObject(data)
      ? (data as { readonly tts?: unknown }).tts
      : data;
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof TtsError) throw cause;
    throw usageError(`cannot read the settings in ${path}: ${reasonOf(cause as Error)}`, remedy);
  }
}

/** Returns a safe reason: the parser's message quotes the file, which may hold a key, and may have colour codes. */
function reasonOf(cause: Error): string {
  if (codeOf(cause) !== '') return reasonUnread(cause);
  const { message } = cause;
  const language = message.startsWith('JSON') ? 'JSON' : 'YAML';
  const line = /(?:^> |\(|\(line )(\d+)(?: \||:\d+\)$| column)/m.exec(stripVTControlCharacters(message))?.[1];
  return line === undefined ? `no valid ${language}` : `no valid ${language} in line ${line}`;
}

/** Uses only cosmiconfig's loaders: its search would execute a `.config/config.js` of the working folder. */
function parse(path: string, content: string): unknown {
  if (content.trim() === '') return undefined;
  const data = defaultLoadersSync[extname(path) === '.json' ? '.json' : '.yaml'](path, content);
  if (isObject(data) && Object.hasOwn(data, '$import'))
    throw usageError(`$import in ${path} is not supported`, 'write the settings into the file itself');
  return data;
}

function tooLong(path: string): TtsError {
  return usageError(
    `${path} is longer than ${LONGEST_CONFIG} bytes`,
    'a config file holds settings alone: correct it, or name another with --config',
  );
}
