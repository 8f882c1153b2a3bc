/** Schemas of option values, built on those of `kit/schema.ts`. */
import { basename, resolve } from 'node:path';
import * as v from 'valibot';
import { originOf, withoutEndSlashes } from '../kit/address.ts';
import {
  checked,
  later,
  named,
  number,
  object,
  oneOrMore,
  optional,
  type Schema,
  text,
  textAs,
  type ValueOf,
  whole,
} from '../kit/schema.ts';

/** Hz. */
export const sampleRate = number({ min: 8000, max: 48_000 });

export const speed = number({ min: 0.5, max: 3 });

/** The factor by which the sound of a subtitle cue may be sped up. */
export const fit = textAs((typed) => {
  const most = Number(/^\d(?:\.\d{1,4})?$/.exec(typed.trim())?.[0]);
  return most >= 1 && most <= 3 ? most : undefined;
}, 'must be a number from 1 to 3');

/** Seconds, written as `90`, `1:30` or `0:01:30.5`. */
export const clock = textAs((typed) => {
  const [time] = /^(?:\d{1,3}:){0,2}\d{1,6}(?:\.\d{1,6})?$/.exec(typed.trim()) ?? [''];
  const parts = time.split(':').map(Number);
  const all = parts.reduce((sum, part) => 60 * sum + part);
  return parts.slice(1).every((part) => part < 60) && all > 0 && all <= 360_000 ? all : undefined;
}, 'must be a time, such as 90, 1:30 or 1:23:45.5');

export const words = text();

export const fileName = text(/\S/, 'must be the name of a file');

export const fileNames = oneOrMore(fileName, 'must be the name of a file, or a list of names');

/** kbit/s. */
export const bitrate = textAs((typed) => {
  const kilobits = Number(/^(\d{1,3})(?:k|000)?$/i.exec(typed.trim())?.[1]);
  return kilobits >= 8 && kilobits <= 512 ? kilobits : undefined;
}, 'must be kbit/s from 8 to 512, such as 64k');

export const sha256 = text(/^[\dA-Fa-f]{64}$/, 'must be 64 hexadecimal digits, as sha256sum prints them');

const DELIMITERS: Readonly<Record<string, string>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  '\\t': '\t',
  pipe: '|',
};

/** The delimiter between the cells of a table. */
export const delimiter = textAs((typed) => {
  const named = DELIMITERS[typed.trim().toLowerCase()] ?? typed;
  return /^[^"\r\n]$/u.test(named) ? named : undefined;
}, 'must be one character, or comma, semicolon, tab or pipe');

/** The first and last number of a range, both included. */
type Range = readonly [first: number, last: number];

/** Whole numbers from 1, and ranges of them. */
export const ranges = textAs((typed): readonly Range[] | undefined => {
  const found = typed.split(',').map((part) => /^\s*(\d{1,6})(?:\s*-\s*(\d{1,6}))?\s*$/.exec(part));
  const read = found.map((range) => [Number(range?.[1]), Number(range?.[2] ?? range?.[1])] as const);
  return read.every(([first, last]) => first >= 1 && first <= last) ? read : undefined;
}, 'must be numbers and ranges, as in 3,5-7');

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** Parses a size in bytes; MB means MiB. */
function readBytes(typed: string): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(typed.trim()) ?? [];
  return amount === undefined ? undefined : Math.round(Number(amount) * (UNITS[unit.toLowerCase()] ?? 1));
}

const BYTES = 'must be a number of bytes, or a text such as "500 MiB" or "2 GiB"';

export const byteCount = v.union(
  [
    v.pipe(v.number(BYTES), v.finite(BYTES), v.minValue(0, BYTES), v.transform(Math.round)),
    textAs(readBytes, BYTES),
  ],
  BYTES,
);

const HOURS_MS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Milliseconds. */
export const age = textAs((typed) => {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)([hdw])$/.exec(typed) ?? [];
  return amount === undefined ? undefined : Number(amount) * (HOURS_MS[unit] ?? 0);
}, 'must be hours, days or weeks, as in 12h, 30d, 4w');

const SPEAKER = 'must be a speaker by its number (a whole one) or by its name';
const anyWhole = whole({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });

/** @returns `undefined` if the text is neither a name nor a whole number */
export function readSpeaker(typed: string): number | string | undefined {
  const name = typed.trim();
  if (/^-?\d+(\.0+)?$/.test(name)) return Number.isSafeInteger(Number(name)) ? Number(name) : undefined;
  return name === '' || /^[-+.\d]/.test(name) ? undefined : name;
}

export const speaker = v.union([anyWhole, textAs(readSpeaker, SPEAKER)], SPEAKER);

export function readUrl(typed: string): URL | undefined {
  const parsed = URL.canParse(typed.trim()) ? new URL(typed.trim()) : undefined;
  return parsed && parsed.hostname !== '' && /^https?:$/.test(parsed.protocol) ? parsed : undefined;
}

export const url = textAs(readUrl, 'must be a URL that begins with http:// or https://');

/** Parses a base URL. User name, query and fragment may be secrets, and messages show the address: they are refused. */
export function readBaseUrl(typed: string): URL | undefined {
  const parsed = readUrl(typed);
  if (!parsed || parsed.username || parsed.password || parsed.search || parsed.hash) return undefined;
  parsed.pathname = withoutEndSlashes(parsed.pathname);
  return parsed;
}

export const BASE_URL = 'a URL that begins with http:// or https://, without a user name, "?" or "#"';
export const baseUrl = textAs(readBaseUrl, `must be ${BASE_URL}`);

export const PROXY = 'a URL that begins with http:// or https://, with nothing after the port';

export function readProxy(typed: string): URL | undefined {
  const parsed = readUrl(typed);
  return parsed && /^\/?$/.test(parsed.pathname) && !parsed.search && !parsed.hash ? parsed : undefined;
}

export const proxyUrl = textAs(readProxy, `must be ${PROXY}, as in http://proxy.example.com:8080`);

/** Returns only the host for a message, as a bad address may hold a password anywhere. */
export function hostOnly(raw: string): string {
  const [, scheme = '', user, host = '', rest] =
    /^([a-z][a-z\d+.-]*:\/\/)?(.*@)?([\w.-]*)(.*)$/is.exec(raw) ?? [];
  return `"${scheme}${user ? '***@' : ''}${host}${rest ? '***' : ''}"`;
}

/** The address to listen on. Empty is refused, as Node would then listen on all networks. */
export const address = text(/\S/, 'must be an address or a name of this machine');

export const corsOrigin = textAs(
  (typed) => (typed === '*' ? typed : originOf(typed)),
  'must be one origin without a path, as in https://app.example.com, or "*"',
);

const PATH_FAULTS: readonly (readonly [RegExp, problem: string])[] = [
  [/^[^/]/, 'must begin with a slash, as in /api'],
  [/\/\//, 'must have one slash between two names, as in /api/v1'],
  [/\/\.\.?(\/|$)/, 'must not hold "." or "..", which clients do not send'],
  [/[^\w.~/-]/, 'must have letters and digits of ASCII, and . _ ~ - and slashes, as in /api/v1'],
];

function pathFault(path: string): string | undefined {
  return PATH_FAULTS.find(([fault]) => fault.test(withoutEndSlashes(path)))?.[1];
}

/** A path prefix, which may be empty. A slash at its end is removed. */
export const basePath = textAs(
  (typed) => (pathFault(typed) === undefined ? withoutEndSlashes(typed) : undefined),
  (typed) => pathFault(typed) ?? '',
);

/** Keys by the `href` of their base URLs. Users may swap address and secret, so messages show neither. */
export const keys = later(() =>
  named(
    textAs((name) => readBaseUrl(name)?.href, `has a name that is not ${BASE_URL}`),
    text(/\S/, 'has a value that is not a key: store it with tts login'),
    'has to be an object of base URLs with their keys',
  ),
);

const pause = optional(number({ min: 0, max: 60 }));

/** Seconds of silence by kind of border. */
export const pauses = v.pipe(
  object(
    { chapter: pause, scene: pause, heading: pause, paragraph: pause, sentence: pause },
    'must be borders with their seconds, as in heading=1,scene=2',
  ),
  v.transform((given): ReadonlyMap<string, number> => new Map(Object.entries(given))),
);

/** Voices by the names of the characters of a dialogue. */
export const voices = named(words, speaker, 'must be names with their voices, as in Alice=anna,Bob=7,*=2');

const LANGUAGES = 'must be languages, with or without their voices, as in de=thorsten,fr';

/** Voices by language. A language without a voice means any voice that speaks it. */
export const languages = v.union(
  [
    v.pipe(
      oneOrMore(textAs(readLanguages, LANGUAGES), LANGUAGES),
      v.transform((maps): ReadonlyMap<string, string | number> => new Map(maps.flatMap((map) => [...map]))),
    ),
    // Tried last, as an array would pass as an object with numeric names.
    named(words, speaker, LANGUAGES),
  ],
  LANGUAGES,
);

function readLanguages(typed: string): ReadonlyMap<string, string | number> | undefined {
  const pairs = typed.split(',').map((part) => {
    const [language = '', voice = language, ...more] = part.split('=').map((each) => each.trim());
    const asked = readSpeaker(voice);
    return language === '' || asked === undefined || more.length > 0
      ? undefined
      : ([language, asked] as const);
  });
  return pairs.includes(undefined) ? undefined : new Map(pairs.filter((pair) => pair !== undefined));
}

const namedSpeaker = () =>
  checked(
    object({
      no: optional(anyWhole),
      /** The name of an engine, instead of `no`. */
      engine: optional(words),
      voice: optional(words),
      /** A WAV file instead of `voice`: a model such as Pocket imitates its voice. */
      reference: optional(words),
      /** `neo.one`, `Mermish`, or another kind that the service knows. */
      kind: optional(words),
      /** A language tag (BCP 47). */
      language: optional(words),
      sampleRate: optional(sampleRate),
      instructions: optional(words),
      speed: optional(speed),
    }),
    ({ no, engine, voice, reference }) => {
      if (reference !== undefined && (engine === undefined || no !== undefined || voice !== undefined))
        return 'has a "reference", which stands in the place of "no" and "voice": { "engine": "pocket", "reference": "me.wav" }';
      if (no !== undefined || reference !== undefined) return undefined;
      if (engine !== undefined && voice !== undefined) return undefined;
      if (engine !== undefined) return `has no "voice", the name that the engine has for it; ${OF_ENGINE}`;
      if (voice !== undefined) return `has no "engine", the name of the engine with that voice; ${OF_ENGINE}`;
      return `has no "no", the number of the speaker, as in { "no": 1190, "sampleRate": 16000 }; ${OF_ENGINE}`;
    },
  );

/** A speaker of a service, or a voice of an engine, with its own settings. */
export type NamedSpeaker = ValueOf<ReturnType<typeof namedSpeaker>>;

const OF_ENGINE = 'a voice of an engine: { "engine": "kokoro", "voice": "af_heart" }';

export const speakers = later(() => {
  const whole = namedSpeaker();
  const numbered = v.pipe(
    anyWhole,
    v.transform((no): NamedSpeaker => ({ no })),
  );
  return named(
    textAs(
      (name) => (readSpeaker(name) === name ? name : undefined),
      'cannot be the name of a speaker: a name begins with a letter',
    ),
    v.lazy((given): Schema<NamedSpeaker> => (typeof given === 'object' ? whole : numbered)),
    'must be names with their numbers, as in { "anna": 181 }',
  );
});

/** Resolves the reference files of speakers against the folder of their config file. */
export function speakersIn(
  folder: string,
  speakers: ReadonlyMap<string, NamedSpeaker>,
): ReadonlyMap<string, NamedSpeaker> {
  const located = ({ reference, ...speaker }: NamedSpeaker): NamedSpeaker => ({
    ...speaker,
    ...(reference !== undefined && { reference: fileIn(folder, reference) }),
  });
  return new Map([...speakers].map(([name, speaker]) => [name, located(speaker)]));
}

/** Matches a word, or a character that cannot begin one, such as an open quote. */
const WORD = /\s*((?:'[^']*'|"(?:\\.|[^"\\])*"|\\[\s'"\\]|[^\s'"])+)|\s*(\S)/gsy;
const PIECE = /'([^']*)'|"((?:\\.|[^"\\])*)"|\\([\s'"\\])|([^\s'"])/gs;

const COMMAND = 'must be a program with its arguments, quotes closed';

const commandWords = checked(v.array(v.string(COMMAND), COMMAND), ([program]) =>
  program ? undefined : COMMAND,
);

/**
 * A program and its arguments, split as by a shell, without expansion. A backslash escapes only a space, a quote or a
 * backslash, as it is also part of Windows paths.
 */
export const command = commandOf(textAs(shellWords, COMMAND));

function commandOf(line: v.GenericSchema<string, readonly string[]>) {
  return v.lazy(
    (given): v.GenericSchema<unknown, readonly string[]> => (typeof given === 'string' ? line : commandWords),
  );
}

/** Matches a shell operator outside quotes, which would become an argument, as no shell runs the command. */
const SHELL_SIGN = /^(?:\d?[<>]|[|&;(])|^[^'"]*(?:\$[({\w]|`|;$)/;

/** The command of a player. Refuses text that looks like a shell line, as no shell runs it. */
export const playerCommand = commandOf(
  textAs(
    (line) => (shellSignIn(line) === undefined ? shellWords(line) : undefined),
    (line) => {
      const found = shellSignIn(line);
      if (found === undefined) return COMMAND;
      const quoted = line.trim().replaceAll("'", `'"'"'`);
      return `is not run by a shell, so ${describedValue(found)} would be an argument: have a shell run it, with sh -c '${quoted}'`;
    },
  ),
);

function shellSignIn(text: string): string | undefined {
  const words = [...text.trimEnd().matchAll(WORD)].map(([, word = '']) => word);
  return words.find((word) => SHELL_SIGN.test(word));
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

/** Resolves the program against a folder, unless it is a bare name, which is looked up on the PATH. */
export function commandIn(folder: string, [program = '', ...rest]: readonly string[]): readonly string[] {
  return [basename(program) === program ? program : fileIn(folder, program), ...rest];
}

/** Resolves a file name against a folder, except one that begins with `~`, which is expanded later. */
export function fileIn(folder: string, name: string): string {
  return /^~[/\\]/.test(name) ? name : resolve(folder, name);
}

const LONGEST_SHOWN = 200;

/**
 * Describes a value for a message: quoted, shortened, and without the password and query of an address. Objects are only
 * named: nested YAML aliases would take minutes to write out.
 */
export function describedValue(data: unknown): string {
  // JSON cannot express some numbers of YAML, such as infinity.
  if (typeof data === 'number') return String(data);
  if (Array.isArray(data)) return 'a list';
  if (data instanceof Date) return 'a date';
  if (typeof data === 'object' && data !== null) return 'an object';
  const shown = withoutQuery(JSON.stringify(data).replace(/^"([a-z][a-z\d+.-]*:\/\/)?.*@/i, '"$1***@'));
  return shown.length > LONGEST_SHOWN ? `${shown.slice(0, LONGEST_SHOWN)}…"` : shown;
}

/** @param json of a text */
function withoutQuery(json: string): string {
  const address = json.indexOf('://');
  const query = address < 0 ? -1 : json.slice(address).search(/[?#]/);
  return query < 0 ? json : `${json.slice(0, address + query + 1)}***"`;
}

export function isObject(data: unknown): data is object {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}
