import type { Style } from './engine.ts';
import { DEGREES, FILLERS, NUMBERS, ROWS, type Row } from './instruction-words.ts';

/** What is allowed, as the port of the engine defines it. */
const LIMITS: Readonly<Record<keyof Style, readonly [least: number, most: number]>> = {
  rate: [0.25, 4],
  pitch: [0.5, 2],
  loudness: [0.1, 2],
  pause: [0, 5],
};

/** Stands where something was understood. */
const UNDERSTOOD = '\n';

/**
 * Reads how a voice is to speak from plain English words, which `instruction-words.ts` lists.
 *
 * @returns the style, and the phrases that were not understood, in the order of the text
 */
export function readInstructions(text: string): { style: Style; ignored: string[] } {
  const style = { rate: 1, pitch: 1, loudness: 1, pause: 1 };
  let rest = text.normalize('NFKC').replaceAll('’', "'").replace(/\s+/gu, ' ');
  for (const { row, patterns } of READERS) {
    for (const pattern of patterns) {
      rest = rest.replace(pattern, (...match) => {
        style[row.changes] *= factor(row, match.at(-1));
        return UNDERSTOOD;
      });
    }
  }
  return {
    style: limited(style),
    ignored: rest
      .split(/\n|[,;:!?]+|\.(?!\d)/u)
      .map(withoutFillers)
      .filter(Boolean),
  };
}

const MUCH = `(?<much>${alternatives(DEGREES)})`;
const NUMBER = String.raw`(?<number>\d+(?:\.\d+)?(?: ?%| percent\b|x\b)?|${alternatives(NUMBERS)})(?: times\b)?`;

const READERS = ROWS.map((row) => ({ row, patterns: row.says.map(pattern) }));

function pattern(template: string): RegExp {
  const source = template
    .replace(/ \{much\}$/u, `(?: ${MUCH})?`)
    .replace('{much} ', `(?:${MUCH} )?`)
    .replace('{number}', NUMBER);
  return new RegExp(String.raw`(?<![\w.'])(?:${source})(?![\w'])`, 'giu');
}

function alternatives(words: Readonly<Record<string, number>>): string {
  return Object.keys(words).join('|');
}

/** @param groups what the pattern caught by name, or else some string */
function factor({ by = 1, measure }: Row, groups: { much?: string; number?: string } | string): number {
  const { much, number } = typeof groups === 'string' ? {} : groups;
  if (measure === undefined) return by ** degree(much);
  const value = numberOf(number ?? '1');
  if (measure === 'times') return value;
  if (measure === 'divided' || (measure === 'less' && value >= 1)) return 1 / value;
  if (measure === 'less') return 1 - value;
  return value >= 1 ? value : 1 + value; // "three times faster" is meant as "three times as fast"
}

function degree(words: string | undefined): number {
  if (words === undefined) return 1;
  const entry = Object.entries(DEGREES).find(([key]) => new RegExp(`^(?:${key})$`, 'iu').test(words));
  return entry?.[1] ?? 1;
}

/** From a hundredth to a hundred, so that no product of them is beyond numbers. */
function numberOf(words: string): number {
  const value =
    NUMBERS[words.toLowerCase()] ?? Number.parseFloat(words) / (/%|percent/iu.test(words) ? 100 : 1);
  return Math.max(0.01, Math.min(100, value));
}

function limited(style: Style): Style {
  const within = (key: keyof Style) => {
    const [least, most] = LIMITS[key];
    return Math.max(least, Math.min(most, Math.round(style[key] * 1000) / 1000));
  };
  return {
    rate: within('rate'),
    pitch: within('pitch'),
    loudness: within('loudness'),
    pause: within('pause'),
  };
}

/** A phrase without the words at its ends that say nothing. */
function withoutFillers(phrase: string): string {
  const words = phrase.split(' ').filter(Boolean);
  const says = (word: string) => !FILLERS.has(word.toLowerCase());
  const first = words.findIndex(says);
  return first < 0 ? '' : words.slice(first, words.findLastIndex(says) + 1).join(' ');
}
