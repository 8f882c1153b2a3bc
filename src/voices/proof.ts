/** Checks whether sound is that of its text, by comparing it with a built-in voice (the reference) that says the same. */
import { divided } from '../engines/check.ts';
import { chained, yieldToEventLoop } from '../kit/wait.ts';
import { printable } from '../kit/words.ts';
import {
  type Alignment,
  align,
  COARSE_STEP,
  comparableUpTo,
  FeatureMeter,
  type Features,
  FINE_STEP,
  medianOf,
  reversed,
} from '../sound/align.ts';
import { frameBytes, type PcmFormat, type Speech, sameFormat } from '../sound/pcm.ts';
import { type Repeat, repeatIn } from '../sound/repeat.ts';
import { lanesOf, toFloat } from '../sound/samples.ts';
import type { Utterance, Voice, VoiceSource } from '../sound/voice.ts';
import { expectedSeconds } from '../text/speaking-time.ts';
import { countCodePoints } from '../text/unicode.ts';
import { languageOf, spokenLanguage } from './language.ts';
import type { Reference, TimedSound } from './timed-words.ts';

type ReferenceVoice = Pick<Reference, 'speak' | typeof Symbol.asyncDispose>;

/** A text with its complete sound. */
interface Take {
  readonly text: string;
  readonly speech: Speech;
  readonly pieces: readonly Uint8Array[];
  readonly bytes: number;
  readonly doubt: string | undefined;
}

interface Halving {
  readonly judge: Judge;
  readonly signal: AbortSignal;
  /** How often the text was halved, including this time. */
  readonly halvings: number;
}

/** Bytes of sound that are buffered to be compared. A longer sound is passed on as it comes. */
const MOST_HELD = 16 * 2 ** 20;

/** How often a text is halved: its quarters are the smallest parts that are asked for. */
const MOST_HALVINGS = 2;

/** Vain retries of a voice's texts in a row after which there are no more: a service may charge for each. */
const MOST_IN_VAIN = 3;

/**
 * Compares the sound of a source with its text. If they do not fit, asks again for the halves of the text, and then for
 * their halves.
 */
export class Prover implements AsyncDisposable {
  readonly #source: Pick<VoiceSource, 'speak' | 'name'>;
  /** By the number of the voice. */
  readonly #judges = new Map<number, Judge>();
  readonly #open: () => Promise<ReferenceVoice>;
  #reference: Promise<ReferenceVoice> | undefined;

  /** @param open starts the reference */
  constructor(source: Pick<VoiceSource, 'speak' | 'name'>, open: () => Promise<ReferenceVoice>) {
    this.#source = source;
    this.#open = open;
  }

  /** @throws TtsError of the source */
  async speak(asked: Utterance, signal: AbortSignal): Promise<Speech | undefined> {
    const { voice, text } = asked;
    const judge = this.#judgeOf(voice);
    if (!judge.mayCompare || !isComparable(voice.language, text)) return this.#source.speak(asked, signal);
    const whole = await this.#take(asked, judge, signal);
    if (!whole || !('doubt' in whole)) return whole;
    if (whole.doubt === undefined) return joined([whole]);
    const takes = judge.isInVain ? [whole] : await this.#again(asked, whole, judge, signal);
    const how = takes.length > 1 ? 'in parts' : 'again';
    if (!takes.includes(whole)) asked.report({ type: 'cut', message: whole.doubt, how });
    for (const { doubt } of takes)
      if (doubt !== undefined) asked.report({ type: 'cut', message: doubt, how: 'doubtful' });
    return joined(takes);
  }

  async #again(asked: Utterance, whole: Take, judge: Judge, signal: AbortSignal): Promise<readonly Take[]> {
    // The sound that has come is better than an error.
    const takes = await this.#inHalves(asked, whole, { judge, signal, halvings: 1 }).catch(() => {
      signal.throwIfAborted();
      return [whole];
    });
    judge.noteAgain(!takes.includes(whole));
    return takes;
  }

  /** @returns the last take of each part, or the whole if no part is better */
  async #inHalves(asked: Utterance, whole: Take, how: Halving): Promise<readonly Take[]> {
    const { judge, signal, halvings } = how;
    const halves = divided(whole.text);
    const isDividable = halves.length > 1 && halves.every((half) => countCodePoints(half) > SHORTEST);
    const takes: Take[] = [];
    for (const text of isDividable ? halves : [whole.text]) {
      const part = { ...asked, text, written: undefined };
      const take = await this.#take(part, judge, signal);
      if (take && !('doubt' in take)) await close(take);
      if (!take || !('doubt' in take) || !sameFormat(take.speech.format, whole.speech.format)) return [whole];
      const isLast = take.doubt === undefined || !isDividable || halvings === MOST_HALVINGS;
      takes.push(...(isLast ? [take] : await this.#inHalves(part, take, { ...how, halvings: halvings + 1 })));
    }
    return takes.some(({ doubt }) => doubt === undefined) ? takes : [whole];
  }

  /** @returns a `Take`, or the sound as it comes if it is too long to be compared */
  async #take(asked: Utterance, judge: Judge, signal: AbortSignal): Promise<Take | Speech | undefined> {
    const { text } = asked;
    // The reference says the text while the source makes its sound.
    const said = this.#say(text, signal);
    const speech = await this.#source.speak(asked, signal);
    if (!speech) return undefined;
    const sound = new Comparable(speech.format, COARSE_STEP);
    const pieces: Uint8Array[] = [];
    const coming = speech.pcm[Symbol.asyncIterator]();
    let bytes = 0;
    for (let next = await coming.next(); !next.done; next = await coming.next()) {
      pieces.push(next.value);
      bytes += next.value.length;
      if (bytes > MOST_HELD) return { ...speech, pcm: chained(pieces, coming) };
      sound.push(next.value);
    }
    const sent = `${this.#source.name} sent ${sound.seconds.toFixed(1)} s of sound for "${printable(text.slice(0, 60))}"`;
    const onLate = (late: string) =>
      asked.report({ type: 'cut', message: `${sent}, ${late}`, how: 'doubtful' });
    const doubt = isLikely(sound.seconds, text)
      ? await compared(sound, said, judge)
      : judge.doubtOfLength(onLate);
    signal.throwIfAborted();
    return { text, speech, pieces, bytes, doubt: doubt && `${sent}, ${doubt}` };
  }

  /** @returns `undefined` without a reference, so that no sound is doubted */
  async #say(text: string, signal: AbortSignal): Promise<TimedSound | undefined> {
    this.#reference ??= this.#open();
    return this.#reference.then((voice) => voice.speak(text, signal)).catch(() => undefined);
  }

  #judgeOf({ no }: Voice): Judge {
    const judge = this.#judges.get(no) ?? new Judge();
    this.#judges.set(no, judge);
    return judge;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A voice that could not be opened has nothing to close.
    const reference = await this.#reference?.catch(() => undefined);
    await reference?.[Symbol.asyncDispose]();
  }
}

async function compared(
  sound: Comparable,
  said: Promise<TimedSound | undefined>,
  judge: Judge,
): Promise<string | undefined> {
  const reference = await said;
  const pair = reference && (await sound.pairWith(reference));
  const likeness = pair && likenessOf(pair);
  return likeness && judge.doubtOf(likeness);
}

/** Closes a sound that is not needed. Reads a piece first: a generator that has not started would not close its source. */
async function close({ pcm }: Speech): Promise<void> {
  const pieces = pcm[Symbol.asyncIterator]();
  await pieces.next();
  await pieces.return?.();
}

/** Joins takes into one sound. A doubtful one does not count as one take, and is not cached. */
function joined(takes: readonly Take[]): Speech {
  const [first] = takes;
  if (!first) throw new RangeError('there is no sound');
  return {
    format: first.speech.format,
    bytes: takes.reduce((sum, { bytes }) => sum + bytes, 0),
    pcm: piecesOf(takes),
    isOneTake: () =>
      takes.every(({ doubt, speech }) => doubt === undefined && (speech.isOneTake?.() ?? true)),
  };
}

async function* piecesOf(takes: readonly Take[]): AsyncGenerator<Uint8Array> {
  for (const { pieces } of takes) yield* pieces;
}

/** Code points. A text has to be longer to be compared, since the sound of a short one proves little. */
const SHORTEST = 40;

/** Texts that all voices read alike: without figures, symbols, abbreviations, two signs in a row or Roman numerals. */
const READ_ALIKE =
  /^(?!.{0,4000}(?:\p{Lu}\p{Lu}|[.,;:!?][—–-]|\b[ivx]{2,7}\b))[\p{L}\p{M}\s.,;:!?'"“”‘’—–-]+$/su;

export function isComparable(language: string | undefined, text: string): boolean {
  return (
    countCodePoints(text) > SHORTEST &&
    READ_ALIKE.test(text) &&
    languageOf(spokenLanguage(language, text)) === 'en'
  );
}

/** Sound that is shorter or longer than usual speech by this factor is no speech, or lacks nearly all of the text. */
const UNLIKELY = 4;
const UNLIKELY_LENGTH = 'whose length does not fit the text';

function isLikely(seconds: number, text: string): boolean {
  const expected = expectedSeconds(text);
  return seconds > expected / UNLIKELY && seconds < expected * UNLIKELY;
}

/** Seconds of the longest sound that is compared. A longer one would take too much memory; only `--max-chars` makes one. */
const LONGEST = 300;

/** Hz. The reference has nothing above half of this. */
const REFERENCE_RATE = 16_000;

/** Samples that are measured in one tick of the event loop, which takes some milliseconds. */
const AT_ONCE = 4096;

/** The features of a sound, to be compared with those of the reference. */
export class Comparable {
  readonly #format: PcmFormat;
  readonly #step: number;
  readonly #top: number;
  #meter: FeatureMeter | undefined;
  #frames = 0;

  constructor(format: PcmFormat, step: number = FINE_STEP) {
    this.#format = format;
    this.#step = step;
    this.#top = comparableUpTo(format.sampleRate, REFERENCE_RATE);
    this.#meter = new FeatureMeter(format.sampleRate, this.#top, step);
  }

  get seconds(): number {
    return this.#frames / this.#format.sampleRate;
  }

  push(pcm: Uint8Array): void {
    this.#frames += pcm.length / frameBytes(this.#format);
    if (this.seconds > LONGEST) this.#meter = undefined;
    if (!this.#meter) return;
    const [mono] = lanesOf(pcm, this.#format, 1);
    if (mono) this.#meter.push(mono);
  }

  get isComparable(): boolean {
    return this.#meter !== undefined;
  }

  /** Pairs the sound with the reference. Call this when all of it has come. */
  async pairWith({ pieces, sampleRate, words }: TimedSound): Promise<Pair | undefined> {
    if (!this.#meter) return undefined;
    const meter = new FeatureMeter(sampleRate, this.#top, this.#step);
    for (const piece of pieces)
      for (let at = 0; at < piece.length; at += AT_ONCE) {
        meter.push(toFloat(piece.subarray(at, at + AT_ONCE)));
        // Let other clients of a service continue.
        await yieldToEventLoop();
      }
    return { reference: meter.end(), words, sound: this.#meter.end() };
  }
}

interface Pair {
  readonly reference: Features;
  /** The words of the reference. */
  readonly words: TimedSound['words'];
  readonly sound: Features;
}

/** How much a sound resembles that of the reference. */
export interface Likeness extends Pick<Alignment, 'missing' | 'extra'> {
  /**
   * The median distance of aligned moments, divided by that from the reference played backwards: near 0.6 for the text that
   * the reference says, or a part of it, and near 0.8 for another text. It varies less between voices than the distance.
   */
  readonly share: number;
  /** Words that are heard twice in a row, although the reference says them once. */
  readonly repeat: Repeat | undefined;
}

/** @returns `undefined` if one of the sounds is too short */
export function likenessOf({ reference, sound, words }: Pair): Likeness | undefined {
  const alignment = align(reference, sound);
  const backwards = align(reversed(reference), sound);
  if (!alignment || !backwards) return undefined;
  const { medianDistance, missing, extra } = alignment;
  return {
    share: medianDistance / backwards.medianDistance,
    missing,
    extra,
    repeat: repeatIn(reference, sound, alignment, words),
  };
}

/** The share of the right text, or of a large part of it, is below this for any voice. */
const ALIKE = 0.8;

/** A share above OTHER times the voice's median means another text; the median needs FEWEST_ALIKE samples. */
const OTHER = 1.15;
const FEWEST_ALIKE = 3;

/** Seconds of the text that may be missing in the sound, and seconds of the sound that may not be in the text. */
const MOST_MISSING = 0.45;
const MOST_EXTRA = 0.6;

/** Words count as said twice if their gain, plus twice the extra seconds of the sound, is above this. */
const LEAST_FOR_TWICE = 0.32;

/** Texts after which a voice is not compared if none was alike: it speaks another language, or its sound is no speech. */
const MOST_UNLIKE = 3;

/** Shares that are kept of a voice. Later ones replace the first. */
const MOST_SHARES = 64;

/** Judges the sounds of one voice by its earlier ones. */
export class Judge {
  /** The shares of sounds that were those of their texts, or of most of them. */
  #shares: readonly number[] = [];
  #unlike = 0;
  #inVain = 0;
  /** Called when the voice is first heard to say its text: fewer than MOST_UNLIKE sounds before may have to be doubted. */
  #early: ((doubt: string) => void)[] = [];

  /** True if a sound was that of its text, or of most of it. */
  get hasHeardText(): boolean {
    return this.#shares.length > 0;
  }

  get mayCompare(): boolean {
    return this.hasHeardText || this.#unlike < MOST_UNLIKE;
  }

  /** True if asking again has not helped. */
  get isInVain(): boolean {
    return this.#inVain >= MOST_IN_VAIN;
  }

  noteAgain(hasHelped: boolean): void {
    this.#inVain = hasHelped ? 0 : this.#inVain + 1;
  }

  /**
   * @param onLate called with the doubt once the voice is known to say its texts
   * @returns the doubt about a sound whose length cannot be that of its text, if the voice is known to say its texts
   */
  doubtOfLength(onLate: (doubt: string) => void): string | undefined {
    if (this.hasHeardText) return UNLIKELY_LENGTH;
    this.#unlike += 1;
    this.#early.push(onLate);
    return undefined;
  }

  /** @returns the doubt about a sound, if there is one */
  doubtOf({ share, missing, extra, repeat }: Likeness): string | undefined {
    const isKnown = this.#shares.length >= FEWEST_ALIKE;
    if (share > ALIKE && !isKnown) {
      this.#unlike += 1;
      return undefined;
    }
    if (isKnown && share > OTHER * medianOf(this.#shares)) return 'which seems to be that of another text';
    this.#shares = [...this.#shares, share].slice(-MOST_SHARES);
    for (const onLate of this.#early.splice(0)) onLate(UNLIKELY_LENGTH);
    if (missing > MOST_MISSING)
      return `in which about ${missing.toFixed(1)} s of the text seem to be missing`;
    if (extra > MOST_EXTRA) return `of which about ${extra.toFixed(1)} s do not seem to be in the text`;
    if (repeat && repeat.gain + 2 * extra > LEAST_FOR_TWICE)
      return `in which "${printable(repeat.text)}" seems to be said twice`;
    return undefined;
  }
}
