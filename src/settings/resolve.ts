import { dirname } from 'node:path';
import { ExitCode, TtsError, usageError } from '../error.ts';
import { valueHint } from '../hints.ts';
import { nearestName } from '../nearest.ts';
import type { ConfigPath } from './config-places.ts';

import { describedValue } from './kind.ts';
import { type Name, type Rule, ruleOf, rules, type Value } from './rules.ts';
import { hostOnly } from './special-kinds.ts';

export type Flags = Readonly<Record<string, unknown>>;

export interface ConfigFile {
  readonly path: string;
  /** Relative paths begin here. */
  readonly folder: string;
  readonly place: ConfigPath['place'];
  readonly values: Readonly<Record<string, unknown>>;
}

/** The places of settings. A flag is text, or true or false where it takes no value. */
export interface SettingSources {
  readonly flags: Flags;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly files: readonly ConfigFile[];
}

export type Settings = {
  readonly [N in Name]: (typeof rules)[N] extends { readonly fallback: unknown }
    ? Setting<Value<N>>
    : Setting<Value<N>> | undefined;
};

const DEFAULT: Origin = { place: 'default', name: 'the default' };

/**
 * Takes each setting from the strongest place that has it.
 * @throws TtsError (usage) with the value, its origin and what is allowed
 */
export function resolve(sources: SettingSources): Settings {
  const names = Object.keys(rules) as Name[];
  return Object.fromEntries(names.map((name) => [name, resolveOne(name, ruleOf(name), sources)])) as Settings;
}

function resolveOne(
  name: Name,
  rule: Rule<unknown>,
  { flags, env, files }: SettingSources,
): Setting<unknown> | undefined {
  const flag = flags[name];
  const inFile = fromFiles(rule, files);
  if (flag !== undefined)
    return over(inFile, rule, read(rule, flag, { place: 'option', name: optionName(rule, flag) }));
  const variable = fromEnvironment(rule, env);
  if (variable) return over(inFile, rule, read(rule, variable.value, variable.origin));
  if (inFile) return inFile;
  return rule.fallback === undefined ? undefined : { value: rule.fallback, origin: DEFAULT };
}

function over(
  inFile: Setting<unknown> | undefined,
  { combine }: Rule<unknown>,
  given: Setting<unknown>,
): Setting<unknown> {
  return combine && inFile ? { ...given, value: combine([given.value, inFile.value]) } : given;
}

/** An empty variable counts as not set. */
export function fromEnvironment(
  { env: name }: Rule<unknown>,
  env: SettingSources['env'],
): Setting<string> | undefined {
  const value = name && env[name];
  return name && value ? { value, origin: { place: 'environment', name } } : undefined;
}

function fromFiles(
  { key, combine }: Rule<unknown>,
  files: readonly ConfigFile[],
): Setting<unknown> | undefined {
  if (key === undefined) return undefined;
  const saying = files.filter(({ values }) => values[key] !== undefined);
  const [strongest] = saying;
  if (!strongest) return undefined;
  const values = saying.map((file) => file.values[key]);
  return { value: combine ? combine(values) : values[0], origin: fileOrigin(key, strongest) };
}

export function fileOrigin(key: string, file: Pick<ConfigFile, 'place' | 'path'>): Origin {
  return { place: file.place, name: `${key} in ${file.path}`, folder: dirname(file.path) };
}

function read(rule: Rule<unknown>, raw: unknown, origin: Origin): Setting<unknown> {
  const value = typeof raw === 'string' ? rule.kind.text(raw) : raw;
  if (value === undefined) throw refused(rule, raw, origin);
  return { value, origin };
}

export function refused(rule: Rule<unknown>, raw: unknown, origin: Origin): TtsError {
  const fault = rule.kind.fault?.(raw);
  if (fault) return usageError(`${origin.name}: ${fault.what}`, fault.hint);
  const shown = rule.secret ? 'the value' : describedValue(raw);
  return new TtsError(`${origin.name}: ${shown} is not allowed; expected ${rule.kind.allowed}`, {
    exitCode: ExitCode.usage,
    hint: valueHint(rule.key, raw) ?? guessed(rule, raw),
  });
}

function guessed({ kind: { choices } }: Rule<unknown>, raw: unknown): string | undefined {
  const nearest = typeof raw === 'string' ? nearestName(raw.trim(), choices ?? []) : undefined;
  return nearest && `did you mean ${nearest}?`;
}

/** Takes `--speaker` from `-s, --speaker <no|name>`. */
function optionName(rule: Rule<unknown>, raw: unknown): string {
  const long = /--[a-z-]+/.exec(rule.flags ?? '')?.[0] ?? '';
  if (raw === true) return long.replace('--no-', '--');
  return raw === false && !long.startsWith('--no-') ? long.replace('--', '--no-') : long;
}

const places = ['option', 'environment', 'project', 'user', 'default'] as const;
type Place = (typeof places)[number];

export interface Origin {
  readonly place: Place;
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
  const value = rules.proxy.kind.text(text.includes('://') ? text : `http://${text}`);
  if (value) return { value, origin: { place: 'environment', name } };
  throw usageError(
    `${name}: ${hostOnly(text)} is not the address of a proxy; expected ${rules.proxy.kind.allowed}`,
    `correct or unset ${name}`,
  );
}
