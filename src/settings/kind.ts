/** A kind of value: how it is read from text (options, environment) and from data (config files). */
export interface Kind<T> {
  /** What is allowed, as the end of a sentence: "expected …". */
  readonly allowed: string;
  /** All that are allowed, where these are a few words. */
  readonly choices?: readonly string[];
  /** `undefined` when the text is not such a value. */
  text(text: string): T | undefined;
  data(data: unknown): T | undefined;
  /** What is wrong in data that is refused, where it is too much to be shown as a whole. */
  fault?(data: unknown): Fault | undefined;
}

export interface Fault {
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

const WORDS = new Map([
  ...['1', 'true', 'yes', 'on'].map((word) => [word, true] as const),
  ...['0', 'false', 'no', 'off'].map((word) => [word, false] as const),
]);

export const toggle: Kind<boolean> = {
  allowed: 'true or false',
  text: (text) => WORDS.get(text.trim().toLowerCase()),
  data: (data) => (typeof data === 'boolean' ? data : undefined),
};

/** A kind that data holds as text, too. */
export function textual<T>(kind: Omit<Kind<T>, 'data'>): Kind<T> {
  return { ...kind, data: (data) => (typeof data === 'string' ? kind.text(data) : undefined) };
}

/** Any text but blank. */
export const words = textual<string>({
  allowed: 'a text that is not blank',
  text: (text) => (text.trim() === '' ? undefined : text),
});

export const fileName: Kind<string> = { ...words, allowed: 'the name of a file' };

/** A speaker by number (a whole number, 0 or more) or by name. */
export const speaker: Kind<number | string> = {
  allowed: 'a speaker by number (0 or more) or by name',
  text: (text) => {
    const name = text.trim();
    if (/^\d+(\.0+)?$/.test(name)) return speakerNumber(Number(name));
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
  return Number.isSafeInteger(no) && no >= 0 ? no : undefined;
}

/** A URL with one of some schemes. */
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

/**
 * The address in front of `/tts`: http or https, its path kept, without a slash at the end. A user name, a query or a
 * fragment has no meaning there, and a password would end up in messages.
 */
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

/** A number of bytes, or a text with a unit; MB means MiB, as it does for most people. */
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

/** One of some words. */
export function choice<const T extends string>(...words: readonly T[]): Kind<T> {
  return textual({
    allowed: `one of ${words.join(', ')}`,
    choices: words,
    text: (text) => words.find((word) => word === text.trim().toLowerCase()),
  });
}
