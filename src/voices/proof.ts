/** Whether the sound of a voice is that of its text, by how a built-in voice says the same. */
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

type Says = Pick<Reference, 'speak' | typeof Symbol.asyncDispose>;

/** A text and its sound, all of which has come. */
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
  /** How often the text was halved, with this time. */
  readonly halvings: number;
}

/** Bytes. A longer sound is passed on as it comes, and not compared. */
const MOST_HELD = 16 * 2 ** 20;

/** A text is halved so often: each of its quarters is asked for alone at last. */
const MOST_HALVINGS = 2;

/** After so many texts of a voice that were asked for again in vain, no more are: a service may be paid for each. */
const MOST_IN_VAIN = 3;

/**
 * Asks a source, and compares its sound with its text. Where it does not fit, the text is asked for again in halves, and these
 * again.
 */
export class Prover implements AsyncDisposable {
  readonly #source: Pick<VoiceSource, 'speak' | 'name'>;
  readonly #records = new Map<Voice, Judge>();
  readonly #open: () => Promise<Says>;
  #reference: Promise<Says> | undefined;

  /** @param open starts the voice with which others are compared */
  constructor(source: Pick<VoiceSource, 'speak' | 'name'>, open: () => Promise<Says>) {
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
    // What has come is better than an error.
    const takes = await this.#inHalves(asked, whole, { judge, signal, halvings: 1 }).catch(() => {
      signal.throwIfAborted();
      return [whole];
    });
    judge.noteAgain(!takes.includes(whole));
    return takes;
  }

  /** @returns the parts that were asked for at last, or the whole where no part is better */
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

  /** @returns sound that goes on where it is too long to be compared */
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
    const doubt = isLikely(sound.seconds, text) ? await compared(sound, said, judge) : judge.doubtOfLength();
    signal.throwIfAborted();
    const what =
      doubt &&
      `${this.#source.name} sent ${sound.seconds.toFixed(1)} s of sound for "${printable(text.slice(0, 60))}", ${doubt}`;
    return { text, speech, pieces, bytes, doubt: what };
  }

  /** @returns `undefined` without a reference: then there is nothing to doubt */
  async #say(text: string, signal: AbortSignal): Promise<TimedSound | undefined> {
    this.#reference ??= this.#open();
    return this.#reference.then((voice) => voice.speak(text, signal)).catch(() => undefined);
  }

  #judgeOf(voice: Voice): Judge {
    const judge = this.#records.get(voice) ?? new Judge();
    this.#records.set(voice, judge);
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
  const pair = reference && (await sound.besides(reference));
  const likeness = pair && likenessOf(pair);
  return likeness && judge.doubtOf(likeness);
}

/** Ends a sound that goes on, of which nothing was read: a generator that has not begun would end without its source. */
async function close({ pcm }: Speech): Promise<void> {
  const pieces = pcm[Symbol.asyncIterator]();
  await pieces.next();
  await pieces.return?.();
}

/** What is doubtful is not kept in the cache. */
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

/** Code points. The sound of a shorter text proves little. */
const SHORTEST = 40;

/** Two voices may read figures, signs, abbreviations, two signs in a row and Roman numerals differently. */
const READ_ALIKE =
  /^(?!.{0,4000}(?:\p{Lu}\p{Lu}|[.,;:!?][—–-]|\b[ivx]{2,7}\b))[\p{L}\p{M}\s.,;:!?'"“”‘’—–-]+$/su;

export function isComparable(language: string | undefined, text: string): boolean {
  return (
    countCodePoints(text) > SHORTEST &&
    READ_ALIKE.test(text) &&
    languageOf(spokenLanguage(language, text)) === 'en'
  );
}

/** Sound that is shorter or longer than usual speech by this factor is none, or lacks nearly all of the text. */
const UNLIKELY = 4;
const UNLIKELY_LONG = 'which cannot be that of the text by its length';

function isLikely(seconds: number, text: string): boolean {
  const expected = expectedSeconds(text);
  return seconds > expected / UNLIKELY && seconds < expected * UNLIKELY;
}

/** Seconds. A longer sound would take too much memory; only `--max-chars` makes one. */
const LONGEST = 300;

/** Hz. The reference has nothing above half of this. */
const REFERENCE_RATE = 16_000;

/** Samples that are measured in one tick of the event loop: some milliseconds. */
const AT_ONCE = 4096;

/** What is kept of a sound, to be compared with that of the reference. */
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
    // One float that is no number would make the whole sound unlike any other.
    if (mono) this.#meter.push(mono.map((sample) => (Number.isFinite(sample) ? sample : 0)));
  }

  get isComparable(): boolean {
    return this.#meter !== undefined;
  }

  /** All of the sound has come. */
  async besides({ pieces, sampleRate, words }: TimedSound): Promise<Pair | undefined> {
    if (!this.#meter) return undefined;
    const meter = new FeatureMeter(sampleRate, this.#top, this.#step);
    for (const piece of pieces)
      for (let at = 0; at < piece.length; at += AT_ONCE) {
        meter.push(toFloat(piece.subarray(at, at + AT_ONCE)));
        // Other clients of a service go on meanwhile.
        await yieldToEventLoop();
      }
    return { reference: meter.end(), words, sound: this.#meter.end() };
  }
}

interface Pair {
  readonly reference: Features;
  /** Those of the reference. */
  readonly words: TimedSound['words'];
  readonly sound: Features;
}

/** How much a sound is like that of the reference. */
export interface Likeness extends Pick<Alignment, 'missing' | 'extra'> {
  /**
   * The usual distance of moments that belong together, as a share of that from the reference played backwards: near 0.6 for the text
   * that the reference says, or a part of it, and near 0.8 for another one. Voices differ less in it than in the distance.
   */
  readonly share: number;
  /** What is heard twice in a row, where the reference says it once. */
  readonly repeat: Repeat | undefined;
}

/** @returns `undefined` where one of the sounds is too short */
export function likenessOf({ reference, sound, words }: Pair): Likeness | undefined {
  const alignment = align(reference, sound);
  const backwards = align(reversed(reference), sound);
  if (!alignment || !backwards) return undefined;
  const { usual, missing, extra } = alignment;
  return {
    share: usual / backwards.usual,
    missing,
    extra,
    repeat: repeatIn(reference, sound, alignment, words),
  };
}

/** The share of the text itself, or of a large part of it, is less for any voice. */
const ALIKE = 0.8;

/** The share of another text is more than this multiple of a voice's usual one, of which so many are to be known. */
const OTHER = 1.15;
const FEWEST_ALIKE = 3;

/** Seconds. */
const MOST_MISSING = 0.45;
const MOST_EXTRA = 0.6;

/** What speaks for words that are said twice: the gain of them, and twice the seconds that the sound has more. */
const LEAST_FOR_TWICE = 0.32;

/** Texts after which a voice is not compared, if none was alike: it speaks another language, or what comes is no speech. */
const MOST_UNLIKE = 3;

/** Later texts take the places of the first ones. */
const MOST_SHARES = 64;

/** What is known of one voice. */
export class Judge {
  /** Of the sounds that were those of their texts, or of most of them. */
  #shares: readonly number[] = [];
  #unlike = 0;
  #inVain = 0;

  /** True if a sound was that of its text, or of most of it. */
  get hasHeardText(): boolean {
    return this.#shares.length > 0;
  }

  get mayCompare(): boolean {
    return this.hasHeardText || this.#unlike < MOST_UNLIKE;
  }

  /** True where it did not help to ask again. */
  get isInVain(): boolean {
    return this.#inVain >= MOST_IN_VAIN;
  }

  noteAgain(hasHelped: boolean): void {
    this.#inVain = hasHelped ? 0 : this.#inVain + 1;
  }

  /** @returns what there is to doubt of a sound whose length cannot be that of its text */
  doubtOfLength(): string | undefined {
    if (this.hasHeardText) return UNLIKELY_LONG;
    this.#unlike += 1;
    return undefined;
  }

  /** @returns what there is to doubt of a sound, if anything */
  doubtOf({ share, missing, extra, repeat }: Likeness): string | undefined {
    const isKnown = this.#shares.length >= FEWEST_ALIKE;
    if (share > ALIKE && !isKnown) {
      this.#unlike += 1;
      return undefined;
    }
    if (isKnown && share > OTHER * medianOf(this.#shares)) return 'which seems to be that of another text';
    this.#shares = [...this.#shares, share].slice(-MOST_SHARES);
    if (missing > MOST_MISSING)
      return `in which about ${missing.toFixed(1)} s of the text seem to be missing`;
    if (extra > MOST_EXTRA) return `of which about ${extra.toFixed(1)} s do not seem to be in the text`;
    if (repeat && repeat.gain + 2 * extra > LEAST_FOR_TWICE)
      return `in which "${printable(repeat.text)}" seems to be said twice`;
    return undefined;
  }
}
