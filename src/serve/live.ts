/** A text that is spoken while it is written. It is cut into segments, and each goes through the queue as a request does. */
import { AsyncQueue } from '../kit/queue.ts';
import { rows } from '../options/rows.ts';
import { plain } from '../read/plain.ts';
import type { Source } from '../read/reading.ts';
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
  /** What the client set. */
  readonly fields?: Fields;
  readonly bySentence?: BySentence | undefined;
}

/** Each sentence is a segment. Those that the voice cannot read are left out, as within a request. */
interface BySentence {
  readonly listenerFor?:
    | ((speakerOf: () => Speaker, isLeftOut: (index: number) => boolean) => Listener)
    | undefined;
  /** Otherwise a text without words is refused. */
  readonly silentIfUnreadable: boolean;
}

/**
 * The sound of a text without a word is a short silence.
 * @throws EngineError, TtsError here, and while the sound is read; the caller reads all of it, or aborts
 */
export async function speakLive(
  { source, voice, fields, bySentence }: LiveText,
  context: ServiceContext,
  signal: AbortSignal,
): Promise<Pick<Speech, 'format' | 'pcm'>> {
  const refused = bySentence && new Refused(bySentence.silentIfUnreadable);
  const speaker = queuedSpeaker(voice, { fields, refused }, context);
  const isLeftOut = (index: number) => refused?.has(index) === true;
  try {
    const how: How = {
      ...context.reading,
      isHeardLive: !bySentence,
      pace: bySentence ? 'sentence' : 'by output',
      listener: bySentence?.listenerFor?.(() => speaker, isLeftOut),
      mix: { pauses: USUAL_PAUSES },
      // Errors quote no text of a client.
      missing: null,
    };
    const track = await trackOfText(source, speaker, how, signal);
    if (!track) return shortSound();
    return { format: track.format, pcm: unlessAllLeftOut(track.pcm, refused) };
  } catch (error) {
    if (error !== BLANK || bySentence?.silentIfUnreadable === false) throw error;
    return shortSound();
  }
}

/** Segments that are under way or kept for each text that the source of the voice takes at once. */
const WINDOW = 2;

/** Bytes of sound that wait for one text. */
const BUDGET = 4 * 2 ** 20;

interface How
  extends Partial<Pick<TextReading, 'reader' | 'stages' | 'inFront'>>,
    Pick<TrackOptions, 'mix' | 'order' | 'missing'> {
  readonly isHeardLive: boolean;
  /** By output, unless it is set. */
  readonly pace?: TextPlan['pace'];
  readonly listener?: Listener | undefined;
}

/**
 * A whole text in segments, by one voice.
 * @returns `undefined` if the sound is sent elsewhere
 * @throws TtsError here, and while the sound is read
 */
export async function trackOfText(
  source: Source,
  speaker: Speaker,
  { reader = plain, stages = [], inFront, isHeardLive, pace = 'by output', listener, ...how }: How,
  signal: AbortSignal,
): Promise<Track | undefined> {
  const sources = () => [{ source, reader }];
  const plan = {
    sources,
    stages,
    inFront,
    role: asRole(speaker),
    pace,
    cutsParagraphs: false,
  } as const;
  const text = await RunText.open(plan, signal);
  return trackOf({
    segments: (until) => text.segments(isHeardLive, until),
    speakerOf: () => speaker,
    ...how,
    window: WINDOW * speaker.voice.source.atOnce,
    budgetBytes: BUDGET,
    signal,
    listeners: [listener],
    blank: () => BLANK,
  });
}

/** Whether a voice could read a text at all, of which it may leave sentences out. */
class Refused {
  readonly #silentIfUnreadable: boolean;
  #asked = 0;
  readonly #left = new Set<number>();
  #error: unknown;

  constructor(silentIfUnreadable: boolean) {
    this.#silentIfUnreadable = silentIfUnreadable;
  }

  ask(): void {
    this.#asked += 1;
  }

  has(index: number): boolean {
    return this.#left.has(index);
  }

  leaveOut(index: number, text: string, error: unknown): void {
    this.#left.add(index);
    if (hasWords(text) || !this.#silentIfUnreadable) this.#error ??= error;
  }

  /** @throws the error of the voice, if it could read none of the text */
  throwIfAll(): void {
    if (this.#error !== undefined && this.#left.size === this.#asked) throw this.#error;
  }
}

async function* unlessAllLeftOut(
  pcm: AsyncIterable<Uint8Array>,
  refused: Refused | undefined,
): AsyncGenerator<Uint8Array> {
  yield* pcm;
  refused?.throwIfAll();
}

interface Asking {
  readonly fields: Fields | undefined;
  readonly refused: Refused | undefined;
}

/** One of the voices of the service as a run asks for it: each segment goes through the queue. */
function queuedSpeaker(voice: Voice, { fields: asked, refused }: Asking, context: ServiceContext): Speaker {
  // A far service gets what the client said; a voice of this machine sends sound while it makes it.
  const fields = asked ?? { ...eachField(() => undefined), stream: isRelayed(voice) ? undefined : true };
  const source: VoiceSource = {
    ...voice.source,
    // A service that changes its rate between two sentences has answered two requests.
    kind: isRelayed(voice) ? 'engine' : voice.source.kind,
    atOnce: 1,
    async speak({ text, index }, until) {
      refused?.ask();
      // Only the first segment can be refused because of a full queue: a text that is heard goes on.
      const order = { text, voice, fields, isPatient: index > 0 };
      const leaveOut = refused && ((error: unknown) => refused.leaveOut(index, text, error));
      const { format, pcm } = await soundOrSilence(text, soundOf(order, context, until), leaveOut);
      return { format, bytes: undefined, pcm };
    },
  };
  const maxChars = rows.maxChars.fallback;
  return { voice: { ...voice, source }, fields, speed: undefined, maxChars, isKept: () => false };
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
