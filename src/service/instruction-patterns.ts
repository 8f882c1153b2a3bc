import { CARRIED, DEGREES, NEGATION, NUMBERS, OPPOSITES, ROWS, type Row } from './instruction-words.ts';

/** What a pattern may catch by name. */
export interface Caught {
  /** A word of degree. */
  readonly much?: string | undefined;
  readonly number?: string | undefined;
  /** A negation, which leaves things as they are. Where it is a degree, or the row's own, there is no such name. */
  readonly not?: string | undefined;
}

/** `0.8`, `1/2` or `1 1/2`, but no part of `0,8`, `-1` or `1/0.5`. */
const DIGITS = String.raw`(?<!\d,|[-/⁄])(?:(?:\d+ )?\d+[/⁄][1-9]\d*|\d*\.\d+|\d+)(?![/⁄]\d)`;
const NUMBER = `(?<number>${DIGITS}(?: ?%| percent\\b|x\\b)?|${alternatives(NUMBERS)})(?: times\\b)?`;

interface Reader {
  readonly row: Row;
  readonly patterns: readonly RegExp[];
}

let made: readonly Reader[] | undefined;

/** The rows, each with its patterns. They take 10 ms to make, which whoever gives no instructions need not wait for. */
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

/** So much in front of a word can hold what denies it, in UTF-16 units. */
const NEAR = 80;

/** Whether a negation that stands in front of other words holds at this place as well. */
export function isDeniedAt(text: string, at: number): boolean {
  return BEFORE.test(text.slice(Math.max(0, at - NEAR), at));
}
