/** When each word of a segment is heard. */
import type { RunContext } from '../kit/host.ts';
import { type Alignment, align } from '../sound/align.ts';
import { frameBytes, type PcmFormat } from '../sound/pcm.ts';
import type { Speaker } from '../sound/voice.ts';
import type { Segment } from '../text/segment.ts';
import { sharedTokens, type Token } from '../text/shared-tokens.ts';
import { segmenters } from '../text/unicode.ts';
import { spokenLanguage } from '../voices/language.ts';
import { Comparable } from '../voices/proof.ts';
import type { Reference, TimedSound } from '../voices/timed-words.ts';
import type { Part } from './ahead.ts';

/**
 * How word times were found: `exact` is reported by the voice itself; `aligned` comes from a comparison with the sound of
 * another voice whose times are known; `spread` divides the time in proportion to the characters.
 */
export type TimeSource = 'exact' | 'aligned' | 'spread';

/**
 * Average error of a word border in seconds, as measured. `aligned`: between the built-in voices (26 ms, 95 % within 87) and
 * with two voices of Festival (14 and 24 ms, 95 % within 54); in other languages with Festival in Italian and Czech (11 and
 * 21 ms, 95 % within 59), and in 14 languages between voices of espeak-ng (9 ms, 95 % within 33, by its library's events).
 * `spread`: with 6871 words of 240 sentences of the built-in voice (238 ms, 95 % within 600).
 */
export const EXPECTED_ERROR: Readonly<Record<TimeSource, number>> = {
  exact: 0.005,
  aligned: 0.03,
  spread: 0.24,
};

/** Start and end are in frames. */
interface TimedWord {
  readonly text: string;
  /** UTF-16 units of the segment before the word. */
  readonly at: number;
  readonly start: number;
  readonly end: number;
}

export interface TimedWords {
  readonly source: TimeSource;
  readonly words: readonly TimedWord[];
}

interface Context extends Pick<RunContext, 'signal'> {
  /** Called once, for the first words. */
  openReference(): Promise<Reference>;
}

export async function openReference(host: ConstructorParameters<typeof Reference>[0]): Promise<Reference> {
  const { Reference } = await import('../voices/timed-words.ts');
  return new Reference(host);
}

/** Finds the word times of one segment after the other. Disposing it also disposes the reference. */
export class WordTimes implements AsyncDisposable {
  readonly #speakerOf: (segment: Segment) => Speaker;
  readonly #context: Context;
  #reference: Promise<Reference> | undefined;
  #current: RecordedSegment | undefined;
  /** Settles when the previous segment has its word times. */
  #before: Promise<unknown> = Promise.resolve();

  constructor(speakerOf: (segment: Segment) => Speaker, context: Context) {
    this.#speakerOf = speakerOf;
    this.#context = context;
  }

  begin({ segment }: Part, format: PcmFormat): void {
    const speaker = this.#speakerOf(segment);
    this.#current = new RecordedSegment(segment, speaker, format);
  }

  sound(pcm: Uint8Array): void {
    this.#current?.push(pcm);
  }

  /** Ends the sound of a segment. Its words come after those of the previous segment. */
  end(): Promise<TimedWords> | undefined {
    const heard = this.#current;
    this.#current = undefined;
    if (!heard) return undefined;
    const words = this.#before.then(() => this.#wordsOf(heard));
    this.#before = words.catch(() => {});
    return words;
  }

  /**
   * Finds the word times of a segment before its sound has come.
   * @returns `undefined` for a voice that does not report its word times
   */
  async exactOf(segment: Segment): Promise<readonly WordAt[] | undefined> {
    const speaker = this.#speakerOf(segment);
    const reference = isOwn(speaker) ? await this.#sayAgain(segment, speaker) : undefined;
    if (!reference) return undefined;
    const { speed = 1 } = speaker;
    const spoken = reference.words.map(({ text, start, end }) => ({
      text,
      start: start / speed,
      end: end / speed,
    }));
    return matchedTo(wordsIn(segment.text), spoken, reference.seconds / speed);
  }

  async #wordsOf(heard: RecordedSegment): Promise<TimedWords> {
    const { segment, speaker, seconds, format } = heard;
    const own = isOwn(speaker);
    const words = wordsIn(segment.text);
    const reference = await (own ? this.#sayAgain(segment, speaker) : this.#sayLike(heard));
    const speed = speaker.speed ?? 1;
    const isSame = own && reference && Math.abs(reference.seconds / speed - seconds) < SAME_LENGTH;
    const alignment = isSame || !reference ? undefined : await heard.alignedTo(reference);
    const at = isSame ? (moment: number) => (moment * seconds) / reference.seconds : alignment?.at;
    if (!reference || !at) return { source: 'spread', words: inFrames(spread(words, 0, seconds), heard) };
    const spoken = reference.words.map(({ text, start, end }) => ({ text, start: at(start), end: at(end) }));
    return {
      source: isSame ? 'exact' : 'aligned',
      words: inFrames(matchedTo(words, spoken, seconds), { seconds, format }),
    };
  }

  /** A built-in voice repeats a text with the same timing. */
  #sayAgain({ written }: Segment, { voice, fields }: Speaker): Promise<TimedSound | undefined> {
    const { instructions } = fields;
    const { signal } = this.#context;
    return this.#ask((reference) => reference.speak(written, signal, { no: voice.no, instructions }));
  }

  async #sayLike({ segment, language, isComparable }: RecordedSegment): Promise<TimedSound | undefined> {
    if (!isComparable) return undefined;
    const { signal } = this.#context;
    return this.#ask((reference) => reference.speakIn(language, segment.text, signal));
  }

  /** @returns `undefined` where no voice could read the text as it was spoken */
  async #ask(
    speak: (reference: Reference) => Promise<TimedSound | undefined>,
  ): Promise<TimedSound | undefined> {
    const { openReference, signal } = this.#context;
    this.#reference ??= openReference();
    // Without a reference, times are spread, and their source says so.
    return speak(await this.#reference).catch(() => {
      signal.throwIfAborted();
      return undefined;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#reference)?.[Symbol.asyncDispose]();
  }
}

/** Seconds. Two sounds of one text by a built-in voice count as the same if their lengths differ by less. */
const SAME_LENGTH = 0.05;

function isOwn({ voice }: Speaker): boolean {
  return voice.source.kind === 'built-in';
}

/** The sound of a segment, as far as finding its word times needs it. */
class RecordedSegment {
  readonly segment: Segment;
  readonly speaker: Speaker;
  readonly language: string;
  readonly format: PcmFormat;
  readonly #sound: Comparable | undefined;
  #frames = 0;

  constructor(segment: Segment, speaker: Speaker, format: PcmFormat) {
    this.segment = segment;
    this.speaker = speaker;
    this.language = spokenLanguage(speaker.voice.language, segment.text);
    this.format = format;
    this.#sound = isOwn(speaker) ? undefined : new Comparable(format);
  }

  get seconds(): number {
    return this.#frames / this.format.sampleRate;
  }

  get isComparable(): boolean {
    return this.#sound?.isComparable ?? false;
  }

  push(pcm: Uint8Array): void {
    this.#frames += pcm.length / frameBytes(this.format);
    this.#sound?.push(pcm);
  }

  /** The result maps times of the reference to times of this sound. */
  async alignedTo(reference: TimedSound): Promise<Alignment | undefined> {
    const pair = await this.#sound?.pairWith(reference);
    return pair && align(pair.reference, pair.sound);
  }
}

interface Word {
  readonly text: string;
  /** UTF-16 units of the text before it. */
  readonly at: number;
}

/** Start and end are seconds. */
interface Moment {
  readonly start: number;
  readonly end: number;
}

export type WordAt = Word & Moment;

/** UTF-16 units. A longer word is taken for a script without spaces. */
const LONGEST_WORD = 24;

/** Splits a text at white space, and scripts without spaces by the dictionaries of ICU. */
export function wordsIn(text: string): Word[] {
  return [...text.matchAll(/\S{1,500}/gu)].flatMap(({ 0: word, index }) =>
    word.length <= LONGEST_WORD || /^[\x21-\x7e]*$/u.test(word)
      ? [{ text: word, at: index }]
      : divided(word, index),
  );
}

function divided(run: string, from: number): Word[] {
  const words: { text: string; at: number }[] = [];
  for (const { segment, index, isWordLike } of segmenters.word().segment(run)) {
    const last = words.at(-1);
    if (last && !isWordLike) last.text += segment;
    else words.push({ text: segment, at: from + index });
  }
  return words;
}

/** Divides the time among words in proportion to their characters. */
export function spread(words: readonly Word[], start: number, end: number): WordAt[] {
  const all = words.reduce((sum, { text }) => sum + text.length, 0);
  let before = 0;
  return words.map((word) => {
    const from = start + ((end - start) * before) / all;
    before += word.text.length;
    return { ...word, start: from, end: start + ((end - start) * before) / all };
  });
}

/**
 * Gives written words the times of the spoken ones. "1998", "twenty five" and "€5" are spoken as other words: between two
 * words that match, the time is divided.
 */
export function matchedTo(
  words: readonly Word[],
  spoken: readonly (Moment & { readonly text: string })[],
  seconds: number,
): WordAt[] {
  const timed: WordAt[] = [];
  const pairs = sharedTokens(tokensOf(spoken), tokensOf(words)).map((match) => [
    match.written.at,
    match.spoken.at,
  ]);
  let [word, heard] = [0, 0];
  for (const [one = 0, other = 0] of [...pairs, [words.length, spoken.length]]) {
    const between = spoken.slice(heard, other);
    const last = timed.at(-1)?.end ?? spoken[0]?.start ?? 0;
    const [start, end] = [between[0]?.start ?? last, between.at(-1)?.end ?? last];
    const [written, before] = [words.slice(word, one), timed.at(-1)];
    // "€5" is spoken as "5 euros".
    if (written.length === 0 && before) timed[timed.length - 1] = { ...before, end };
    timed.push(...spread(written, start, end));
    const [same, moment] = [words[one], spoken[other]];
    if (same && moment) timed.push({ ...same, start: moment.start, end: moment.end });
    [word, heard] = [one + 1, other + 1];
  }
  let floor = 0;
  return timed.map(({ start, end, ...rest }) => {
    const from = Math.min(seconds, Math.max(floor, start));
    floor = Math.min(seconds, Math.max(from, end));
    return { ...rest, start: from, end: floor };
  });
}

/** Returns the words with their indexes, as they are compared; a sign by itself has none. */
function tokensOf(words: readonly { readonly text: string }[]): readonly Token[] {
  const tokens = words.map(({ text }, at) => ({
    text: text
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]/gu, ''),
    at,
  }));
  return tokens.filter(({ text }) => text !== '');
}

function inFrames(
  words: readonly WordAt[],
  { seconds, format: { sampleRate } }: Pick<RecordedSegment, 'seconds' | 'format'>,
): TimedWord[] {
  const last = Math.round(seconds * sampleRate);
  const frame = (moment: number) => Math.min(last, Math.round(moment * sampleRate));
  return words.map(({ start, end, ...word }) => ({ ...word, start: frame(start), end: frame(end) }));
}
