import { ExitCode, TtsError } from '../../error.ts';
import type { Listener } from '../../speech/deliver.ts';
import type { SpeechJob } from '../../speech/job.ts';
import type { Part, Skipping } from '../../speech/look-ahead.ts';
import type { Segment } from '../../text/segment.ts';
import { excerpt, hasWord } from '../../text/unicode.ts';
import type { Voice } from '../../voices/voice.ts';

interface LeftOut extends Skipping, Listener {
  /** @throws TtsError (partial) if a refused segment is missing */
  finish(): void;
}

type Kind = Voice['kind'];

type Left = Pick<SpeechJob, 'voice' | 'cast' | 'keepsGoing'> & Partial<Pick<SpeechJob, 'fallback'>>;

/** The built-in voice leaves out what it cannot read; refusals of a service or an engine need `--keep-going`. */
export async function leftOutOf(
  { voice, cast, keepsGoing, fallback }: Left,
  voiceOf: (segment: Segment) => Pick<Voice, 'kind'>,
  warn: (text: string) => void,
): Promise<LeftOut | undefined> {
  const { kind } = voice;
  const hasSeveral = cast !== undefined || fallback !== undefined;
  const refused = keepsGoing ? new RefusedSegments(hasSeveral ? 'voice' : kind, warn) : undefined;
  const isUnread = hasSeveral || kind === 'built-in';
  const unread = isUnread && new UnreadWords((await import('../../engine/normalise.ts')).normalise, warn);
  const byKind: ByKind = {
    'built-in': unread || undefined,
    espeak: undefined,
    service: refused,
    engine: refused,
  };
  return hasSeveral ? new LeftOutByVoice(byKind, (segment) => voiceOf(segment).kind) : byKind[kind];
}

type ByKind = Readonly<Record<Kind, LeftOut | undefined>>;

/** What may be missing of a text of several voices depends on who speaks the segment. */
class LeftOutByVoice implements LeftOut {
  readonly #byKind: ByKind;
  readonly #kindOf: (segment: Segment) => Kind;

  constructor(byKind: ByKind, kindOf: (segment: Segment) => Kind) {
    this.#byKind = byKind;
    this.#kindOf = kindOf;
  }

  allows(error: unknown, segment: Segment): error is TtsError {
    return this.#of(segment)?.allows(error, segment) === true;
  }

  onSkipped(error: TtsError, segment: Segment): void {
    this.#of(segment)?.onSkipped(error, segment);
  }

  onPart(part: Part, pauseFrames: number): void {
    this.#of(part.segment)?.onPart?.(part, pauseFrames);
  }

  finish(): void {
    const { 'built-in': unread, service: refused } = this.#byKind;
    unread?.finish();
    refused?.finish();
  }

  #of(segment: Segment): LeftOut | undefined {
    return this.#byKind[this.#kindOf(segment)];
  }
}

class RefusedSegments implements LeftOut {
  readonly #who: string;
  readonly #warn: (text: string) => void;
  #count = 0;

  constructor(who: string, warn: (text: string) => void) {
    this.#who = who;
    this.#warn = warn;
  }

  /** Another segment may be accepted. */
  allows(error: unknown): error is TtsError {
    return isRefusal(error);
  }

  onSkipped(error: TtsError, { place: { line }, text }: Segment): void {
    this.#count += 1;
    const place = line === undefined ? '' : ` of line ${line}`;
    this.#warn(`"${excerpt(text)}"${place} is left out: ${error.message}`);
  }

  finish(): void {
    if (this.#count === 0) return;
    const what = this.#count === 1 ? '1 segment is' : `${this.#count} segments are`;
    throw new TtsError(`${what} left out: the ${this.#who} refused ${this.#count === 1 ? 'it' : 'them'}`, {
      exitCode: ExitCode.partial,
      hint: 'the audio has all the others; change these passages, and run the same command again',
    });
  }
}

const VOICES: readonly (readonly [script: string, language: string])[] = [
  ['Cyrillic', 'ru'],
  ['Greek', 'el'],
  ['Hiragana', 'ja'],
  ['Katakana', 'ja'],
  ['Han', 'zh'],
  ['Hangul', 'ko'],
  ['Arabic', 'ar'],
  ['Hebrew', 'he'],
  ['Devanagari', 'hi'],
  ['Bengali', 'bn'],
  ['Tamil', 'ta'],
  ['Thai', 'th'],
  ['Armenian', 'hy'],
  ['Georgian', 'ka'],
];

class UnreadWords implements LeftOut {
  readonly #normalise: (text: string) => string;
  readonly #warn: (text: string) => void;
  #first: string | undefined;
  #count = 0;

  /** @param normalise empty for what the voice cannot read */
  constructor(normalise: (text: string) => string, warn: (text: string) => void) {
    this.#normalise = normalise;
    this.#warn = warn;
  }

  allows(error: unknown): error is TtsError {
    return isRefusal(error);
  }

  onSkipped(_: TtsError, { text }: Segment): void {
    this.#look(text);
  }

  onPart({ segment }: Part): void {
    this.#look(segment.text);
  }

  finish(): void {
    const word = this.#first;
    if (word === undefined) return;
    const others = this.#count === 1 ? '' : ` and ${this.#count - 1} more`;
    const language = VOICES.find(([script]) => new RegExp(`\\p{sc=${script}}`, 'u').test(word))?.[1];
    const remedy = language === undefined ? '-s NAME with a voice' : `-s ${language}, a voice`;
    this.#warn(
      `the built-in English voice left out "${excerpt(word)}"${others}; ${remedy} of espeak-ng, could read it`,
    );
  }

  #look(text: string): void {
    // ASCII is always read.
    for (const word of text.match(/\S*[^\p{ASCII}\s]\S*/gu) ?? []) {
      if (!hasWord(word) || this.#normalise(word) !== '') continue;
      this.#first ??= word;
      this.#count += 1;
    }
  }
}

function isRefusal(error: unknown): error is TtsError {
  return error instanceof TtsError && error.concernsThisTextOnly;
}
