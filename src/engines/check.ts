import { expectedSeconds, leastSeconds, usualSeconds } from '../text/speaking-time.ts';
import { countCodePoints, hasWord } from '../text/unicode.ts';

/** Only letters and digits count. A shorter text may have any sound. */
const FEWEST_LETTERS = 40;

/** Sound below this share of the pace of a voice may lack a part of the text. */
const SHARE = 0.6;

/** Sound beyond this multiple of the pace of a voice is not that of its text. */
const MOST_TIMES = 3;

/** Seconds that the sound of any text may have in addition: short texts vary most. */
const MOST_MORE = 2;

/** No voice speaks more slowly than this multiple of a usual pace. */
const SLOWEST = 3;

/** It takes this many texts to know the pace of a voice. */
const FEWEST_TEXTS = 3;

/** Later texts take the places of the first ones. */
const MOST_TEXTS = 64;

/** A text that is longer than what an engine has spoken of another one by so much may be cut as well. */
const MARGIN = 1.05;

interface Early {
  readonly text: string;
  readonly seconds: number;
  readonly onMisfit: (fault: Misfit) => void;
}

/** How a sound does not fit its text. */
export type Misfit = 'short' | 'long' | 'silent';

/** What is known of the pace of a voice. A pace of 1 is the usual one. */
export class VoicePace {
  readonly #paces: number[] = [];
  /** Texts that were spoken before the pace was known. */
  #early: Early[] = [];
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

  /** @returns the seconds that the sound of the text may have at most */
  mostSecondsOf(text: string): number {
    if (!this.isKnown) return Number.POSITIVE_INFINITY;
    return MOST_TIMES * Math.min(SLOWEST, this.#pace) * expectedSeconds(text) + MOST_MORE;
  }

  get isKnown(): boolean {
    return this.#paces.length >= FEWEST_TEXTS;
  }

  /**
   * The sound was that of the whole text.
   * @param onMisfit it is called where what is learned later says that the sound was too short or too long
   */
  learn(text: string, seconds: number, onMisfit?: Early['onMisfit']): void {
    if (lettersOf(text).length < FEWEST_LETTERS) return;
    if (onMisfit) this.#early.push({ text, seconds, onMisfit });
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
    this.#early = [];
    for (const each of all) {
      const { text, seconds, onMisfit } = each;
      if (seconds < this.secondsOfWhole(text)) onMisfit('short');
      else if (seconds > this.mostSecondsOf(text)) onMisfit('long');
      else this.#early.push(each);
    }
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

/** Seconds of silence inside the sound of a text. */
const MOST_SILENCE = 1.5;

/** Seconds, where signs of the text ask for a rest. */
const MOST_REST = 2 * MOST_SILENCE;

/** Signs at which a voice rests, and borders of paragraphs. */
const RESTS = /\.\.|…|—|--|\n\n/u;

function mostSilenceOf(text: string): number {
  if (!hasWord(text)) return Number.POSITIVE_INFINITY;
  return RESTS.test(text) ? MOST_REST : MOST_SILENCE;
}

/** Sound of zeros cannot be that of so many letters. */
const FEWEST_SOUNDING = 10;

/** Seconds of silence that stay at the end of a sound. */
const SILENCE_AT_END = 0.5;

/** What lies so far below the loudest sample counts as silence: 40 dB. */
const SILENT = 1 / 100;

/** A sound as it comes: its length, the silence inside, and without what its end has too much of it. */
export class Incoming {
  readonly text: string;
  /** Hz; 1 until the first samples come. */
  #sampleRate = 1;
  /** Seconds of silence that the sound may have inside. */
  readonly #mostSilence: number;
  /** What was not taken yet, up to the last sample that is not silent. */
  #sounding: Int16Array[] = [];
  #held = 0;
  #silence: Int16Array[] = [];
  #silentFrames = 0;
  #soundingFrames = 0;
  #longest = 0;
  #peak = 0;

  /** @param speed 0.5 is half as fast */
  constructor(text: string, speed: number) {
    this.text = text;
    this.#mostSilence = mostSilenceOf(text) / Math.min(1, speed);
  }

  /** @param sampleRate Hz, the same for all samples */
  push(samples: Int16Array, sampleRate: number): void {
    this.#sampleRate = sampleRate;
    const end = this.#measure(samples);
    if (end > 0) {
      const sounding = [...this.#silence, samples.subarray(0, end)];
      for (const { byteLength } of sounding) this.#held += byteLength;
      this.#sounding.push(...sounding);
      this.#silence = [];
    }
    // The rest of a silence that is too long is trimmed at the end, or the text is asked for again.
    const most = Math.max(this.#mostSilence, SILENCE_AT_END) * this.#sampleRate;
    const before = this.#silentFrames - (samples.length - end);
    if (before < most) this.#silence.push(samples.subarray(end, end + Math.ceil(most - before)));
  }

  /** @returns the number of samples up to the last one that is not silent */
  #measure(samples: Int16Array): number {
    let end = 0;
    for (let at = 0; at < samples.length; at += 1) {
      const size = Math.abs(samples[at] ?? 0);
      if (size === 0 || size < this.#peak * SILENT) continue;
      if (size > this.#peak) this.#peak = size;
      this.#longest = Math.max(this.#longest, this.#silentFrames + at - end);
      this.#soundingFrames += this.#silentFrames + at + 1 - end;
      this.#silentFrames = 0;
      end = at + 1;
    }
    this.#silentFrames += samples.length - end;
    return end;
  }

  /** Of the sound without what its end has too much. */
  get seconds(): number {
    return (
      this.#soundingFrames / this.#sampleRate +
      Math.min(SILENCE_AT_END, this.#silentFrames / this.#sampleRate)
    );
  }

  /** In seconds: the longest silence inside. Sound of zeros is a silence. */
  get silence(): number {
    return (this.#peak === 0 ? this.#silentFrames : this.#longest) / this.#sampleRate;
  }

  get isDead(): boolean {
    return this.#longest / this.#sampleRate > this.#mostSilence;
  }

  /** True of a sound of zeros, at its end. */
  get isMute(): boolean {
    return this.#peak === 0 && lettersOf(this.text).length >= FEWEST_SOUNDING;
  }

  /** Bytes that were not taken yet. */
  get held(): number {
    return this.#held;
  }

  /** @returns the sound up to here, without the silence at its end */
  take(): readonly Int16Array[] {
    this.#held = 0;
    return this.#sounding.splice(0);
  }

  /** @returns the rest of the sound, at its end */
  end(): readonly Int16Array[] {
    let room = Math.round(SILENCE_AT_END * this.#sampleRate);
    const silence = this.#silence.map((samples) => {
      const kept = samples.subarray(0, room);
      room -= kept.length;
      return kept;
    });
    return [...this.take(), ...silence];
  }
}
