import { printable } from '../kit/words.ts';
import { cutText } from '../text/cut.ts';
import { sentences } from '../text/sentences.ts';
import { expectedSeconds, leastSeconds, usualSeconds } from '../text/speaking-time.ts';
import { countCodePoints, hasWord } from '../text/unicode.ts';
import { type CutManner, EngineError, type SourceVoice, type Utterance } from './engine.ts';

/** How a sound does not fit its text. */
type SoundFault = 'short' | 'long' | 'silent';

/** A text that is not longer is not divided, and any sound counts as long enough for so few letters and digits. */
const SHORTEST = 40;

/** Halves that are longer than the whole by more than this show that a part of it was missing. */
const LONGER = 1.05;

/** Seconds. Two sounds have more silence at their ends than one. */
const MORE_SILENCE = 0.5;

/** A half that is as long as the whole within this share was cut at the same place. */
const SAME_LENGTH = 0.02;

/** Bytes of sound that wait until all of it is known. */
const MOST_HELD = 4 * 2 ** 20;

/** It stands for sound that is held back: the engine is at work. */
const NOTHING_YET = new Int16Array(0);

/** What is asked of an engine. */
export interface Task {
  readonly text: string;
  readonly voice: SourceVoice;
  /** 2 is twice as fast. */
  readonly speed: number;
  readonly onCut?: Utterance['onCut'];
  readonly isWhole?: Utterance['isWhole'];
}

/** A text and its sound. */
interface Spoken {
  readonly text: string;
  /** At a usual speed. */
  readonly seconds: number;
  /** Seconds of the longest silence inside. */
  readonly silence: number;
  readonly samples: readonly Int16Array[];
}

interface CheckedSound extends Spoken {
  readonly misfit: SoundFault | undefined;
  /** False if a part of the sound was passed on. */
  readonly isHeld: boolean;
}

interface FaultySound extends Spoken {
  readonly misfit: SoundFault;
  /** True if it was cut where the whole was that it is a part of. */
  readonly isCut?: boolean;
  /** The whole that the engine's caller asked for, if this is a part of it. */
  readonly asked?: Spoken;
}

type Once<T> = (task: T, rate: { sampleRate: number }) => AsyncIterable<Int16Array>;

/**
 * Speaks with an engine that may drop parts of a text in silence, fall silent, or say what is not there. Such a text is asked
 * for again in two parts, and these again in two.
 */
export class CheckedSpeech<T extends Task> {
  readonly #name: string;
  readonly #once: Once<T>;
  readonly #paces = new Map<SourceVoice, VoicePace>();

  /**
   * @param name that of the engine
   * @param once asks the engine, and sets the rate of the samples before the first of them
   */
  constructor(name: string, once: Once<T>) {
    this.#name = name;
    this.#once = once;
  }

  /** @throws EngineError where the parts do not fit either, or where sound that was passed on turns out to be too long */
  async *speak(task: T): AsyncGenerator<Int16Array> {
    const pace = this.#paceOf(task.voice);
    const isEarly = !pace.isKnown;
    const heard = yield* this.#listen(task);
    const { text, seconds, misfit } = heard;
    if (!misfit) {
      yield* heard.samples;
      const onMisfit = (late: SoundFault) => this.#tell(task, heard, late, 'late');
      pace.learn(text, seconds, isEarly ? onMisfit : undefined);
      return;
    }
    if (!heard.isHeld) throw this.#unfit(heard, misfit, pace);
    const whole = await this.#inParts(task, { ...heard, misfit });
    if (whole.samples !== heard.samples) this.#tell(task, heard, misfit, 'in parts');
    yield* whole.samples;
  }

  /**
   * Passes sound on as soon as it is long enough, unless all of it is awaited.
   * @returns what was not passed on, with the silence at its end trimmed
   */
  async *#listen(task: T): AsyncGenerator<Int16Array, CheckedSound> {
    const { text, speed, isWhole = false } = task;
    const pace = this.#paceOf(task.voice);
    const enough = pace.secondsOfWhole(text) / Math.max(1, speed);
    const most = pace.mostSecondsOf(text) / Math.min(1, speed);
    const sound = new Incoming(task, enough, most);
    const rate = { sampleRate: 0 };
    let isHeld = true;
    for await (const samples of this.#once(task, rate)) {
      const wasDead = sound.isDead;
      sound.push(samples, rate.sampleRate);
      if (sound.misfit(isHeld)) break;
      // It cannot be taken back.
      if (sound.isDead && !wasDead) this.#tell(task, sound, 'silent', 'heard');
      const isReady = isWhole ? sound.held > MOST_HELD : sound.seconds >= enough;
      const ready: readonly Int16Array[] = isHeld && !isReady ? [] : sound.take();
      isHeld &&= ready.length === 0;
      yield* isHeld ? [NOTHING_YET] : ready;
    }
    const misfit = sound.misfit(isHeld, true);
    const { seconds, silence } = sound;
    return { text, samples: sound.end(), misfit, isHeld, silence, seconds: seconds * Math.max(1, speed) };
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

  /** @returns the sound of two parts, unless it shows that the whole lacks nothing */
  async #inParts(task: T, whole: FaultySound): Promise<Spoken> {
    const texts = divided(whole.text);
    if (whole.misfit === 'short' && texts.length === 1) return this.#longer(task, whole, whole);
    const parts: Spoken[] = [];
    for (const text of texts) parts.push(await this.#part({ ...task, text }, whole, texts.length > 1));
    const all = joined(whole.text, parts);
    return whole.misfit === 'short' ? this.#longer(task, whole, all) : all;
  }

  async #part(task: T, whole: FaultySound, isDividable: boolean): Promise<Spoken> {
    const pace = this.#paceOf(task.voice);
    const { asked = whole } = whole;
    const part = await this.#heard(task);
    const isCut = whole.misfit === 'short' && Math.abs(part.seconds / whole.seconds - 1) <= SAME_LENGTH;
    const misfit = part.misfit ?? (isCut ? 'short' : undefined);
    if (!misfit) {
      pace.learn(part.text, part.seconds);
      return part;
    }
    const isShort = misfit === 'short';
    if (isDividable && !(isShort && countCodePoints(part.text) <= SHORTEST))
      return this.#inParts(task, { ...part, misfit, isCut, asked });
    throw this.#unfit(isShort ? asked : part, misfit, pace);
  }

  /** Sound that seems to be too short is compared with that of its parts. */
  #longer(task: T, whole: FaultySound, parts: Spoken): Spoken {
    const pace = this.#paceOf(task.voice);
    const least = leastSecondsOf(whole.text);
    if (whole.isCut || parts.seconds > LONGER * whole.seconds + MORE_SILENCE) pace.learnLimit(whole.seconds);
    else if (whole.seconds >= least) {
      pace.learnFast(whole.text, whole.seconds);
      return whole;
    }
    if (parts.seconds < least) throw this.#unfit(whole.asked ?? whole, 'short', pace);
    return parts;
  }

  #paceOf(voice: SourceVoice): VoicePace {
    const pace = this.#paces.get(voice) ?? new VoicePace();
    this.#paces.set(voice, pace);
    return pace;
  }

  #tell(task: T, sound: Omit<Spoken, 'samples'>, misfit: SoundFault, how: CutManner): void {
    task.onCut?.(this.#unfit(sound, misfit, this.#paceOf(task.voice)).message, how);
  }

  /** The engine was asked more than once, or does the same each time: it is not asked once more. */
  #unfit(
    { text, seconds, silence }: Omit<Spoken, 'samples'>,
    misfit: SoundFault,
    pace: VoicePace,
  ): EngineError {
    const sent = `${this.#name} sent ${seconds.toFixed(1)} s of sound for "${printable(text.slice(0, 60))}"`;
    const characters = `${countCodePoints(text)} characters`;
    const what = {
      short: `too short for ${characters}: the engine seems to drop text; set maxChars: ${rounded(pace.charactersIn(seconds))}`,
      long: `too long for ${characters} at the pace of the voice: the engine seems to say what is not there; a smaller maxChars may help`,
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
  return Math.max(SHORTEST, step * Math.round(characters / step));
}

/** @returns the text in two, at a border of sentences in its middle half or else between words, if it can be divided */
export function divided(text: string): string[] {
  const ends: number[] = [];
  for (const sentence of sentences(text)) ends.push((ends.at(-1) ?? 0) + sentence.length);
  const distance = (end: number) => Math.abs(end / text.length - 0.5);
  const [middle = 0] = ends.slice(0, -1).sort((a, b) => distance(a) - distance(b));
  if (distance(middle) <= 0.25) return [text.slice(0, middle).trim(), text.slice(middle).trim()];
  const length = countCodePoints(text);
  let parts = [text];
  for (const share of length > SHORTEST ? [0.5, 0.55, 0.6] : []) {
    parts = [...cutText(text, { maxChars: Math.ceil(length * share) })];
    if (parts.length === 2) break;
  }
  return parts;
}

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

interface EarlyText {
  readonly text: string;
  readonly seconds: number;
  readonly onMisfit: (fault: SoundFault) => void;
}

/** What is known of the pace of a voice. A pace of 1 is the usual one. */
class VoicePace {
  readonly #paces: number[] = [];
  /** Texts that were spoken before the pace was known. */
  #early: EarlyText[] = [];
  #count = 0;
  #isFast = false;
  /** Characters that the engine speaks of a text at most, as far as it is known. */
  #limit = Number.POSITIVE_INFINITY;

  /** @returns the seconds from which on the sound of the text counts as whole without a question */
  secondsOfWhole(text: string): number {
    if (lettersOf(text).length < SHORTEST) return 0;
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
  learn(text: string, seconds: number, onMisfit?: EarlyText['onMisfit']): void {
    if (lettersOf(text).length < SHORTEST) return;
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

/** @returns the smallest sample that is not silent */
function leastHeard(peak: number): number {
  return Math.max(1, Math.ceil(peak * SILENT));
}

/** Only letters and digits count. */
function leastSecondsOf(text: string): number {
  const letters = lettersOf(text);
  return letters.length < SHORTEST ? 0 : leastSeconds(letters.join(''));
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
class Incoming {
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
  readonly #enough: number;
  readonly #most: number;

  /** The sound may have `enough` to `most` seconds. */
  constructor({ text, speed }: Pick<Task, 'text' | 'speed'>, enough: number, most: number) {
    this.text = text;
    this.#mostSilence = mostSilenceOf(text) / Math.min(1, speed);
    this.#enough = enough;
    this.#most = most;
  }

  /** @returns what is wrong with the sound so far. Silence in it matters no more when a part was passed on. */
  misfit(isHeld: boolean, isEnd = false): SoundFault | undefined {
    if (this.seconds > this.#most) return 'long';
    if ((isHeld && this.isDead) || (isEnd && this.#isMute)) return 'silent';
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
    // The rest of a silence that is too long is trimmed at the end, or the text is asked for again.
    const most = Math.max(this.#mostSilence, SILENCE_AT_END) * this.#sampleRate;
    const before = this.#silentFrames - (samples.length - end);
    if (before < most) this.#silence.push(samples.subarray(end, end + Math.ceil(most - before)));
  }

  /** @returns the number of samples up to the last one that is not silent */
  #measure(samples: Int16Array): number {
    let end = 0;
    let [peak, silent, longest] = [this.#peak, this.#silentFrames, this.#longest];
    let least = leastHeard(peak);
    for (let at = 0; at < samples.length; at += 1) {
      const size = Math.abs(samples[at] ?? 0);
      if (size < least) {
        silent += 1;
        continue;
      }
      if (size > peak) {
        peak = size;
        least = leastHeard(peak);
      }
      if (silent > longest) longest = silent;
      silent = 0;
      end = at + 1;
    }
    if (end > 0) this.#soundingFrames += this.#silentFrames + end;
    this.#peak = peak;
    this.#silentFrames = silent;
    this.#longest = longest;
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

  /** True of a sound of zeros. */
  get #isMute(): boolean {
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
