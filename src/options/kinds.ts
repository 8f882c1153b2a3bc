import { basename } from 'node:path';
import { keyHint } from '../kit/words.ts';

/** A kind of value. It is read from text (options, environment) and from data (config files). */
export interface Kind<T> {
  /** It completes "expected …" in a message. */
  readonly allowed: string;
  readonly choices?: readonly string[];
  /** @returns `undefined` for a bad value */
  text(text: string): T | undefined;
  data(data: unknown): T | undefined;
  fault?(data: unknown): ValueFault | undefined;
}

export interface ValueFault {
  readonly what: string;
  readonly hint: string;
}

interface NumberRange {
  readonly min: number;
  readonly max: number;
  readonly whole?: boolean;
  readonly unit?: string;
}

export function number({ min, max, whole = false, unit = '' }: NumberRange): Kind<number> {
  const check = (value: number) =>
    value >= min && value <= max && (!whole || Number.isInteger(value)) ? value : undefined;
  return {
    allowed: `a ${whole ? 'whole ' : ''}number${unit && ` of ${unit}`} from ${min} to ${max}`,
    text: (text) => (/^\d+(\.\d+)?$|^\.\d+$/.test(text.trim()) ? check(Number(text)) : undefined),
    data: (data) => (typeof data === 'number' ? check(data) : undefined),
  };
}

export const sampleRate = number({ min: 8000, max: 48_000, unit: 'Hz' });

export const speed = number({ min: 0.5, max: 3 });

/** It has kbit/s. */
export const bitrate = textual<number>({
  allowed: 'kbit/s from 8 to 512, such as 64k',
  text: (text) => {
    const [, kilobits] = /^(\d{1,3})(?:k|000)?$/i.exec(text.trim()) ?? [];
    return kilobits !== undefined && Number(kilobits) >= 8 && Number(kilobits) <= 512
      ? Number(kilobits)
      : undefined;
  },
});

/** The beginning and the end of a range, both included. */
type Range = readonly [first: number, last: number];

/** Whole numbers from 1 and ranges of them. */
export const numbers = textual<readonly Range[]>({
  allowed: 'numbers and ranges, as in 3,5-7',
  text: (text) => {
    const ranges = text.split(',').map((part) => /^\s*(\d{1,6})(?:\s*-\s*(\d{1,6}))?\s*$/.exec(part));
    const read = ranges.map((range) => range && ([Number(range[1]), Number(range[2] ?? range[1])] as const));
    return read.every((range) => range !== null && range[0] >= 1 && range[0] <= range[1])
      ? (read as readonly Range[])
      : undefined;
  },
});

export const loudness: Kind<number> = {
  allowed: 'a loudness in LUFS from -40 to -5, such as -18',
  text: (text) => (/^-\d+(?:\.\d+)?$/.test(text.trim()) ? loudness.data(Number(text)) : undefined),
  data: (data) => (typeof data === 'number' && data >= -40 && data <= -5 ? data : undefined),
};

const WORDS = new Map([
  ...['1', 'true', 'yes', 'on'].map((word) => [word, true] as const),
  ...['0', 'false', 'no', 'off'].map((word) => [word, false] as const),
]);

export const toggle: Kind<boolean> = {
  allowed: 'true or false',
  text: (text) => WORDS.get(text.trim().toLowerCase()),
  data: (data) => (typeof data === 'boolean' ? data : undefined),
};

export function textual<T>(kind: Omit<Kind<T>, 'data'>): Kind<T> {
  return { ...kind, data: (data) => (typeof data === 'string' ? kind.text(data) : undefined) };
}

export const words = textual<string>({
  allowed: 'a text that is not blank',
  text: (text) => (text.trim() === '' ? undefined : text),
});

export const fileName: Kind<string> = { ...words, allowed: 'the name of a file' };

/** Its value has a line for each name. A config file has a name, or a list of them. */
export const fileNames: Kind<string> = {
  allowed: 'the name of a file, or in a config file a list of names',
  text: fileName.text,
  data: (data) => {
    const names = [data].flat().map((each) => fileName.data(each));
    return names.length > 0 && !names.includes(undefined) ? names.join('\n') : undefined;
  },
  fault: (data) =>
    Array.isArray(data) && fileNames.data(data) === undefined
      ? { what: 'the list has something else than names of files', hint: 'as in ["names.txt", "places.txt"]' }
      : undefined,
};

export const speaker: Kind<number | string> = {
  allowed: 'a speaker by number (a whole one) or by name',
  text: (text) => {
    const name = text.trim();
    if (/^-?\d+(\.0+)?$/.test(name)) return speakerNumber(Number(name));
    return name === '' || /^[-+.\d]/.test(name) ? undefined : name;
  },
  data: (data) =>
    typeof data === 'number'
      ? speakerNumber(data)
      : typeof data === 'string'
        ? speaker.text(data)
        : undefined,
};

function speakerNumber(no: number): number | undefined {
  return Number.isSafeInteger(no) ? no : undefined;
}

export function url(...schemes: string[]): Kind<URL> {
  return textual({
    allowed: `a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    text: (text) => {
      const parsed = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
      return parsed && parsed.hostname !== '' && schemes.includes(parsed.protocol.slice(0, -1))
        ? parsed
        : undefined;
    },
  });
}

/** User name, query and fragment are refused: messages show the address, and a secret must not stand in it. */
export const baseUrl = textual<URL>({
  allowed: 'a URL that begins with http:// or https://, without a user name, "?" or "#"',
  text: (text) => {
    const parsed = url('http', 'https').text(text);
    if (!parsed || parsed.username || parsed.password || parsed.search || parsed.hash) return undefined;
    parsed.pathname = parsed.pathname.replace(/\/+$/, '');
    return parsed;
  },
});

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** MB means MiB. */
export const byteCount: Kind<number> = {
  allowed: 'a number of bytes, or a text such as "500 MiB" or "2 GiB"',
  text: (text) => {
    const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text.trim()) ?? [];
    return amount === undefined ? undefined : Math.round(Number(amount) * (UNITS[unit.toLowerCase()] ?? 1));
  },
  data: (data) =>
    typeof data === 'number'
      ? Number.isFinite(data) && data >= 0
        ? Math.round(data)
        : undefined
      : typeof data === 'string'
        ? byteCount.text(data)
        : undefined,
};

export function choice<const T extends string>(...words: readonly T[]): Kind<T> {
  return textual({
    allowed: `one of ${words.join(', ')}`,
    choices: words,
    text: (text) => words.find((word) => word === text.trim().toLowerCase()),
  });
}

/** A list comes from a config file only, not from the command line. */
export function list<T>(kind: Kind<T>): Kind<readonly T[]> {
  return {
    allowed: `a list, each entry ${kind.allowed}`,
    text: () => undefined,
    fault: (data) => {
      const wrong = Array.isArray(data) ? data.find((entry) => kind.data(entry) === undefined) : undefined;
      if (wrong === undefined) return undefined;
      return {
        what: `${describedValue(wrong)} is not allowed in the list`,
        hint: `each entry has to be ${kind.allowed}`,
      };
    },
    data: (data) => {
      if (!Array.isArray(data)) return undefined;
      const values = data.map((entry) => kind.data(entry));
      return values.includes(undefined) ? undefined : (values as T[]);
    },
  };
}

const LONGEST = 200;

/**
 * Quotes and shortens a value, without the password and the query of an address. Nested YAML aliases would take minutes to
 * write out in full.
 */
export function describedValue(data: unknown): string {
  // JSON has no form for some numbers of YAML.
  if (typeof data === 'number') return String(data);
  if (Array.isArray(data)) return 'a list';
  if (data instanceof Date) return 'a date';
  if (typeof data === 'object' && data !== null) return 'an object';
  const shown = JSON.stringify(data)
    .replace(/^"([a-z][a-z\d+.-]*:\/\/)?.*@/i, '"$1***@')
    .replace(/(:\/\/[^"?#]*[?#]).*"$/, '$1***"');
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…"` : shown;
}

interface NamedMap<T> {
  readonly allowed: string;
  readonly faultIn: (data: object) => ValueFault | undefined;
  readonly read: (name: string, raw: unknown) => readonly [name: string, value: T];
}

/** Each value has a name. They come from a config file only, not from the command line. */
export function namedMap<T>({ allowed, faultIn, read }: NamedMap<T>): Kind<ReadonlyMap<string, T>> {
  return {
    allowed,
    text: () => undefined,
    fault: (data) => (isObject(data) ? faultIn(data) : undefined),
    data: (data) =>
      isObject(data) && !faultIn(data)
        ? new Map(Object.entries(data).map(([name, raw]) => read(name, raw)))
        : undefined,
  };
}

/** The keys by the `href` of their base URLs. */
export const keys = namedMap({
  allowed: 'an object of base URLs with their keys',
  faultIn: faultInKeys,
  read: (url, key) => [baseUrl.text(url)?.href ?? url, key as string],
});

/** Address and secret may be swapped: only a valid address is shown. */
function faultInKeys(data: object): ValueFault | undefined {
  for (const [url, key] of Object.entries(data)) {
    if (!baseUrl.text(url))
      return {
        what: `${addressIn(url)} is not a base URL`,
        hint: `expected ${baseUrl.allowed}, followed by its key`,
      };
    if (typeof key !== 'string' || key.trim() === '')
      return { what: `the value for ${addressIn(url)} is not a key`, hint: 'store it with tts login' };
  }
  return undefined;
}

function addressIn(name: string): string {
  return /^https?:\/\//i.test(name) ? describedValue(name) : 'one of the names';
}

export interface NamedSpeaker {
  readonly no?: number;
  /** An engine takes the place of a number. */
  readonly engine?: string;
  readonly voice?: string;
  /** It is `neo.one`, `Mermish`, or the service's own word. */
  readonly kind?: string;
  /** A language tag (BCP 47). */
  readonly language?: string;
  /** Hz. */
  readonly sampleRate?: number;
  readonly instructions?: string;
  readonly speed?: number;
}

const fields: { readonly [F in keyof Required<NamedSpeaker>]: Kind<unknown> } = {
  no: number({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, whole: true }),
  engine: words,
  voice: words,
  kind: words,
  language: words,
  sampleRate,
  instructions: words,
  speed,
};

const EXAMPLE = 'as in "speakers": { "anna": 181, "deep": { "no": 1190, "sampleRate": 16000 } }';

const ENGINE_EXAMPLE =
  'a voice of an engine is named as in "speakers": { "anna": { "engine": "kokoro", "voice": "af_heart" } }';

export const speakers = namedMap<NamedSpeaker>({
  allowed: 'an object of names with their numbers',
  faultIn: faultInSpeakers,
  read: (name, raw) => [name, typeof raw === 'number' ? { no: raw } : (raw as NamedSpeaker)],
});

function faultInSpeakers(data: object): ValueFault | undefined {
  for (const [name, raw] of Object.entries(data)) {
    if (speaker.text(name) !== name)
      return {
        what: `${describedValue(name)} cannot be the name of a speaker`,
        hint: 'a name begins with a letter',
      };
    const fault = isObject(raw) ? faultOf(raw) : faultOf({ no: raw });
    if (fault) return { what: `${describedValue(name)}: ${fault.what}`, hint: fault.hint };
  }
  return undefined;
}

function faultOf(raw: object): ValueFault | undefined {
  const [no, engine, voice] = ['no', 'engine', 'voice'].map((field) => Object.hasOwn(raw, field));
  if (!no && engine && !voice)
    return { what: '"voice", the name that the engine has for it, is missing', hint: ENGINE_EXAMPLE };
  if (!no && voice && !engine)
    return { what: '"engine", the name of the engine that has the voice, is missing', hint: ENGINE_EXAMPLE };
  if (!no && !engine)
    return { what: '"no", the number of the speaker, is missing', hint: `${EXAMPLE}; ${ENGINE_EXAMPLE}` };
  for (const [field, value] of Object.entries(raw)) {
    const kind = Object.hasOwn(fields, field) ? fields[field as keyof NamedSpeaker] : undefined;
    if (!kind) return unknownField(field);
    if (kind.data(value) === undefined)
      return {
        what: `${describedValue(value)} is not allowed for ${describedValue(field)}; expected ${kind.allowed}`,
        hint: EXAMPLE,
      };
  }
  return undefined;
}

function unknownField(field: string): ValueFault {
  return { what: `unknown key ${describedValue(field)}`, hint: keyHint(field, Object.keys(fields)) };
}

/** Matches a word, or else a character that begins none. */
const WORD = /\s*((?:'[^']*'|"(?:\\.|[^"\\])*"|\\[\s'"\\]|[^\s'"])+)|\s*(\S)/gsy;
const PIECE = /'([^']*)'|"((?:\\.|[^"\\])*)"|\\([\s'"\\])|([^\s'"])/gs;

/**
 * Splits the words as a shell does, without expansion. A backslash escapes only a space, a quote or a backslash: it is a part
 * of Windows paths.
 */
export const command: Kind<readonly string[]> = {
  allowed: 'a program with its arguments, quotes closed',
  text: shellWords,
  data: (data) => {
    if (typeof data === 'string') return shellWords(data);
    if (!Array.isArray(data) || !data.every((word) => typeof word === 'string')) return undefined;
    return data[0] ? data : undefined;
  },
};

/** An operator of a shell, outside quotes: no shell reads the command, so it would be an argument. */
const SHELL_SIGN = /^(?:\d?[<>]|[|&;(])|^[^'"]*(?:\$[({\w]|`|;$)/;

/** The command of a player. Written as one text it may look like the line of a shell, which it is not. */
export const playerCommand: Kind<readonly string[]> = {
  ...command,
  text: (text) => (shellSignIn(text) === undefined ? shellWords(text) : undefined),
  data: (data) =>
    typeof data === 'string' && shellSignIn(data) !== undefined ? undefined : command.data(data),
  fault: (data) => {
    const sign = typeof data === 'string' ? shellSignIn(data) : undefined;
    if (typeof data !== 'string' || sign === undefined) return undefined;
    const line = data.trim().replaceAll("'", `'"'"'`);
    return {
      what: `no shell reads the command, so ${describedValue(sign)} would be an argument of it`,
      hint: `have a shell run it: sh -c '${line}'`,
    };
  },
};

function shellSignIn(text: string): string | undefined {
  const words = [...text.trimEnd().matchAll(WORD)].map(([, word = '']) => word);
  return words.find((word) => SHELL_SIGN.test(word));
}

/** Resolves the name of a file from a folder. */
export type Locate = (name: string) => string;

/** A program without a folder in its name is looked up on the PATH. */
export function locatedCommand(
  [program = '', ...rest]: readonly string[],
  locate: Locate,
): readonly string[] {
  return [basename(program) === program ? program : locate(program), ...rest];
}

function shellWords(text: string): readonly string[] | undefined {
  const words = [...text.trimEnd().matchAll(WORD)];
  if (words.some(([, word]) => word === undefined)) return undefined;
  const plain = words.map(([, word = '']) => word.replace(PIECE, unquoted));
  return plain[0] ? plain : undefined;
}

type Groups = readonly [string, single?: string, double?: string, escaped?: string, bare?: string];

function unquoted(...[, single, double, escaped, bare]: Groups): string {
  return single ?? double?.replace(/\\([\\"$`])/g, '$1') ?? escaped ?? bare ?? '';
}

export const proxyUrl: Kind<URL> = textual({
  allowed: 'a URL that begins with http:// or https://, with nothing after the port',
  text: (text) => {
    const parsed = url('http', 'https').text(text);
    return parsed && /^\/?$/.test(parsed.pathname) && !parsed.search && !parsed.hash ? parsed : undefined;
  },
  fault: (data) =>
    typeof data === 'string'
      ? {
          what: `${hostOnly(data)} is not allowed; expected ${proxyUrl.allowed}`,
          hint: 'as in http://proxy.example.com:8080',
        }
      : undefined,
});

/** Keeps only the host: a bad address may hold a password anywhere. */
export function hostOnly(raw: string): string {
  const [, scheme = '', user, host = '', rest] =
    /^([a-z][a-z\d+.-]*:\/\/)?(.*@)?([\w.-]*)(.*)$/is.exec(raw) ?? [];
  return `"${scheme}${user ? '***@' : ''}${host}${rest ? '***' : ''}"`;
}

export function isObject(data: unknown): data is object {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

interface Pairs<T> {
  /** Others are refused; by default all words are names. */
  readonly names?: readonly string[];
  readonly value: Kind<T>;
  /** It completes "as in …" in a message. */
  readonly example: string;
}

/** Each value has a name. Text is written as `name=value,name=value`, also in several lines; the last value of a name counts. */
function pairs<T>({ names, value, example }: Pairs<T>): Kind<ReadonlyMap<string, T>> {
  const faultIn = ([name, raw]: Pair): ValueFault | undefined => {
    const hint = `as in ${example}`;
    if (name === '' || raw === undefined)
      return { what: `${describedValue(name)} is not a name with a value`, hint };
    if (names && !names.includes(name))
      return { what: `unknown name ${describedValue(name)}`, hint: keyHint(name, names) };
    if (read(value, raw) !== undefined) return undefined;
    const what = `${describedValue(raw)} is not allowed for ${describedValue(name)}; expected ${value.allowed}`;
    return { what, hint };
  };
  const parse = (data: unknown) => {
    const all = pairsIn(data);
    if (!all?.length || all.some((pair) => faultIn(pair))) return undefined;
    return new Map(all.map(([name, raw]) => [name, read(value, raw) as T]));
  };
  return {
    allowed: `names with their values, as in ${example}`,
    text: parse,
    data: parse,
    fault: (data) => pairsIn(data)?.map(faultIn).find(Boolean),
  };
}

type Pair = readonly [name: string, raw: unknown];

function pairsIn(data: unknown): readonly Pair[] | undefined {
  if (isObject(data)) return Object.entries(data);
  if (typeof data !== 'string' || data.trim() === '') return undefined;
  return data.split(/[,\n]/).map((pair) => {
    const [name = '', ...rest] = pair.split('=');
    return [name.trim(), rest.length === 0 ? undefined : rest.join('=').trim()];
  });
}

function read<T>(kind: Kind<T>, raw: unknown): T | undefined {
  return typeof raw === 'string' ? kind.text(raw) : kind.data(raw);
}

/** Seconds of silence by the kind of border. */
export const pauses = pairs({
  names: ['chapter', 'scene', 'heading', 'paragraph', 'sentence'],
  value: number({ min: 0, max: 60, unit: 'seconds' }),
  example: 'heading=1,scene=2',
});

/** Voices by the names of a dialogue. */
export const voices = pairs({ value: speaker, example: 'Alice=anna,Bob=7,*=2' });
