import type { Style } from './contract.ts';
import {
  CARRIED,
  DEGREES,
  DENIED,
  FILLERS,
  NEGATION,
  NUMBERS,
  OPPOSITES,
  ROWS,
  type WordRow,
} from './instruction-words.ts';

const LIMITS: Readonly<Record<keyof Style, readonly [least: number, most: number]>> = {
  rate: [0.25, 4],
  pitch: [0.5, 2],
  loudness: [0.1, 2],
  pause: [0, 5],
};

/** UTF-16 units: parsing blocks other requests. */
const MOST_READ = 10_000;

/** The rest keeps its offset. */
const UNDERSTOOD = '\n';

interface Phrase {
  readonly words: string;
  readonly at: number;
}

interface Measured extends Phrase {
  readonly changes: keyof Style;
}

/** @returns the style, and the phrases without effect */
export function readInstructions(text: string): { style: Style; ignored: string[] } {
  const wanted = { rate: 1, pitch: 1, loudness: 1, pause: 1 };
  const measured: Measured[] = [];
  const whole = plain(text.slice(0, MOST_READ));
  let rest = whole;
  for (const { row, patterns } of readers()) {
    for (const pattern of patterns) {
      rest = rest.replace(pattern, (words: string, ...match) => {
        const at: number = match.at(-3);
        wanted[row.changes] *= factor(row, match.at(-1), isDeniedAt(whole, at));
        if (row.measure) measured.push({ words, at, changes: row.changes });
        return UNDERSTOOD.repeat(words.length);
      });
    }
  }
  const beyond = measured.filter(({ changes }) => wanted[changes] !== limited(changes, wanted[changes]));
  const ignored = [...phrases(rest), ...beyond].sort((one, other) => one.at - other.at);
  const unread = text.slice(MOST_READ).trim();
  return {
    style: rounded(wanted),
    ignored: [...ignored.map(({ words }) => words), ...(unread ? [unread] : [])],
  };
}

/** One line, `1½` as `1 1⁄2`. */
function plain(text: string): string {
  const apart = text.replace(/(?<=\d)(?=[¼-¾⅐-⅞])/gu, ' ');
  return apart.normalize('NFKC').replaceAll('’', "'").replace(/\s+/gu, ' ');
}

function phrases(rest: string): Phrase[] {
  const parts = rest.matchAll(/(?:[^\n,;:!?.]|\.(?=\d))+/gu);
  return Array.from(parts, ({ 0: part, index }) => ({ words: withoutFillers(part), at: index })).filter(
    ({ words }) => words,
  );
}

function factor({ by = 1, measure }: WordRow, groups: Caught | string, isDenied: boolean): number {
  if (typeof groups === 'string') return by;
  const { much, number, not } = groups;
  if (not !== undefined || (isDenied && 'not' in groups)) return 1;
  if (measure === undefined) return by ** (isDenied ? Math.min(degree(much), DENIED) : degree(much));
  return measuredFactor(measure, number ?? '1');
}

function measuredFactor(measure: NonNullable<WordRow['measure']>, number: string): number {
  const value = numberOf(number);
  if (measure === 'times') return value;
  // "Three times faster" means "three times as fast", and "100% faster" twice as fast.
  const isShare = value < 1 || PERCENT.test(number);
  if (measure === 'divided' || (measure === 'less' && !isShare)) return 1 / value;
  if (measure === 'less') return Math.max(0, 1 - value);
  return isShare ? 1 + value : value;
}

function degree(words: string | undefined): number {
  if (words === undefined) return 1;
  return entryOf(OPPOSITES, words) ?? entryOf(DEGREES, words) ?? 1;
}

const PERCENT = /%|percent/iu;

/** 0.01 to 100: no product overflows. */
function numberOf(words: string): number {
  const value = entryOf(NUMBERS, words) ?? digitsOf(words) / (PERCENT.test(words) ? 100 : 1);
  return Math.max(0.01, Math.min(100, value));
}

function digitsOf(words: string): number {
  const fraction = /^(?:(\d+) )?(\d+)[/⁄](\d+)/u.exec(words);
  if (!fraction) return Number.parseFloat(words);
  const [whole, above, below] = fraction.slice(1).map((digits) => Number(digits ?? 0));
  return (whole ?? 0) + (above ?? 0) / (below ?? 1);
}

function entryOf(table: Readonly<Record<string, number>>, words: string): number | undefined {
  return Object.entries(table).find(([key]) => new RegExp(`^(?:${key})$`, 'iu').test(words))?.[1];
}

function limited(key: keyof Style, value: number): number {
  const [least, most] = LIMITS[key];
  return Math.max(least, Math.min(most, value));
}

function rounded(wanted: Style): Style {
  const within = (key: keyof Style) => Math.round(limited(key, wanted[key]) * 1000) / 1000;
  return {
    rate: within('rate'),
    pitch: within('pitch'),
    loudness: within('loudness'),
    pause: within('pause'),
  };
}

function withoutFillers(phrase: string): string {
  const words = phrase.split(' ').filter(Boolean);
  const says = (word: string) => !FILLERS.has(word.toLowerCase());
  const first = words.findIndex(says);
  return first < 0 ? '' : words.slice(first, words.findLastIndex(says) + 1).join(' ');
}

interface Caught {
  readonly much?: string | undefined;
  readonly number?: string | undefined;
  readonly not?: string | undefined;
}

/** `0.8`, `1/2` or `1 1/2`; no part of `0,8`, `-1` or `1/0.5`. */
const DIGITS = String.raw`(?<!\d,|[-/⁄])(?:(?:\d+ )?\d+[/⁄][1-9]\d*|\d*\.\d+|\d+)(?![/⁄]\d)`;
const NUMBER = `(?<number>${DIGITS}(?: ?%| percent\\b|x\\b)?|${alternatives(NUMBERS)})(?: times\\b)?`;

interface Reader {
  readonly row: WordRow;
  readonly patterns: readonly RegExp[];
}

let made: readonly Reader[] | undefined;

/** The patterns take 10 ms. */
export function readers(): readonly Reader[] {
  made ??= ROWS.map((row) => ({ row, patterns: row.says.map(pattern) }));
  return made;
}

function pattern(template: string): RegExp {
  const isPlain = !template.startsWith('{much} ') && !template.startsWith('{not} ');
  const source = template
    .replace(/ \{much\}$/u, `(?: (?<much>${alternatives(DEGREES)}))?`)
    .replace('{much} ', `(?:(?<much>${alternatives({ ...OPPOSITES, ...DEGREES })}) (?:more )?)?`)
    .replace('{not}', NEGATION)
    .replace('{number}', NUMBER)
    .replace('{digits}', DIGITS);
  const whole = isPlain ? `(?:(?<not>${NEGATION}) )?(?:${source})` : source;
  return new RegExp(String.raw`(?<![\w.'])(?:${whole})(?![\w'])`, 'giu');
}

function alternatives(words: Readonly<Record<string, number>>): string {
  return Object.keys(words).join('|');
}

const BEFORE = new RegExp(`(?<![\\w'])${CARRIED}`, 'iu');

/** UTF-16 units. */
const NEAR = 80;

function isDeniedAt(text: string, at: number): boolean {
  return BEFORE.test(text.slice(Math.max(0, at - NEAR), at));
}
