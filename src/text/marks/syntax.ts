import type { Place } from '../piece.ts';

/** Each mark becomes one character of the private planes 15 and 16. Those of the text itself become marks as well. */
export const FIRST_MARK = 0xf_0000;
export const MARK = '[\\u{f0000}-\\u{10ffff}]';

/** What stands in square brackets. */
export type Mark =
  | { readonly kind: 'pause'; readonly seconds: number }
  | { readonly kind: 'voice'; readonly voice: string | undefined; readonly spot?: Place }
  | { readonly kind: 'chapter'; readonly title: string }
  /** A character that looked like a part of a mark. */
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'fault'; readonly what: string; readonly hint: string; readonly spot?: Place };

/** UTF-16 units, with both brackets. */
export const LONGEST_MARK = 200;

/** Seconds. */
const LONGEST_PAUSE = 60;

const WORDS = ['pause', 'voice', 'chapter', 'rate', 'speed', 'break'] as const;
const ESCAPE = 'write \\[ in front of text that is no mark';

const BEGINNING = new RegExp(`^\\[[^\\S\\n]{0,3}/?(${WORDS.join('|')})(?![\\p{L}\\p{N}_]|['’-]\\p{L})`, 'iu');
/** The text may become the beginning of a mark. */
const INCOMPLETE = new RegExp(`^\\[[^\\S\\n]{0,3}/?(?:[a-z]{0,6}|(?:${WORDS.join('|')})['’-]?)$`, 'iu');
const EXACT = /^(\/?)([a-z]+)(?::(.*))?$/iu;

interface Found {
  /** UTF-16 units, with both brackets. */
  readonly length: number;
  readonly mark: Mark;
}

/**
 * Looks for a mark.
 * @param text it begins with a bracket
 * @param isWhole true if no text follows
 * @returns `undefined` for a bracket of the text, and "open" where more text decides
 */
export function markAt(text: string, isWhole: boolean): Found | 'open' | undefined {
  const [beginning, word = ''] = BEGINNING.exec(text) ?? [];
  if (beginning === undefined) return !isWhole && INCOMPLETE.test(text) ? 'open' : undefined;
  const mayGoOn = !isWhole && text.length < LONGEST_MARK;
  if (mayGoOn && text.length <= beginning.length + 1) return 'open';
  const inside = /^\[([^\]\n]*)([\]\n]?)/u.exec(text.slice(0, LONGEST_MARK));
  const [, content = '', end = ''] = inside ?? [];
  if (end === ']') return { length: content.length + 2, mark: markOf(content) };
  if (end === '' && mayGoOn) return 'open';
  // "[Voice of reason" begins a remark that goes on.
  if (!/^[:=]/u.test(text.slice(beginning.length))) return undefined;
  return { length: beginning.length, mark: fault(`the mark [${word} has no end`, `close it: [${word}:…]`) };
}

function markOf(content: string): Mark {
  const [, slash = '', name = '', value] = EXACT.exec(content) ?? [];
  const word = WORDS.find((each) => each === name.toLowerCase());
  if (!word) return nearMiss(content);
  if (word === 'rate' || word === 'speed')
    return fault(
      `there is no mark [${word}]`,
      '--speed 1.2 sets the speed of a run, and "speed" that of a voice',
    );
  if (word === 'break') return fault('there is no mark [break]', 'a pause is written [pause:0.5s]');
  if (slash !== '' && (word !== 'voice' || value !== undefined)) return nearMiss(content);
  return MARKS[word](value?.trim(), content);
}

type Reading = (value: string | undefined, content: string) => Mark;

const MARKS: Readonly<Record<'pause' | 'voice' | 'chapter', Reading>> = {
  pause(value, content) {
    const [, number, unit = 's'] = /^(\d+(?:\.\d+)?|\.\d+)\s*(s|ms)?$/iu.exec(value ?? '1') ?? [];
    if (number === undefined) return nearMiss(content);
    const seconds = Number(number) / (unit.toLowerCase() === 'ms' ? 1000 : 1);
    if (seconds <= LONGEST_PAUSE) return { kind: 'pause', seconds };
    return fault(`[${content}] is longer than ${LONGEST_PAUSE} s`, 'write several pauses: they add up');
  },
  voice: (value, content) => (value === '' ? nearMiss(content) : { kind: 'voice', voice: value }),
  chapter: (title, content) => (title ? { kind: 'chapter', title } : nearMiss(content)),
};

function nearMiss(content: string): Mark {
  const word = WORDS.find((each) => new RegExp(`^\\W*${each}`, 'iu').test(content));
  const examples: Partial<Record<string, string>> = {
    pause: '[pause:1.5s], [pause:300ms] or [pause]',
    voice: '[voice:NAME], and [voice] for the usual voice again',
    chapter: '[chapter:Title]',
    rate: '--speed on the command line',
    speed: '--speed on the command line',
    break: '[pause:0.5s]',
  };
  return fault(`[${content}] is no mark`, `write ${examples[word ?? 'pause']}; ${ESCAPE}`);
}

function fault(what: string, hint: string): Mark {
  return { kind: 'fault', what, hint };
}
