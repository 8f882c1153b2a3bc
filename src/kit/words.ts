import { closest, distance } from 'fastest-levenshtein';
import stripAnsi from 'strip-ansi';

const LEAST_TELLING = 3;

/** Finds the shortest candidate that begins with the name or has it as a word, else the one spelled most alike. */
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
  if (candidates.length === 0) return undefined;
  const typed = name.toLowerCase();
  const slip = candidates.find((candidate) => isOneLetterOff(typed, candidate.toLowerCase()));
  if (slip !== undefined) return slip;
  const nearest = closest(
    typed,
    candidates.map((candidate) => candidate.toLowerCase()),
  );
  // All codes of two or three letters are near to each other.
  const most = name.length <= 3 ? 1 : Math.max(2, Math.floor(name.length / 3));
  const near = distance(typed, nearest) <= most;
  return near ? candidates.find((candidate) => candidate.toLowerCase() === nearest) : undefined;
}

/** True if one letter is wrong, missing or too many, or two are swapped. */
export function isOneLetterOff(word: string, known: string): boolean {
  const letters = (text: string) => text.split('').sort().join('');
  const edits = distance(word, known);
  return edits === 1 || (edits === 2 && letters(word) === letters(known));
}

export function keyHint(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  return nearest ? `did you mean ${JSON.stringify(nearest)}?` : `there are: ${known.join(', ')}`;
}

/** Characters. */
const LONGEST = 500;

/** Makes text from outside fit for a terminal: one line, without control and format characters, of at most 500 characters. */
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

/** Makes lines of text fit for a terminal: of what is no text, only line ends, tabs and joiners stay. */
export function printableLines(text: string): string {
  return withoutEscapes(text)
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .replace(/(?![\t\n\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}]/gu, '');
}

export function inOneLine(text: string): string {
  return visible(text.replace(/\s+/g, ' '));
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
 * Gives the age of a time. A time in the future, after a change of the clock, counts as old, too.
 * @param time in milliseconds since 1970, as `now`
 * @returns milliseconds
 */
export function ageOf(time: number, now = Date.now()): number {
  return Math.abs(now - time);
}
