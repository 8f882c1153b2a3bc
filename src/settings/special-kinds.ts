import { basename } from 'node:path';
import { keyHint } from '../nearest.ts';
import {
  baseUrl,
  describedValue,
  type Kind,
  number,
  sampleRate,
  speaker,
  speed,
  textual,
  url,
  type ValueFault,
  words,
} from './kind.ts';

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
