/** Speaks a text while it arrives: in segments, each of which is queued like a request. */
import { AsyncQueue } from '../kit/queue.ts';
import { rows } from '../options/rows.ts';
import { plain } from '../read/plain.ts';
import type { Source } from '../read/reading.ts';
import { SEGMENTS_PER_SLOT } from '../run/ahead.ts';
import { USUAL_PAUSES } from '../run/mix.ts';
import { type Listener, type TrackOptions, trackOf } from '../run/run.ts';
import { RunText, type TextPlan } from '../run/text.ts';
import type { Speech, Track } from '../sound/pcm.ts';
import type { Fields, Speaker, Voice, VoiceSource } from '../sound/voice.ts';
import { asRole } from '../voices/cast.ts';
import { eachField } from '../voices/sources.ts';
import type { TextReading } from './clean.ts';
import { BLANK, hasWords, shortSound, soundOrSilence } from './sound.ts';
import { isRelayed, type ServiceContext, soundOf } from './speak.ts';

interface LiveText {
  readonly source: Source;
  readonly voice: Voice;
  /** Speech options that the client set. */
  readonly fields?: Fields;
  readonly bySentence?: BySentence | undefined;
}

/** Makes each sentence a segment. Sentences that the voice cannot read are skipped, as within one request. */
interface BySentence {
  readonly listener: Listener | undefined;
  /** Called with the index of each sentence that is skipped, before its silence is heard. */
  onSkip(index: number): void;
  /** True if a text without words becomes a short silence; false if it is skipped. */
  readonly silentIfUnreadable: boolean;
}

/**
 * Speaks a live text. A text without words becomes a short silence, unless `bySentence` refuses it.
 * @throws EngineError, TtsError here, and while the sound is read; the caller must read all of it, or abort
 */
export async function speakLive(
  { source, voice, fields, bySentence }: LiveText,
  context: ServiceContext,
  signal: AbortSignal,
): Promise<Pick<Speech, 'format' | 'pcm'>> {
  const skipped = bySentence && new SkippedSentences(bySentence);
  const speaker = queuedSpeaker(voice, { fields, skipped }, context);
  try {
    const how: LiveTrackOptions = {
      ...context.reading,
      isHeardLive: !bySentence,
      pace: bySentence ? 'sentence' : 'by output',
      listener: bySentence?.listener,
      mix: { pauses: USUAL_PAUSES },
      // No error may quote the text of a client.
      missing: null,
    };
    const track = await trackOfText(source, speaker, how, signal);
    if (!track) return shortSound();
    return { format: track.format, pcm: unlessAllSkipped(track.pcm, skipped) };
  } catch (error) {
    if (error !== BLANK || bySentence?.silentIfUnreadable === false) throw error;
    return shortSound();
  }
}

/** Bytes of sound buffered for one text. */
const BUFFER_BYTES = 4 * 2 ** 20;

interface LiveTrackOptions
  extends Partial<Pick<TextReading, 'reader' | 'stages' | 'filter'>>,
    Pick<TrackOptions, 'mix' | 'order' | 'missing'> {
  readonly isHeardLive: boolean;
  /** Defaults to 'by output'. */
  readonly pace?: TextPlan['pace'];
  readonly listener?: Listener | undefined;
}

/**
 * Speaks a whole text in segments, with one voice.
 * @returns `undefined` if the service sends the sound elsewhere
 * @throws TtsError here, and while the sound is read
 */
export async function trackOfText(
  source: Source,
  speaker: Speaker,
  {
    reader = plain,
    stages = [],
    filter,
    isHeardLive,
    pace = 'by output',
    listener,
    ...how
  }: LiveTrackOptions,
  signal: AbortSignal,
): Promise<Track | undefined> {
  const sources = () => [{ source, reader }];
  const plan = {
    sources,
    stages,
    filter,
    role: asRole(speaker),
    pace,
    cutsParagraphs: false,
  } as const;
  const text = await RunText.open(plan, signal);
  return trackOf({
    segments: (until) => text.segments(isHeardLive, until),
    speakerOf: () => speaker,
    ...how,
    window: SEGMENTS_PER_SLOT * speaker.voice.source.atOnce,
    budgetBytes: BUFFER_BYTES,
    signal,
    listeners: [listener],
    blank: () => BLANK,
  });
}

/** Records the skipped sentences of a text, to report an error if the voice could read none of it. */
class SkippedSentences {
  readonly #options: BySentence;
  #sentences = 0;
  #skipped = 0;
  #error: unknown;

  constructor(options: BySentence) {
    this.#options = options;
  }

  countSentence(): void {
    this.#sentences += 1;
  }

  skip(index: number, text: string, error: unknown): void {
    this.#skipped += 1;
    this.#options.onSkip(index);
    if (hasWords(text) || !this.#options.silentIfUnreadable) this.#error ??= error;
  }

  /** @throws the first error of the voice, if it could read none of the text */
  throwIfAll(): void {
    if (this.#error !== undefined && this.#skipped === this.#sentences) throw this.#error;
  }
}

async function* unlessAllSkipped(
  pcm: AsyncIterable<Uint8Array>,
  skipped: SkippedSentences | undefined,
): AsyncGenerator<Uint8Array> {
  yield* pcm;
  skipped?.throwIfAll();
}

interface SpeakerOptions {
  readonly fields: Fields | undefined;
  readonly skipped: SkippedSentences | undefined;
}

/** Wraps a voice of the service as the speaker of a run; each segment is queued like a request. */
function queuedSpeaker(
  voice: Voice,
  { fields: asked, skipped }: SpeakerOptions,
  context: ServiceContext,
): Speaker {
  // A remote service gets the options of the client unchanged; a local voice streams.
  const fields = asked ?? { ...eachField(() => undefined), stream: isRelayed(voice) ? undefined : true };
  const source: VoiceSource = {
    ...voice.source,
    // As 'engine', a remote service may change its sample rate between sentences: each is a request of its own.
    kind: isRelayed(voice) ? 'engine' : voice.source.kind,
    atOnce: 1,
    async speak({ text, index }, until) {
      skipped?.countSentence();
      // A full queue can refuse only the first segment: a text that is already heard continues.
      const utterance = { text, voice, fields, ignoresQueueLimit: index > 0 };
      const skip = skipped && ((error: unknown) => skipped.skip(index, text, error));
      const { format, pcm } = await soundOrSilence(text, soundOf(utterance, context, until), skip);
      return { format, bytes: undefined, pcm };
    },
  };
  const maxChars = rows.maxChars.fallback;
  return { voice: { ...voice, source }, fields, speed: undefined, maxChars, isCached: () => false };
}

/** A text that arrives in pieces, which may end inside a word or a surrogate pair. */
export class TextInPieces {
  readonly source: Source;
  readonly #bytes = new AsyncQueue<Uint8Array>();
  /** The first half of a surrogate pair whose second half comes with the next piece. */
  #half = '';

  constructor() {
    this.source = { name: '', bytes: () => this.#bytes };
  }

  push(piece: string): void {
    // Readers take a NUL for the sign of a binary file.
    const text = this.#half + piece.replaceAll('\0', '');
    this.#half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : '';
    const whole = text.slice(0, text.length - this.#half.length);
    if (whole !== '') this.#bytes.push(Buffer.from(whole));
  }

  end(): void {
    if (this.#half !== '') this.#bytes.push(Buffer.from(this.#half));
    this.#bytes.end();
  }
}
