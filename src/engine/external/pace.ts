import { leastSeconds, usualSeconds } from '../../text/speaking-time.ts';
import { countCodePoints } from '../../text/unicode.ts';

/** Only letters and digits count. A shorter text may have any sound. */
const FEWEST_LETTERS = 40;

/** Sound below this share of the pace of a voice may lack a part of the text. */
const SHARE = 0.6;

/** It takes this many texts to know the pace of a voice. */
const FEWEST_TEXTS = 3;

/** Later texts take the places of the first ones. */
const MOST_TEXTS = 64;

/** A text that is longer than what an engine has spoken of another one by so much may be cut as well. */
const MARGIN = 1.05;

interface Early {
  readonly text: string;
  readonly seconds: number;
  readonly onShort: () => void;
}

/** What is known of the pace of a voice. A pace of 1 is the usual one. */
export class VoicePace {
  readonly #paces: number[] = [];
  /** Texts that were spoken before the pace was known. */
  #early: readonly Early[] = [];
  #count = 0;
  #isFast = false;
  /** Characters that the engine speaks of a text at most, as far as it is known. */
  #limit = Number.POSITIVE_INFINITY;

  /** @returns the seconds from which on the sound of the text counts as whole without a question */
  secondsOfWhole(text: string): number {
    if (lettersOf(text).length < FEWEST_LETTERS) return 0;
    if (this.#isBeyondLimit(text)) return Number.POSITIVE_INFINITY;
    return Math.max(leastSecondsOf(text), SHARE * this.#pace * usualSeconds(text));
  }

  get isKnown(): boolean {
    return this.#paces.length >= FEWEST_TEXTS;
  }

  /**
   * The sound was that of the whole text.
   * @param onShort it is called where what is learned later says that the sound was short
   */
  learn(text: string, seconds: number, onShort?: () => void): void {
    if (lettersOf(text).length < FEWEST_LETTERS) return;
    if (onShort) this.#early = [...this.#early, { text, seconds, onShort }];
    this.#paces[this.#count % MOST_TEXTS] = seconds / usualSeconds(text);
    this.#count += 1;
    this.#lookBack();
  }

  /** The sound seemed to be short, and was that of the whole text. */
  learnFast(text: string, seconds: number): void {
    this.#isFast ||= !this.#isBeyondLimit(text);
    this.learn(text, seconds);
  }

  /** The sound was that of a part of its text. */
  learnLimit(seconds: number): void {
    this.#limit = Math.min(this.#limit, this.charactersIn(seconds));
    this.#lookBack();
  }

  #lookBack(): void {
    const all = this.#early;
    this.#early = all.filter(({ text, seconds }) => seconds >= this.secondsOfWhole(text));
    for (const each of all) if (!this.#early.includes(each)) each.onShort();
  }

  /** @returns the number of characters that the voice speaks in a time */
  charactersIn(seconds: number): number {
    return Math.round(seconds / this.#pace / usualSeconds('x'));
  }

  #isBeyondLimit(text: string): boolean {
    return countCodePoints(text) > MARGIN * this.#limit;
  }

  /** It is the median. Until a fast one is proven, sound of a usual pace is expected. */
  get #pace(): number {
    if (!this.isKnown) return 1;
    const sorted = this.#paces.toSorted((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? 1;
    return this.#isFast ? median : Math.max(1, median);
  }
}

/** Only letters and digits count. */
export function leastSecondsOf(text: string): number {
  const letters = lettersOf(text);
  return letters.length < FEWEST_LETTERS ? 0 : leastSeconds(letters.join(''));
}

function lettersOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}]/gu) ?? [];
}
