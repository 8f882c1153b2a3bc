/** A text that is spoken while it is written. It is cut into segments, and each goes through the queue as a request does. */
import { EngineError, type Speaker as Served } from '../engines/engine.ts';
import { TtsError, usageError } from '../kit/error.ts';
import { AsyncQueue } from '../kit/queue.ts';
import { failingAs } from '../kit/wait.ts';
import { rows } from '../options/rows.ts';
import { plain } from '../read/plain.ts';
import type { Source } from '../read/reading.ts';
import { USUAL_PAUSES } from '../run/mix.ts';
import { type TrackOptions, trackOf } from '../run/run.ts';
import { RunText } from '../run/text.ts';
import type { Speech, Track } from '../sound/pcm.ts';
import type { Speaker, VoiceSource } from '../sound/voice.ts';
import { asRole } from '../voices/cast.ts';
import { eachField } from '../voices/sources.ts';
import type { TextReading } from './clean.ts';
import { shortSound, soundOrSilence } from './sound.ts';
import { type ServiceContext, soundOf } from './speak.ts';

/**
 * The sound of a text without a word is a short silence.
 * @throws EngineError here, and while the sound is read; the caller reads all of it, or aborts
 */
export async function speakLive(
  { source, speaker }: { readonly source: Source; readonly speaker: Served },
  context: ServiceContext,
  signal: AbortSignal,
): Promise<Pick<Speech, 'format' | 'pcm'>> {
  try {
    const how = { ...context.reading, isHeardLive: true, mix: { pauses: USUAL_PAUSES } };
    const track = await trackOfText(source, asVoice(speaker, context), how, signal);
    return track ? { format: track.format, pcm: failingAs(track.pcm, refusal) } : shortSound();
  } catch (error) {
    if (error === BLANK) return shortSound();
    throw refusal(error);
  }
}

/** Segments that are under way or kept for each text that the source of the voice takes at once. */
const WINDOW = 2;

/** Bytes of sound that wait for one text. */
const BUDGET = 4 * 2 ** 20;

const BLANK = usageError('the text has no words', 'send some');

interface How extends Partial<Pick<TextReading, 'reader' | 'stages' | 'inFront'>>, Pick<TrackOptions, 'mix'> {
  readonly isHeardLive: boolean;
}

/**
 * A whole text in segments, by one voice.
 * @returns `undefined` if the sound is sent elsewhere
 * @throws TtsError here, and while the sound is read
 */
export async function trackOfText(
  source: Source,
  speaker: Speaker,
  { reader = plain, stages = [], inFront, isHeardLive, mix }: How,
  signal: AbortSignal,
): Promise<Track | undefined> {
  const sources = () => [{ source, reader }];
  const plan = {
    sources,
    stages,
    inFront,
    role: asRole(speaker),
    pace: 'by output',
    cutsParagraphs: false,
  } as const;
  const text = await RunText.open(plan, signal);
  return trackOf({
    segments: (until) => text.segments(isHeardLive, until),
    speakerOf: () => speaker,
    window: WINDOW * speaker.voice.source.atOnce,
    budgetBytes: BUDGET,
    mix,
    signal,
    listeners: [],
    blank: () => BLANK,
  });
}

/** What a voice cannot do is an `EngineError` already: this is about what cannot be read. */
function refusal(error: unknown): unknown {
  return error instanceof TtsError ? new EngineError('unsupported text', error.message) : error;
}

/** One of the voices of the service as a run asks for it. */
function asVoice(speaker: Served, context: ServiceContext): Speaker {
  const { no, name, kind, language, sampleRate } = speaker;
  // A far service gets what the client said; a voice of this machine sends sound while it makes it.
  const fields = { ...eachField(() => undefined), stream: context.voices.isFar ? undefined : true };
  const source: VoiceSource = {
    kind: 'engine',
    name,
    maxChars: Number.POSITIVE_INFINITY,
    atOnce: 1,
    async open() {},
    async speak({ text, index }, until) {
      // Only the first segment can be refused because of a full queue: a text that is heard goes on.
      const order = { text, speaker, fields, isPatient: index > 0 };
      const { format, pcm } = await soundOrSilence(text, soundOf(order, context, until));
      return { format, bytes: undefined, pcm };
    },
    has: () => false,
    async close() {},
  };
  const voice = { source, no, name, kind, language, sampleRate, follows: undefined, identity: String(no) };
  return { voice, fields, speed: undefined, maxChars: rows.maxChars.fallback, isKept: () => false };
}

/** A text that comes in pieces, which may end inside a word, and inside a character. */
export class TextInPieces {
  readonly source: Source;
  readonly #bytes = new AsyncQueue<Uint8Array>();
  /** The first half of a surrogate pair. */
  #half = '';

  constructor() {
    const bytes = () => this.#bytes;
    this.source = { name: '', isLive: true, size: undefined, bytes, again: undefined };
  }

  push(piece: string): void {
    // In a file, this character would mean that it is not text.
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
