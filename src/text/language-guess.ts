import { entriesOf } from '../kit/words.ts';
import { lazy } from './unicode.ts';

/** Unicode script names, each with the language most often written in it. */
const SCRIPTS = entriesOf(`
  Hiragana ja, Katakana ja, Hangul ko, Han zh, Cyrillic ru, Greek el, Arabic ar, Hebrew he, Devanagari hi, Bengali bn,
  Tamil ta, Thai th, Armenian hy, Georgian ka`);

/** Frequent words of languages in Latin script. A word of two languages counts for both. */
const WORDS: Readonly<Record<string, string>> = {
  en: 'the and of to in that was his her with he she it for had not you is but they this have from which were be',
  de: 'der die das und nicht ist ich sie mit ein eine einen auf den dem des zu von war wie auch noch sich aber wir hatte im',
  fr: 'le la les et de un des une est dans que qui pas pour sur vous avec je il elle du au ce mais nous était plus ne se',
  es: 'el la los las y de que un una en por con no se su para del es como más pero lo al era muy este sus fue había',
  it: 'il la in che di e non un una per con si del della sono è era gli le nel alla come ma più anche questo dei',
  pt: 'o a os de um as e que não uma um com para do da em por mais se no na é mas foi como ao dos das ele ela seu',
  nl: 'de het een en van dat niet ik was zijn met hij op voor te haar ze maar er aan bij ook naar had wij deze',
  pl: 'nie się że jest na to jak ale był było tak już tylko przez po od jego była ze który mnie co dla ich przed',
  sv: 'och att det som en på är av för med han hon den inte var till om jag men ett sig hade från så ni',
};

export const LETTERS = lazy(() => /\p{L}/gu);
const LATIN = lazy(() => /\p{sc=Latin}/gu);
const PATTERNS = lazy(() =>
  SCRIPTS.map(([script, language]) => ({ language, letters: new RegExp(`\\p{sc=${script}}`, 'gu') })),
);
const BY_WORD = lazy(() => {
  const languages = new Map<string, string[]>();
  for (const [language, words] of Object.entries(WORDS))
    for (const word of words.split(' ')) languages.set(word, [...(languages.get(word) ?? []), language]);
  return languages;
});

/** Fewer words are not enough for a guess. */
const LEAST_WORDS = 12;

/** Least share of frequent words. In prose, it is about 0.4. */
const LEAST_SHARE = 0.2;

/** The best language must have this many times the frequent words of the second best. */
const LEAST_LEAD = 1.25;

/** Guesses the language of a text by its script and its frequent words, without a dictionary. */
export class LanguageGuess {
  letters = 0;
  #latin = 0;
  #words = 0;
  readonly #byScript = new Map<string, number>();
  readonly #byWord = new Map<string, number>();

  add(text: string): void {
    const letters = count(text, LETTERS());
    const latin = count(text, LATIN());
    this.letters += letters;
    this.#latin += latin;
    if (latin < letters)
      for (const { language, letters } of PATTERNS()) add(this.#byScript, language, count(text, letters));
    for (const word of text.toLowerCase().split(/[^\p{L}\p{M}]+/u)) {
      if (word === '') continue;
      this.#words += 1;
      for (const language of BY_WORD().get(word) ?? []) add(this.#byWord, language, 1);
    }
  }

  /** A two-letter code; `undefined` if the text does not decide it. */
  get language(): string | undefined {
    if (this.letters === 0) return undefined;
    if (this.#latin * 2 < this.letters) return this.#ofScript;
    const [best, second] = [...this.#byWord].sort(([, a], [, b]) => b - a);
    if (!best || this.#words < LEAST_WORDS || best[1] < LEAST_SHARE * this.#words) return undefined;
    return second && second[1] * LEAST_LEAD > best[1] ? undefined : best[0];
  }

  /** Japanese mixes Han characters with kana, so some kana decide for it. */
  get #ofScript(): string | undefined {
    const of = (language: string) => this.#byScript.get(language) ?? 0;
    if (of('ja') > 0 && of('ja') * 10 > of('zh')) return 'ja';
    const most = (this.letters - this.#latin) / 2;
    return [...this.#byScript].find(([, letters]) => letters > most)?.[0];
  }
}

function add(counts: Map<string, number>, key: string, more: number): void {
  if (more > 0) counts.set(key, (counts.get(key) ?? 0) + more);
}

export function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
