import { ExitCode, TtsError } from '../kit/error.ts';
import type { RunContext } from '../kit/host.ts';
import type { Part, Skipping } from '../run/ahead.ts';
import type { SpeechJob } from '../run/job.ts';
import type { Listener } from '../run/run.ts';
import type { Speaker, VoiceSource } from '../sound/voice.ts';
import type { Segment } from '../text/segment.ts';
import { excerpt, hasWord } from '../text/unicode.ts';
import { Written } from '../text/written.ts';
import { advice, BuiltInReading, nothingRead } from './language-check.ts';

interface LeftOut extends Skipping, Listener {
  /** Warns of words that are missing. @returns the error (partial) of segments that are missing */
  finish(): Promise<TtsError | undefined>;
}

type Kind = VoiceSource['kind'];

type Left = Pick<SpeechJob, 'speaker' | 'cast' | 'keepsGoing'> & Partial<Pick<SpeechJob, 'fallback'>>;

/** The built-in voice leaves out what it cannot read; refusals of a service or an engine need `--keep-going`. */
export async function leftOutOf(
  { speaker, cast, keepsGoing, fallback }: Left,
  speakerOf: (segment: Segment) => Speaker,
  context: Pick<RunContext, 'host' | 'notices' | 'signal'>,
): Promise<LeftOut | undefined> {
  const { kind } = speaker.voice.source;
  const warn = (text: string) => context.notices.warn(text);
  const hasSeveral = cast !== undefined || fallback !== undefined;
  const refused = keepsGoing ? new RefusedSegments(hasSeveral ? 'voice' : kind, warn) : undefined;
  const isUnread = hasSeveral || kind === 'built-in';
  const unread = isUnread && new UnreadWords((await import('../engines/normalise.ts')).normalise, context);
  const byKind: ByKind = {
    'built-in': unread || undefined,
    espeak: undefined,
    service: refused,
    engine: refused,
  };
  return hasSeveral
    ? new LeftOutByVoice(byKind, (segment) => speakerOf(segment).voice.source.kind)
    : byKind[kind];
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

  async complete(): Promise<void> {
    await this.#byKind['built-in']?.complete?.();
  }

  async finish(): Promise<TtsError | undefined> {
    const { 'built-in': unread, service: refused } = this.#byKind;
    const missing = await unread?.finish();
    return (await refused?.finish()) ?? missing;
  }

  #of(segment: Segment): LeftOut | undefined {
    return this.#byKind[this.#kindOf(segment)];
  }
}

/** The list of the segments that are missing. */
class MissingSegments {
  readonly #warn: (text: string) => void;
  #count = 0;

  constructor(warn: (text: string) => void) {
    this.#warn = warn;
  }

  add({ place: { line }, text }: Segment, why: string): void {
    this.#count += 1;
    const place = line === undefined ? '' : ` of line ${line}`;
    if (this.#count <= MOST_LISTED) this.#warn(`"${excerpt(text)}"${place} is left out: ${why}`);
  }

  /** @param why it follows "1 segment is left out: " */
  error(why: (them: string) => string, hint: string): TtsError | undefined {
    if (this.#count === 0) return undefined;
    const what = this.#count === 1 ? '1 segment is' : `${this.#count} segments are`;
    const message = `${what} left out: ${why(this.#count === 1 ? 'it' : 'them')}`;
    return new TtsError(message, { exitCode: ExitCode.partial, hint });
  }
}

const MOST_LISTED = 20;

class RefusedSegments implements LeftOut {
  readonly #who: string;
  readonly #missing: MissingSegments;

  constructor(who: string, warn: (text: string) => void) {
    this.#who = who;
    this.#missing = new MissingSegments(warn);
  }

  /** Another segment may be accepted. */
  allows(error: unknown): error is TtsError {
    return isRefusal(error);
  }

  onSkipped(error: TtsError, segment: Segment): void {
    this.#missing.add(segment, error.message);
  }

  async finish(): Promise<TtsError | undefined> {
    return this.#missing.error(
      (them) => `the ${this.#who} refused ${them}`,
      'the audio has all the others; change these passages, and run the same command again',
    );
  }
}

class UnreadWords implements LeftOut {
  readonly #normalise: (text: string) => string;
  readonly #context: Pick<RunContext, 'host' | 'notices' | 'signal'>;
  readonly #missing: MissingSegments;
  readonly #unread = new Written();
  #reading: BuiltInReading;
  #first: string | undefined;
  #count = 0;

  /** @param normalise empty for what the voice cannot read */
  constructor(normalise: (text: string) => string, context: Pick<RunContext, 'host' | 'notices' | 'signal'>) {
    this.#normalise = normalise;
    this.#context = context;
    this.#missing = new MissingSegments((text) => context.notices.warn(text));
    this.#reading = new BuiltInReading(normalise);
  }

  allows(error: unknown): error is TtsError {
    return isRefusal(error);
  }

  onSkipped(_: TtsError, segment: Segment): void {
    this.#reading.add(segment.text);
    this.#unread.add(segment.text);
    if (hasWord(segment.text)) this.#missing.add(segment, 'the built-in English voice cannot read it');
  }

  onPart({ segment: { text } }: Part): void {
    this.#reading.add(text);
    // ASCII is always read.
    for (const word of text.match(/\S*[^\p{ASCII}\s]\S*/gu) ?? []) {
      if (!hasWord(word) || this.#normalise(word) !== '') continue;
      this.#unread.add(word);
      this.#first ??= word;
      this.#count += 1;
    }
  }

  /** @throws TtsError (service) where nearly all of a track is missing, so that it is not published */
  async complete(): Promise<void> {
    const { leavesOutNearlyAll, written } = this.#reading;
    this.#reading = new BuiltInReading(this.#normalise);
    if (leavesOutNearlyAll) throw await nothingRead(written.language, this.#context);
  }

  async finish(): Promise<TtsError | undefined> {
    const { language } = this.#unread;
    const remedy = language === undefined ? undefined : await advice(language, this.#context);
    const word = this.#first;
    const missing = this.#missing.error(
      (them) => `the built-in English voice cannot read ${them}`,
      remedy ?? 'the audio has all the others; another voice may read these',
    );
    if (word === undefined) return missing;
    const others = this.#count === 1 ? '' : ` and ${this.#count - 1} more`;
    const hint = missing || remedy === undefined ? '' : `; ${remedy}`;
    this.#context.notices.warn(`the built-in English voice left out "${excerpt(word)}"${others}${hint}`);
    return missing;
  }
}

function isRefusal(error: unknown): error is TtsError {
  return error instanceof TtsError && error.concernsThisTextOnly;
}
