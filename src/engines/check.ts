/** Checks that an engine's sound fits its text, and speaks a text again in parts where it does not. */
import { printable } from '../kit/words.ts';
import { cutText } from '../text/cut.ts';
import { sentences } from '../text/sentences.ts';
import { expectedSeconds, leastSeconds, usualSeconds } from '../text/speaking-time.ts';
import { countCodePoints, hasWord } from '../text/unicode.ts';
import { type CutManner, EngineError, type EngineUtterance, type SourceVoice } from './engine.ts';

/** In which way a sound does not fit its text. */
type SoundFault = 'short' | 'long' | 'silent';

/** Texts of at most this many characters are not divided; with fewer letters and digits, any length of sound is accepted. */
const SHORTEST_TEXT = 40;

/** If the parts together sound longer than this multiple of the whole, the whole lacked a part of its text. */
const LONGER_IN_PARTS = 1.05;

/** Seconds to allow for the silence at the ends of a second sound. */
const EXTRA_SILENCE = 0.5;

/** If a part sounds as long as the whole, within this share, the engine cut off both at the same limit. */
const SAME_LENGTH = 0.02;

/** Bytes of sound held back while the caller waits for all of it; beyond them, it is passed on unchecked. */
const MOST_HELD_BYTES = 4 * 2 ** 20;

/** Yielded in place of sound that is held back, to show that the engine is working. */
const NOTHING_YET = new Int16Array(0);

/** A request to an engine. */
export interface Task {
  readonly text: string;
  readonly voice: SourceVoice;
  readonly onCut?: EngineUtterance['onCut'];
  readonly isWhole?: EngineUtterance['isWhole'];
}

/** A text and its sound. */
interface Spoken {
  readonly text: string;
  readonly seconds: number;
  /** Seconds of the longest silence inside the sound. */
  readonly silence: number;
  readonly samples: readonly Int16Array[];
}

interface CheckedSound extends Spoken {
  readonly misfit: SoundFault | undefined;
  /** False if a part of the sound was already passed on. */
  readonly isHeld: boolean;
}

interface FaultySound extends Spoken {
  readonly misfit: SoundFault;
  /** True if this part was cut off at the same length as the whole it belongs to. */
  readonly isCut?: boolean;
  /** The whole text that the caller asked for, if this is a part of it. */
  readonly asked?: Spoken;
}

type SendOnce<T> = (task: T, rate: { sampleRate: number }) => AsyncIterable<Int16Array>;

/**
 * Speaks with an engine that may silently drop parts of a text, fall silent, or say words that are not in it. Such a text is
 * requested again in two halves, and these again in halves.
 */
export class CheckedSpeech<T extends Task> {
  readonly #name: string;
  readonly #once: SendOnce<T>;
  readonly #paces = new Map<SourceVoice, VoicePace>();

  /**
   * @param name the name of the engine, for messages
   * @param once sends one request to the engine, and sets `sampleRate` before the first samples
   */
  constructor(name: string, once: SendOnce<T>) {
    this.#name = name;
    this.#once = once;
  }

  /** @throws EngineError if the parts do not fit either, or if sound that was already passed on turns out to be too long */
  async *speak(task: T): AsyncGenerator<Int16Array> {
    const pace = this.#paceOf(task);
    const wasUnknown = !pace.isKnown;
    const heard = yield* this.#listen(task);
    const { text, seconds, misfit } = heard;
    if (!misfit) {
      yield* heard.samples;
      const onMisfit = (late: SoundFault) => this.#report(task, heard, late, 'late');
      pace.learn(text, seconds, wasUnknown ? onMisfit : undefined);
      return;
    }
    if (!heard.isHeld) throw this.#misfitError(heard, misfit, pace);
    const whole = await this.#inParts(task, { ...heard, misfit });
    if (whole.samples !== heard.samples) this.#report(task, heard, misfit, 'in parts');
    yield* whole.samples;
  }

  /**
   * Passes sound on as soon as it is long enough, unless the caller waits for all of it.
   * @returns the sound that was not passed on, with the silence at its end trimmed
   */
  async *#listen(task: T): AsyncGenerator<Int16Array, CheckedSound> {
    const { text, isWhole = false } = task;
    const pace = this.#paceOf(task);
    const enough = pace.secondsOfWhole(text);
    const sound = new IncomingSound(text, enough, pace.mostSecondsOf(text));
    const rate = { sampleRate: 0 };
    let isHeld = true;
    for await (const samples of this.#once(task, rate)) {
      const wasSilent = sound.fellSilent;
      sound.push(samples, rate.sampleRate);
      if (sound.misfit(isHeld)) break;
      // The sound before the silence was already passed on.
      if (sound.fellSilent && !wasSilent) this.#report(task, sound, 'silent', 'heard');
      const isReady = isWhole ? sound.held > MOST_HELD_BYTES : sound.seconds >= enough;
      const ready: readonly Int16Array[] = isHeld && !isReady ? [] : sound.take();
      isHeld &&= ready.length === 0;
      yield* isHeld ? [NOTHING_YET] : ready;
    }
    const misfit = sound.misfit(isHeld, true);
    const { seconds, silence } = sound;
    return { text, samples: sound.end(), misfit, isHeld, silence, seconds };
  }

  async #heard(task: T): Promise<CheckedSound> {
    const samples: Int16Array[] = [];
    const listening = this.#listen({ ...task, isWhole: true });
    for (;;) {
      const next = await listening.next();
      if (next.done) return { ...next.value, samples: [...samples, ...next.value.samples] };
      samples.push(next.value);
    }
  }

  /** @returns the sound of the two parts, or that of the whole if the comparison shows that it is complete */
  async #inParts(task: T, whole: FaultySound): Promise<Spoken> {
    const texts = divided(whole.text);
    if (whole.misfit === 'short' && texts.length === 1) return this.#completeOf(task, whole, whole);
    const parts: Spoken[] = [];
    for (const text of texts) parts.push(await this.#part({ ...task, text }, whole, texts.length > 1));
    const all = joined(whole.text, parts);
    return whole.misfit === 'short' ? this.#completeOf(task, whole, all) : all;
  }

  async #part(task: T, whole: FaultySound, isDividable: boolean): Promise<Spoken> {
    const pace = this.#paceOf(task);
    const { asked = whole } = whole;
    const part = await this.#heard(task);
    const isCut = whole.misfit === 'short' && Math.abs(part.seconds / whole.seconds - 1) <= SAME_LENGTH;
    const misfit = part.misfit ?? (isCut ? 'short' : undefined);
    if (!misfit) {
      pace.learn(part.text, part.seconds);
      return part;
    }
    const isShort = misfit === 'short';
    if (isDividable && !(isShort && countCodePoints(part.text) <= SHORTEST_TEXT))
      return this.#inParts(task, { ...part, misfit, isCut, asked });
    throw this.#misfitError(isShort ? asked : part, misfit, pace);
  }

  /** Compares a sound that seems too short with that of its parts, and returns the complete one. */
  #completeOf(task: T, whole: FaultySound, parts: Spoken): Spoken {
    const pace = this.#paceOf(task);
    const least = leastSecondsOf(whole.text);
    if (whole.isCut || parts.seconds > LONGER_IN_PARTS * whole.seconds + EXTRA_SILENCE)
      pace.learnLimit(whole.seconds);
    else if (whole.seconds >= least) {
      pace.learnFast(whole.text, whole.seconds);
      return whole;
    }
    if (parts.seconds < least) throw this.#misfitError(whole.asked ?? whole, 'short', pace);
    return parts;
  }

  #paceOf({ voice }: T): VoicePace {
    const pace = this.#paces.get(voice) ?? new VoicePace();
    this.#paces.set(voice, pace);
    return pace;
  }

  #report(task: T, sound: Omit<Spoken, 'samples'>, misfit: SoundFault, how: CutManner): void {
    task.onCut?.(this.#misfitError(sound, misfit, this.#paceOf(task)).message, how);
  }

  /** The error is final: the engine was already asked more than once, or does the same each time. */
  #misfitError(
    { text, seconds, silence }: Omit<Spoken, 'samples'>,
    misfit: SoundFault,
    pace: VoicePace,
  ): EngineError {
    const sent = `${this.#name} sent ${seconds.toFixed(1)} s of sound for "${printable(text.slice(0, 60))}"`;
    const characters = `${countCodePoints(text)} characters`;
    const what = {
      short: `too short for ${characters}: the engine seems to drop text; set maxChars: ${rounded(pace.charactersIn(seconds))}`,
      long: `too long for ${characters} at the pace of the voice: the engine seems to say words that are not in the text; a smaller maxChars may help`,
      silent: `with ${silence.toFixed(1)} s of silence inside: the engine seems to fall silent; a smaller maxChars may help`,
    };
    return new EngineError('failed', `${sent}, ${what[misfit]}`, { isFinal: true });
  }
}

function joined(text: string, parts: readonly Spoken[]): Spoken {
  return {
    text,
    seconds: parts.reduce((sum, { seconds }) => sum + seconds, 0),
    silence: Math.max(...parts.map(({ silence }) => silence)),
    samples: parts.flatMap(({ samples }) => samples),
  };
}

function rounded(characters: number): number {
  const step = characters < 100 ? 10 : 50;
  return Math.max(SHORTEST_TEXT, step * Math.round(characters / step));
}

/** @returns two parts, cut between sentences in the middle half of the text or else between words; one if neither works */
export function divided(text: string): string[] {
  const ends: number[] = [];
  for (const sentence of sentences(text)) ends.push((ends.at(-1) ?? 0) + sentence.length);
  const distance = (end: number) => Math.abs(end / text.length - 0.5);
  const [middle = 0] = ends.slice(0, -1).sort((a, b) => distance(a) - distance(b));
  if (distance(middle) <= 0.25) return [text.slice(0, middle).trim(), text.slice(middle).trim()];
  const length = countCodePoints(text);
  let parts = [text];
  for (const share of length > SHORTEST_TEXT ? [0.5, 0.55, 0.6] : []) {
    parts = [...cutText(text, { maxChars: Math.ceil(length * share) })];
    if (parts.length === 2) break;
  }
  return parts;
}

/** Sound shorter than this share of the duration expected at the voice's pace may lack a part of the text. */
const LEAST_SHARE = 0.6;

/** Sound longer than this multiple of the duration expected at the voice's pace says more than its text. */
const MOST_MULTIPLE = 3;

/** Seconds allowed on top of that for every text: the duration of short texts varies most. */
const EXTRA_SECONDS = 2;

/** The slowest pace that is believed, as a multiple of the usual one. */
const SLOWEST = 3;

/** Texts that a voice must have spoken before its pace is known. */
const FEWEST_TEXTS = 3;

/** Texts whose pace is kept; later ones replace the oldest. */
const MOST_TEXTS = 64;

/** A text longer than this multiple of the length at which the engine cut off another one may be cut off, too. */
const LIMIT_MARGIN = 1.05;

interface EarlyText {
  readonly text: string;
  readonly seconds: number;
  readonly onMisfit: (fault: SoundFault) => void;
}

/** The pace of a voice: seconds of its sound per second expected of a usual voice, so 2 is slow. */
class VoicePace {
  readonly #paces: number[] = [];
  /** Texts spoken before the pace was known, which are checked again with each new sample. */
  #early: EarlyText[] = [];
  #count = 0;
  #isFast = false;
  /** Characters after which the engine cut off a text; infinite until it does. */
  #limit = Number.POSITIVE_INFINITY;

  /** @returns the seconds from which the sound counts as complete without a check of its parts */
  secondsOfWhole(text: string): number {
    if (lettersOf(text).length < SHORTEST_TEXT) return 0;
    if (this.#isBeyondLimit(text)) return Number.POSITIVE_INFINITY;
    return Math.max(leastSecondsOf(text), LEAST_SHARE * this.#pace * usualSeconds(text));
  }

  /** @returns the longest plausible duration of the text in seconds */
  mostSecondsOf(text: string): number {
    if (!this.isKnown) return Number.POSITIVE_INFINITY;
    return MOST_MULTIPLE * Math.min(SLOWEST, this.#pace) * expectedSeconds(text) + EXTRA_SECONDS;
  }

  get isKnown(): boolean {
    return this.#paces.length >= FEWEST_TEXTS;
  }

  /**
   * Learns from a sound that said its whole text.
   * @param onMisfit called if later sounds show that this one was too short or too long
   */
  learn(text: string, seconds: number, onMisfit?: EarlyText['onMisfit']): void {
    if (lettersOf(text).length < SHORTEST_TEXT) return;
    if (onMisfit) this.#early.push({ text, seconds, onMisfit });
    this.#paces[this.#count % MOST_TEXTS] = seconds / usualSeconds(text);
    this.#count += 1;
    this.#lookBack();
  }

  /** Learns from a sound that seemed too short but said its whole text: the voice is fast. */
  learnFast(text: string, seconds: number): void {
    this.#isFast ||= !this.#isBeyondLimit(text);
    this.learn(text, seconds);
  }

  /** Learns from a sound that said only a part of its text: the engine has a limit. */
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

  /** @returns the number of characters that the voice speaks in this time */
  charactersIn(seconds: number): number {
    return Math.round(seconds / this.#pace / usualSeconds('x'));
  }

  #isBeyondLimit(text: string): boolean {
    return countCodePoints(text) > LIMIT_MARGIN * this.#limit;
  }

  /** The median pace. A pace faster than usual counts only once a fast sound has proven to be complete. */
  get #pace(): number {
    if (!this.isKnown) return 1;
    const sorted = this.#paces.toSorted((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? 1;
    return this.#isFast ? median : Math.max(1, median);
  }
}

/** @returns the smallest amplitude that is not silence */
function leastAudible(peak: number): number {
  return Math.max(1, Math.ceil(peak * SILENCE_LEVEL));
}

/** The shortest plausible duration in seconds; only letters and digits count. */
function leastSecondsOf(text: string): number {
  const letters = lettersOf(text);
  return letters.length < SHORTEST_TEXT ? 0 : leastSeconds(letters.join(''));
}

function lettersOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}]/gu) ?? [];
}

/** The longest silence, in seconds, that the sound of a text may have inside. */
const MOST_SILENCE = 1.5;

/** That limit for a text with punctuation that asks for a pause. */
const MOST_REST = 2 * MOST_SILENCE;

/** Punctuation at which a voice pauses, and paragraph breaks. */
const RESTS = /\.\.|…|—|--|\n\n/u;

function mostSilenceOf(text: string): number {
  if (!hasWord(text)) return Number.POSITIVE_INFINITY;
  return RESTS.test(text) ? MOST_REST : MOST_SILENCE;
}

/** A text with this many letters and digits cannot have a sound of zeros only. */
const FEWEST_SOUNDING = 10;

/** Seconds of silence to keep at the end of a sound. */
const SILENCE_AT_END = 0.5;

/** Samples below this share of the loudest one, 40 dB lower, count as silence. */
const SILENCE_LEVEL = 1 / 100;

/** A sound while it arrives: measures its length and its silences, and trims the silence at its end. */
class IncomingSound {
  readonly text: string;
  /** Hz; 1 until the first samples arrive. */
  #sampleRate = 1;
  /** The longest silence that the sound may have inside, in seconds. */
  readonly #mostSilence: number;
  /** Sound that was not taken yet, up to the last sample that is not silent. */
  #sounding: Int16Array[] = [];
  #held = 0;
  #silence: Int16Array[] = [];
  #silentFrames = 0;
  #soundingFrames = 0;
  #longestSilence = 0;
  #peak = 0;
  readonly #enough: number;
  readonly #most: number;

  /** `enough` and `most` are the shortest and the longest duration in seconds that fits the text. */
  constructor(text: string, enough: number, most: number) {
    this.text = text;
    this.#mostSilence = mostSilenceOf(text);
    this.#enough = enough;
    this.#most = most;
  }

  /** @returns what is wrong with the sound so far. A long silence counts only while all of the sound is held back. */
  misfit(isHeld: boolean, isEnd = false): SoundFault | undefined {
    if (this.seconds > this.#most) return 'long';
    if ((isHeld && this.fellSilent) || (isEnd && this.#isMute)) return 'silent';
    return isEnd && isHeld && this.seconds < this.#enough ? 'short' : undefined;
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
    // A silence beyond this need not be kept: at both ends it is trimmed, and inside, the text is requested again.
    const most = Math.max(this.#mostSilence, SILENCE_AT_END) * this.#sampleRate;
    const before = this.#silentFrames - (samples.length - end);
    if (before < most) this.#silence.push(samples.subarray(end, end + Math.ceil(most - before)));
  }

  /** @returns the number of samples up to the last one that is not silent */
  #measure(samples: Int16Array): number {
    let end = 0;
    let [peak, silent, longest] = [this.#peak, this.#silentFrames, this.#longestSilence];
    let least = leastAudible(peak);
    for (let at = 0; at < samples.length; at += 1) {
      const size = Math.abs(samples[at] ?? 0);
      if (size < least) {
        silent += 1;
        continue;
      }
      // Silence before the first sound is not inside.
      if (peak > 0 && silent > longest) longest = silent;
      silent = 0;
      if (size > peak) {
        peak = size;
        least = leastAudible(peak);
      }
      end = at + 1;
    }
    if (end > 0) this.#soundingFrames += this.#silentFrames + end;
    this.#peak = peak;
    this.#silentFrames = silent;
    this.#longestSilence = longest;
    return end;
  }

  /** The duration of the sound, with the silence at its end trimmed. */
  get seconds(): number {
    return (
      this.#soundingFrames / this.#sampleRate +
      Math.min(SILENCE_AT_END, this.#silentFrames / this.#sampleRate)
    );
  }

  /** The longest silence inside, in seconds; a sound of zeros is one silence. */
  get silence(): number {
    return (this.#peak === 0 ? this.#silentFrames : this.#longestSilence) / this.#sampleRate;
  }

  /** True if the sound has too long a silence inside. */
  get fellSilent(): boolean {
    return this.#longestSilence / this.#sampleRate > this.#mostSilence;
  }

  /** True for a sound of zeros whose text has words. */
  get #isMute(): boolean {
    return this.#peak === 0 && lettersOf(this.text).length >= FEWEST_SOUNDING;
  }

  /** Bytes that were not taken yet, without the silence at the end. */
  get held(): number {
    return this.#held;
  }

  /** @returns the sound up to here, without the silence at its end */
  take(): readonly Int16Array[] {
    this.#held = 0;
    return this.#sounding.splice(0);
  }

  /** @returns the rest of the sound, with the silence at its end trimmed */
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
