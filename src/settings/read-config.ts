import { dirname } from 'node:path';
import { usageError } from '../error.ts';
import { isObject } from '../is-object.ts';
import { readData, readPipedData } from './config-data.ts';
import type { ConfigFile, Hide } from './config-file.ts';
import type { ConfigPath } from './config-places.ts';
import { keyHint } from './nearest.ts';
import { quoted } from './quoted.ts';
import { fileOrigin, refused } from './resolve.ts';
import { type Rule, rules } from './rules.ts';

/**
 * The checked contents of a config file. One that is empty, or holds comments only, is one without values.
 * @throws TtsError (usage) naming the file, the key and the nearest right name
 */
export function readConfig(file: ConfigPath, hide: Hide): ConfigFile {
  return checked(file, readData(file.path), hide);
}

/** The same of a pipe or a device. */
export async function readPipedConfig(
  file: ConfigPath,
  { hide, signal }: { readonly hide: Hide; readonly signal: AbortSignal },
): Promise<ConfigFile> {
  return checked(file, await readPipedData(file.path, signal), hide);
}

function checked({ path, place }: ConfigPath, read: unknown, hide: Hide): ConfigFile {
  const config = read ?? {};
  if (!isObject(config))
    throw usageError(`${path} holds no settings`, 'it has to be a JSON object or a YAML mapping');
  for (const secret of secretsIn(config)) hide(secret);
  const values = Object.entries(config).map(([key, said]) => [key, checkedValue(key, said, { path, place })]);
  return { path, folder: dirname(path), place, values: Object.fromEntries(values) };
}

/** Also in a file in which something is wrong, which an error quotes. */
function secretsIn({ apiKey, keys }: { readonly apiKey?: unknown; readonly keys?: unknown }): string[] {
  const said = [apiKey, ...(isObject(keys) ? Object.values(keys) : [])];
  return said.filter((secret) => typeof secret === 'string').map((secret) => secret.trim());
}

const byKey = new Map(
  Object.values<Rule<unknown>>(rules).flatMap((rule) =>
    rule.key === undefined ? [] : [[rule.key, rule] as const],
  ),
);

function checkedValue(key: string, said: unknown, file: ConfigPath): unknown {
  const rule = byKey.get(key);
  if (!rule) throw usageError(`unknown key ${quoted(key)} in ${file.path}`, keyHint(key, [...byKey.keys()]));
  if (rule.userOnly && file.place === 'project')
    throw usageError(
      `${key} may not be set in ${file.path}`,
      `set ${key} in your own config: a project's file may come from somebody else`,
    );
  const value = rule.kind.data(said);
  if (value === undefined) throw refused(rule, said, fileOrigin(key, file));
  return value;
}
