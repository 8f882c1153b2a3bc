import { closest, distance } from 'fastest-levenshtein';
import stripAnsi from 'strip-ansi';
import type { Host } from './host.ts';

/** Letters that a name needs before it counts as a shortened one. */
const LEAST_TELLING = 3;

/** Finds the shortest candidate that begins with the name or has it as a word, else the one spelled most similarly. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  return shortened(name, candidates) ?? nearlyWritten(name, candidates);
}

function shortened(name: string, candidates: readonly string[]): string | undefined {
  const typed = withoutDashes(name);
  if (typed.length < LEAST_TELLING) return undefined;
  const isMeant = (candidate: string) => {
    const whole = withoutDashes(candidate);
    return whole.startsWith(typed) || whole.split('-').includes(typed);
  };
  return candidates.filter(isMeant).sort((a, b) => a.length - b.length)[0];
}

function withoutDashes(name: string): string {
  return name.toLowerCase().replace(/^-+/, '');
}

function nearlyWritten(name: string, candidates: readonly string[]): string | undefined {
  // All codes of two or three letters are similar to each other.
  const most = name.length <= 3 ? 1 : Math.max(2, Math.floor(name.length / 3));
  // Each letter too many is an edit, so names of other lengths need no comparison, which takes time for a long name.
  const similar = candidates.filter(({ length }) => Math.abs(length - name.length) <= most);
  if (similar.length === 0) return undefined;
  const typed = name.toLowerCase();
  const slip = similar.find((candidate) => isOneLetterOff(typed, candidate.toLowerCase()));
  if (slip !== undefined) return slip;
  const nearest = closest(
    typed,
    similar.map((candidate) => candidate.toLowerCase()),
  );
  const near = distance(typed, nearest) <= most;
  return near ? similar.find((candidate) => candidate.toLowerCase() === nearest) : undefined;
}

/** True if one letter is wrong, missing or too many, or two are swapped. */
function isOneLetterOff(word: string, known: string): boolean {
  const letters = (text: string) => text.split('').sort().join('');
  const edits = distance(word, known);
  return edits === 1 || (edits === 2 && letters(word) === letters(known));
}

export function keyHint(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  return nearest ? `did you mean ${JSON.stringify(nearest)}?` : `there are: ${known.join(', ')}`;
}

/** Characters of the longest printed text. */
const LONGEST = 500;

/** Makes text from outside fit for a terminal: one line of at most 500 characters, without control and format characters. */
export function printable(text: string): string {
  const clean = text
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const characters = Array.from(clean.slice(0, 2 * LONGEST + 2));
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join('')}…` : clean;
}

/**
 * Makes a name or value fit for a terminal. Control and format characters become escapes of JSON. Joiners stay: emoji need
 * them.
 */
export function visible(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text.replace(/(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** Makes lines of text fit for a terminal: of the control characters, only line ends, tabs and joiners stay. */
export function printableLines(text: string): string {
  return withoutEscapes(text)
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .replace(/(?![\t\n\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}]/gu, '');
}

export function inOneLine(text: string): string {
  return visible(text.replace(/\s+/g, ' '));
}

/** UTF-16 units of the longest message. Paths are shorter. */
const LONGEST_MESSAGE = 5000;

/** Makes a message that quotes a very long name shorter: its beginning and its end say what is wrong. */
export function withoutMiddle(message: string): string {
  const half = LONGEST_MESSAGE / 2;
  return message.length <= LONGEST_MESSAGE ? message : `${message.slice(0, half)}…${message.slice(-half)}`;
}

/** Takes linear time, unlike Node's `stripVTControlCharacters`. */
export function withoutEscapes(text: string): string {
  return stripAnsi(text);
}

/** Makes a name or value fit for a sentence on a terminal. */
export function quoted(text: string): string {
  return `"${visible(text)}"`;
}

/**
 * Returns the age of a time. A time in the future, after a change of the clock, also counts as old.
 * @param time in milliseconds since 1970, as `now`
 * @returns milliseconds
 */
export function ageOf(time: number, now = Date.now()): number {
  return Math.abs(now - time);
}

/** Quotes a word for a POSIX shell, if it needs that. */
export function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for HTML and XML, also between double quotation marks. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/gu, (sign) => SIGNS[sign] ?? sign);
}

/** Writes `9.8 s`, `41 s`, `3 min 12 s` or `2 h 5 min`. */
export function duration(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const BYTE_UNITS = ['KiB', 'MiB', 'GiB', 'TiB'];

/** Writes `512 bytes` or `1.5 MiB`. */
export function bytesInWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  // 1023.95 and more would be rounded to 1024.0.
  const power =
    BYTE_UNITS.findIndex((_, index) => bytes < 1023.95 * 1024 ** (index + 1)) + 1 || BYTE_UNITS.length;
  return `${(bytes / 1024 ** power).toFixed(1)} ${BYTE_UNITS[power - 1]}`;
}

/** Returns the width of a text in terminal cells. */
export function widthOf(text: string): number {
  return Array.from(text, cellsOf).reduce((sum, cells) => sum + cells, 0);
}

/** Everything from U+2300 on counts as wide: a line is cut early rather than wrapped. */
export function cellsOf(character: string): number {
  const point = character.codePointAt(0) ?? 0;
  return point >= 0x2300 || (point >= 0x1100 && point < 0x1160) ? 2 : 1;
}

/** Reads a table written as text: `km kilometer, m meter`. A key ends at the first space. */
export function entriesOf(table: string): (readonly [key: string, value: string])[] {
  return table
    .trim()
    .split(/,\s+/u)
    .map((entry) => {
      const [key = ''] = entry.split(' ', 1);
      return [key, entry.slice(key.length + 1)];
    });
}

export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** @returns the names that are shown of this number, and how many more there are */
export function withMore(shown: readonly string[], count: number): readonly string[] {
  return count > shown.length ? [...shown, `and ${count - shown.length} more`] : shown;
}

/** Writes a count as `2,130`. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Writes a price as `$0.30`, `0.30 EUR` or `0.30`. One that is too small for two decimals gets four. */
export function priceInWords(price: number, currency = ''): string {
  const amount = price.toFixed(price > 0 && price < SMALLEST_SHOWN ? 4 : 2);
  return /\p{L}/u.test(currency) ? `${amount} ${currency}` : `${currency}${amount}`;
}

/** A lower price would be rounded to zero with two decimals. */
const SMALLEST_SHOWN = 0.005;

const GAP = 2;

/** Returns the width of the terminal that a table goes to; in a pipe, each row is one line of any length. */
export function columnsOf({ stdout: { isTTY, columns } }: Pick<Host, 'stdout'>): number | undefined {
  return isTTY ? columns || USUAL_COLUMNS : undefined;
}

const USUAL_COLUMNS = 80;
/** Characters. A narrower column would hardly hold a word. */
const NARROWEST = 8;

/** @param columns the width of a row: longer ones have their widest cell wrapped between words */
export function table(rows: readonly (readonly string[])[], columns?: number): string {
  const widths = widthsOf(rows);
  const all = widths.reduce((sum, width) => sum + width + GAP, -GAP);
  if (columns === undefined || all <= columns) return aligned(rows, widths);
  const widest = widths.indexOf(Math.max(...widths));
  const width = Math.max(NARROWEST, (widths[widest] ?? 0) - (all - columns));
  const broken = rows.flatMap((row) => {
    const [first = '', ...more] = brokenAt(row[widest] ?? '', width);
    const below = more.map((part) => row.map((_, column) => (column === widest ? part : '')));
    return [row.map((cell, column) => (column === widest ? first : cell)), ...below];
  });
  return aligned(broken, widthsOf(broken));
}

/** Wraps a text into lines of at most this width. A longer word stays whole. */
export function brokenAt(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widest = (column: number) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[column] ?? '')), 0);
  return (rows[0] ?? []).map((_, column) => widest(column));
}

function aligned(rows: readonly (readonly string[])[], widths: readonly number[]): string {
  const padded = (cell: string, column: number) =>
    cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell)));
  return rows.map((row) => row.map(padded).join(' '.repeat(GAP)).trimEnd()).join('\n');
}
