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
