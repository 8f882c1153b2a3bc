/** Reads instructions such as "slower, deep" into the style of a built-in voice. */
import type { Style } from './engine.ts';

/** The style without instructions. */
export const PLAIN: Style = { rate: 1, pitch: 1, loudness: 1, pause: 1 };

const SLOW = { rate: 0.8 };
const FAST = { rate: 1.25 };
const HIGH = { pitch: 1.25 };
const DEEP = { pitch: 0.8 };
const LOUD = { loudness: 1.5 };
const SOFT = { loudness: 0.5 };
const LONG_PAUSES = { pause: 2 };
const SHORT_PAUSES = { pause: 0.5 };

/** Known words and pairs of words in lower case, with their factors. docs/instructions.md lists them all. */
const KNOWN_WORDS: readonly (readonly [words: string, factors: Partial<Style>])[] = [
  ['slow, slowly, slower, slow down, unhurried, leisurely, low speed', SLOW],
  ['fast, faster, quick, quickly, quicker, rapidly, swiftly, briskly, hurry, speed up, high speed', FAST],
  ['high, higher, high-pitched, shrill, squeaky', HIGH],
  ['low, lower, low-pitched, deep, deeply, deeper', DEEP],
  ['loud, loudly, louder, shout, shouting, speak up, high volume, full volume', LOUD],
  ['soft, softly, softer, quiet, quietly, quieter, gentle, gently, hushed, low volume', SOFT],
  ['whisper, whispering', { loudness: 0.3 }],
  ['longer pauses, long pauses, pause longer', LONG_PAUSES],
  ['shorter pauses, short pauses, pause shorter', SHORT_PAUSES],
  ['no pauses, without pauses', { pause: 0 }],
  ['calm, calmly', { rate: 0.9, loudness: 0.8 }],
  ['excited, excitedly', { rate: 1.1, pitch: 1.1, loudness: 1.2 }],
];

const FACTORS: ReadonlyMap<string, Partial<Style>> = new Map(
  KNOWN_WORDS.flatMap(([words, factors]) => words.split(', ').map((word) => [word, factors] as const)),
);

/** A clause with one of these, or with "…n't", is ignored, since it may mean the opposite of its words. */
const NEGATIONS = new Set(
  'no not never nor neither without less too avoid stop dont cannot hardly barely instead'.split(' '),
);

/** Words that are not reported as ignored. */
const FILLERS = new Set(
  (
    'a all also an and as at be between by could for i in is it kindly me my of or please should so that the then this to ' +
    'with would you your aloud everything keep make normal normally pace pitch pitched possible rate read reading say ' +
    'sentence sentences sound speak speaking speech speed spoken talk talking text than times tone use using usual voice ' +
    'volume want words'
  ).split(' '),
);

const LIMITS: Readonly<Record<keyof Style, readonly [least: number, most: number]>> = {
  rate: [0.25, 4],
  pitch: [0.5, 2],
  loudness: [0.1, 2],
  pause: [0, 5],
};

/**
 * Multiplies the factors of all known words in the instructions.
 * @returns the style, and the phrases that have no effect
 */
export function styleOf(instructions = ''): { readonly style: Style; readonly ignored: readonly string[] } {
  const style = { ...PLAIN };
  const ignored: string[] = [];
  for (const clause of instructions.normalize('NFKC').split(/[,;:!?.\n](?!\d)|\bbut\b/iu)) {
    const read = readClause(clause.split(/\s+/u).filter(Boolean));
    ignored.push(...read.ignored);
    for (const factors of read.factors)
      for (const key of Object.keys(factors) as (keyof Style)[])
        style[key] = limited(key, style[key] * (factors[key] ?? 1));
  }
  return { style, ignored };
}

function readClause(words: readonly string[]): { factors: Partial<Style>[]; ignored: string[] } {
  const factors: Partial<Style>[] = [];
  const unknown: string[][] = [[]];
  for (let at = 0; at < words.length; at += 1) {
    const word = plain(words[at]);
    const ofPair = FACTORS.get(`${word} ${plain(words[at + 1])}`);
    const found = ofPair ?? FACTORS.get(word);
    if (found) {
      factors.push(found);
      unknown.push([]);
      if (ofPair) at += 1;
    } else if (NEGATIONS.has(word) || word.endsWith("n't")) {
      return { factors: [], ignored: [words.join(' ')] };
    } else {
      unknown.at(-1)?.push(words[at] ?? '');
    }
  }
  return { factors, ignored: unknown.map(withoutFillers).filter((phrase) => phrase !== '') };
}

function plain(word = ''): string {
  return word.toLowerCase().replaceAll('’', "'");
}

function withoutFillers(words: readonly string[]): string {
  const isMeaningful = (word: string) => !FILLERS.has(plain(word));
  const first = words.findIndex(isMeaningful);
  return first < 0 ? '' : words.slice(first, words.findLastIndex(isMeaningful) + 1).join(' ');
}

function limited(key: keyof Style, value: number): number {
  const [least, most] = LIMITS[key];
  return Math.round(Math.max(least, Math.min(most, value)) * 1000) / 1000;
}
