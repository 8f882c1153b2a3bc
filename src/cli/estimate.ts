import { type Kept, segmentKey } from '../cache/kept.ts';
import { type Mix, silenceOf } from '../speech/mix.ts';
import type { Rest, Segment } from '../text/segment.ts';
import { expectedSeconds } from '../text/speaking-time.ts';
import { countCodePoints } from '../text/unicode.ts';
import type { Voice } from '../voices/voice.ts';

/** What a run would send and make. */
export interface Estimated {
  readonly characters: number;
  readonly charactersToSend: number;
  readonly segments: number;
  readonly requests: number;
  readonly inCache: number;
  /** Seconds of sound, with its pauses. */
  readonly duration: number;
}

/** What is known of the pace of a voice. */
interface Pace {
  /** Seconds of sound in the cache, and of the same texts at a usual pace. */
  kept: number;
  keptUsual: number;
  /** Seconds of all other texts at a usual pace. */
  newUsual: number;
}

/** Counts what a run would send. Texts that come twice are sent once where sound is kept. */
export class Estimate {
  /** Characters that a service is paid for: voices of this machine cost nothing. */
  paidCharacters = 0;
  readonly #mix: Mix;
  readonly #paces = new Map<string, Pace>();
  /** Hashes of the texts to send. Numbers take less room than keys. */
  readonly #toSend = new Set<number>();
  #characters = 0;
  #charactersToSend = 0;
  #segments = 0;
  #inCache = 0;
  #pauses = 0;

  constructor(mix: Mix) {
    this.#mix = mix;
  }

  get result(): Estimated {
    return {
      characters: this.#characters,
      charactersToSend: this.#charactersToSend,
      segments: this.#segments,
      requests: this.#segments - this.#inCache,
      inCache: this.#inCache,
      duration: Math.round(10 * (this.#pauses + this.#seconds)) / 10,
    };
  }

  /** True if a part of the length is not that of sound in the cache. */
  get isGuessed(): boolean {
    return [...this.#paces.values()].some(({ newUsual }) => newUsual > 0);
  }

  /**
   * @param isFirst true where the sound begins, so that no pause comes before
   * @param kept the cache of the voice; `undefined` where its sound is not kept
   */
  async add(segment: Segment | Rest, isFirst: boolean, voice: Voice, kept: Kept | undefined): Promise<void> {
    if (segment.kind === 'rest') {
      this.#pauses += segment.seconds;
      return;
    }
    const { text, written, pause } = segment;
    if (!isFirst || typeof pause === 'number') this.#pauses += silenceOf(pause, this.#mix);
    const seconds = await kept?.secondsOf({ shape: voice.shape, text, written });
    const isAsked = kept && seconds === undefined && this.#isAsked(segmentKey(voice.shape, text));
    this.addText(text, voice, { seconds, isAsked });
  }

  /** Counts a text without its cuts. */
  addText(
    text: string,
    voice: Pick<Voice, 'kind' | 'shape' | 'speed'>,
    {
      seconds,
      isAsked = false,
    }: { readonly seconds?: number | undefined; readonly isAsked?: boolean | undefined } = {},
  ): void {
    const characters = countCodePoints(text);
    const speed = voice.speed ?? 1;
    const usual = expectedSeconds(text) / speed;
    this.#segments += 1;
    this.#characters += characters;
    const pace = this.#paceOf(voice);
    if (seconds === undefined) pace.newUsual += usual;
    else {
      pace.kept += seconds / speed;
      pace.keptUsual += usual;
    }
    if (seconds !== undefined || isAsked) this.#inCache += 1;
    else {
      this.#charactersToSend += characters;
      if (voice.kind === 'service') this.paidCharacters += characters;
    }
  }

  get #seconds(): number {
    let sum = 0;
    for (const { kept, keptUsual, newUsual } of this.#paces.values())
      sum += kept + newUsual * (keptUsual > 0 ? kept / keptUsual : 1);
    return sum;
  }

  #paceOf({ shape: { identity, speaker } }: Pick<Voice, 'shape'>): Pace {
    const key = `${speaker} ${identity}`;
    const pace = this.#paces.get(key) ?? { kept: 0, keptUsual: 0, newUsual: 0 };
    this.#paces.set(key, pace);
    return pace;
  }

  /** @param key a hash in hex */
  #isAsked(key: string): boolean {
    const hash = Number.parseInt(key.slice(0, 13), 16);
    const isAsked = this.#toSend.has(hash);
    this.#toSend.add(hash);
    return isAsked;
  }
}
