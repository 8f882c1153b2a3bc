import { TtsError } from '../kit/error.ts';
import type { RunContext } from '../kit/host.ts';
import type { SpeechJob } from '../run/job.ts';
import type { Listener, RunEvent } from '../run/run.ts';
import type { Speaker, VoiceSource } from '../sound/voice.ts';
import { LanguageGuess } from '../text/language-guess.ts';
import type { Segment } from '../text/segment.ts';
import { excerpt, hasWord } from '../text/unicode.ts';
import { DoubtfulSound } from './doubtful.ts';
import { advice, BuiltInReading, nothingRead } from './language-check.ts';
import { Shortfall } from './shortfall.ts';

type Left = Pick<SpeechJob, 'speaker' | 'cast' | 'keepsGoing' | 'fallback'>;

/**
 * Collects the text that is, or may be, missing from the sound. The built-in voice leaves out what it cannot read; a segment
 * that a service or an engine refuses is skipped only with `--keep-going`.
 */
export class MissingText implements Listener {
  readonly #kindOf: (segment: Segment) => VoiceSource['kind'];
  readonly #unread: UnreadWords | undefined;
  readonly #refused: Shortfall | undefined;
  readonly #doubtful: DoubtfulSound;
  /** What refuses segments, in messages. */
  readonly #who: string;

  static async of(
    job: Left,
    speakerOf: (segment: Segment) => Speaker,
    context: RunContext,
  ): Promise<MissingText> {
    const mayBeUnread = job.cast || job.fallback || isBuiltIn(job.speaker);
    const unread = mayBeUnread ? await UnreadWords.load(context) : undefined;
    return new MissingText(job, speakerOf, unread, context);
  }

  private constructor(
    { speaker, cast, keepsGoing, fallback }: Left,
    speakerOf: (segment: Segment) => Speaker,
    unread: UnreadWords | undefined,
    { notices }: RunContext,
  ) {
    this.#unread = unread;
    this.#refused = keepsGoing ? new Shortfall(notices) : undefined;
    this.#doubtful = new DoubtfulSound(notices);
    this.#who = cast || fallback ? 'voice' : speaker.voice.source.kind;
    this.#kindOf = (segment) => speakerOf(segment).voice.source.kind;
  }

  /** True if the voice refuses only this text, and the run may continue without it. */
  readonly maySkip = (error: unknown, segment: Segment): error is TtsError => {
    if (!(error instanceof TtsError) || !error.concernsThisTextOnly) return false;
    const kind = this.#kindOf(segment);
    return kind !== 'espeak' && (kind === 'built-in' ? this.#unread : this.#refused) !== undefined;
  };

  on(event: RunEvent): void | Promise<void> {
    switch (event.type) {
      case 'voice':
        return this.#doubtful.on(event);
      case 'started':
        if (this.#kindOf(event.part.segment) === 'built-in') this.#unread?.read(event.part.segment.text);
        return;
      case 'skipped':
        if (!hasWord(event.segment.text)) return;
        if (this.#kindOf(event.segment) === 'built-in') this.#unread?.skip(event.segment);
        else this.#refused?.add(leftOut(event.segment, event.error.message));
        return;
      case 'end':
        return this.#unread?.assertRead();
    }
  }

  /**
   * Warns of missing words.
   * @returns the error (partial) of segments that are missing, or may be
   */
  async finish(): Promise<TtsError | undefined> {
    const unread = await this.#unread?.finish();
    const refused = this.#refused?.error(
      missing((them) => `the ${this.#who} refused ${them}`),
      'the audio has all the others; change these passages, and run the same command again',
    );
    return refused ?? unread ?? this.#doubtful.error();
  }
}

function leftOut({ place: { line }, text }: Segment, why: string): string {
  const place = line === undefined ? '' : ` of line ${line}`;
  return `"${excerpt(text)}"${place} is left out: ${why}`;
}

function missing(why: (them: string) => string): (count: number) => string {
  return (count) =>
    count === 1 ? `1 segment is left out: ${why('it')}` : `${count} segments are left out: ${why('them')}`;
}

/** The most rows of a batch whose missing words cause a warning: each takes a search for another voice, by a program. */
const MOST_ROWS = 20;

/**
 * Collects what the built-in voice leaves out of the rows of a batch, several of which are made at once.
 * @returns a listener for a row
 */
export function unreadInRows(context: RunContext): (where: string) => Listener {
  let warnings = 0;
  return (where) => {
    const warn = (text: string) => {
      warnings += 1;
      context.notices.warn(`${where}: ${text}`);
    };
    let unread: UnreadWords | undefined;
    return {
      async on(event) {
        if (event.type === 'started' && isBuiltIn(event.part.segment.role.speaker)) {
          unread ??= await UnreadWords.load(context, { warn });
          unread.read(event.part.segment.text);
        }
        if (event.type !== 'end') return;
        await unread?.assertRead();
        if (warnings < MOST_ROWS) await unread?.finish();
      },
    };
  };
}

function isBuiltIn({ voice }: Speaker): boolean {
  return voice.source.kind === 'built-in';
}

type Warner = Pick<RunContext['notices'], 'warn'>;

/** Collects the words and segments that the built-in voice leaves out. */
class UnreadWords {
  readonly #normalise: (text: string) => string;
  readonly #context: RunContext;
  readonly #notices: Warner;
  readonly #missing: Shortfall;
  readonly #unread = new LanguageGuess();
  #reading: BuiltInReading;
  #first: string | undefined;
  #count = 0;

  static async load(context: RunContext, notices: Warner = context.notices): Promise<UnreadWords> {
    return new UnreadWords((await import('../engines/normalise.ts')).normalise, context, notices);
  }

  /** @param normalise returns an empty text for a text that the voice cannot read */
  private constructor(normalise: (text: string) => string, context: RunContext, notices: Warner) {
    this.#normalise = normalise;
    this.#context = context;
    this.#notices = notices;
    this.#missing = new Shortfall(notices);
    this.#reading = new BuiltInReading(normalise);
  }

  skip(segment: Segment): void {
    this.#reading.add(segment.text);
    this.#unread.add(segment.text);
    this.#missing.add(leftOut(segment, 'the built-in English voice cannot read it'));
  }

  read(text: string): void {
    this.#reading.add(text);
    for (const word of text.split(/\s+/u)) {
      // The voice reads all of ASCII.
      if (/^\p{ASCII}*$/u.test(word) || !hasWord(word) || this.#normalise(word) !== '') continue;
      this.#unread.add(word);
      this.#first ??= word;
      this.#count += 1;
    }
  }

  /** @throws TtsError (service) if nearly all of a track is missing, so that it is not published */
  async assertRead(): Promise<void> {
    const { leavesOutNearlyAll, written } = this.#reading;
    this.#reading = new BuiltInReading(this.#normalise);
    if (leavesOutNearlyAll) throw await nothingRead(written.language, this.#context);
  }

  async finish(): Promise<TtsError | undefined> {
    const { language } = this.#unread;
    const remedy = language === undefined ? undefined : await advice(language, this.#context);
    const word = this.#first;
    const error = this.#missing.error(
      missing((them) => `the built-in English voice cannot read ${them}`),
      remedy ?? 'the audio has all the others; another voice may read these',
    );
    if (word === undefined) return error;
    const others = this.#count === 1 ? '' : ` and ${this.#count - 1} more`;
    const hint = error || remedy === undefined ? '' : `; ${remedy}`;
    this.#notices.warn(`the built-in English voice left out "${excerpt(word)}"${others}${hint}`);
    return error;
  }
}
