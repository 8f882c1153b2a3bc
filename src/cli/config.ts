import { withoutLogin } from '../kit/address.ts';
import { ExitCode } from '../kit/error.ts';
import type { Host } from '../kit/host.ts';
import { printable, visible } from '../kit/words.ts';
import {
  findConfig,
  PROJECT_PLACES,
  type UnreadConfig,
  unreadConfigs,
  userPlaces,
} from '../options/config-places.ts';
import { keyOrigin } from '../options/keys.ts';
import {
  chooseProxy,
  configName,
  type LoadedSettings,
  loadSettings,
  type Origin,
  type Settings,
} from '../options/load.ts';
import { type Name, names, rowOf, type Value } from '../options/rows.ts';
import type { CommandLine, Context } from './commands.ts';

export async function run(line: CommandLine, context: Context): Promise<number> {
  const { host, notices } = context;
  const settled = await loadSettings(line, context).catch((error) => {
    if (!notices.json) notices.result(filesInWords(filesOf(line.flags, undefined, host)));
    throw error;
  });
  const rows = rowsOf(settled.settings, host);
  const files = filesOf(line.flags, settled, host);
  notices.result(
    notices.json
      ? { settings: inJson(rows), files }
      : [...rows.map(rowInWords), '', filesInWords(files)].join('\n'),
  );
  return ExitCode.ok;
}

interface SettingRow {
  readonly name: Name;
  readonly value: unknown;
  readonly origin: Origin | undefined;
}

function rowsOf(settings: Settings, host: Host): SettingRow[] {
  const shown = names.filter((name) => rowOf(name).key !== undefined || rowOf(name).env !== undefined);
  const used = { ...settings, proxy: proxyOf(settings, host), apiKey: keyOf(settings) };
  return shown.map((name) => {
    const setting = used[name];
    return { name, value: setting && shownValue(name, setting.value), origin: setting?.origin };
  });
}

function keyOf(settings: Settings): Settings['apiKey'] {
  const origin = keyOrigin(settings);
  return origin && { value: '', origin };
}

function proxyOf(settings: Settings, { env }: Host): Settings['proxy'] {
  if (!settings.baseUrl) return settings.proxy;
  const chosen = chooseProxy(settings, env, settings.baseUrl.value);
  return chosen && { value: chosen.url, origin: chosen.origin };
}

function rowInWords({ name, value, origin }: SettingRow): string {
  const label = name.padEnd(18);
  if (!origin) return `${label} not set (${rowOf(name).otherwise ?? 'no default'})`;
  return `${label} ${printable(valueText(value) || 'none')}, ${origin.place === 'default' ? '' : 'from '}${visible(origin.name)}`;
}

function inJson(rows: readonly SettingRow[]): Record<string, unknown> {
  return Object.fromEntries(
    rows.map(({ name, value, origin }) => [
      name,
      { value: value ?? null, from: origin ? { place: origin.place, name: origin.name } : null },
    ]),
  );
}

interface Files {
  readonly read: readonly string[];
  readonly notRead: readonly UnreadConfig[];
  readonly lookedFor: readonly string[];
}

function filesOf(flags: CommandLine['flags'], settled: LoadedSettings | undefined, host: Host): Files {
  const named = configName(flags, host.env);
  const read = settled?.files.map(({ path }) => path) ?? [];
  return {
    read,
    notRead: named === undefined ? [...passedOver(read, settled, host), ...unreadConfigs(host)] : [],
    lookedFor:
      named === undefined
        ? [`${PROJECT_PLACES.join(', ')} in ${host.cwd} and above`, ...userPlaces(host)]
        : [named],
  };
}

/** Returns the config files that were found but not read: only the nearest of the project's, and of the user's, counts. */
function passedOver(
  read: readonly string[],
  settled: LoadedSettings | undefined,
  host: Host,
): UnreadConfig[] {
  const why = settled === undefined ? 'there is an error' : 'another one comes first';
  return findConfig(host)
    .filter(({ path }) => !read.includes(path))
    .map(({ path }) => ({ path, why }));
}

function filesInWords({ read, notRead, lookedFor }: Files): string {
  return [
    ...(read.length === 0 ? ['no config file was read'] : read.map((path) => `read        ${path}`)),
    ...notRead.map(({ path, why }) => `not read    ${path} (${why})`),
    ...lookedFor.map((path) => `looked for  ${path}`),
  ]
    .map(visible)
    .join('\n');
}

const shows: { readonly [N in Name]?: (value: Value<N>) => unknown } = {
  engine: withoutLogin,
  speakers: (speakers) => Object.fromEntries(speakers),
  engines: (engines) =>
    Object.fromEntries(
      [...engines].map(([name, { key, ...entry }]) => [name, { ...entry, ...(key && { key: 'set' }) }]),
    ),
  pauses: Object.fromEntries,
  voices: Object.fromEntries,
  keys: (keys) => `set for ${[...keys.keys()].join(', ')}`,
  proxy: withoutPassword,
};

function shownValue<N extends Name>(name: N, value: Value<N>): unknown {
  const show = shows[name] as ((value: Value<N>) => unknown) | undefined;
  if (show) return show(value);
  return rowOf(name).isSecret ? 'set' : value;
}

function withoutPassword(address: URL): string {
  const shown = new URL(address);
  shown.password = '';
  return shown.href;
}

function valueText(shown: unknown): string {
  if (Array.isArray(shown)) return shown.map(valueText).join(', ');
  if (shown instanceof URL) return shown.href;
  if (typeof shown !== 'object' || shown === null) return String(shown);
  return Object.entries(shown)
    .map(([name, value]) => {
      if (typeof value !== 'object') return `${name}=${value}`;
      const { no, engine, voice } = value;
      const who = no ?? (voice && `${engine}:${voice}`);
      return who === undefined ? name : `${name} (${who})`;
    })
    .join(', ');
}
