import { frameBytes, type PcmFormat, type Speech, secondsOf } from '../../audio/pcm.ts';
import type { TtsError } from '../../error.ts';
import type { Segment } from '../../text/segment.ts';
import { usualSeconds } from '../../text/speaking-time.ts';
import { countCodePoints } from '../../text/unicode.ts';

/** docs/events.schema.json describes the lines. */
export type EventLine = Readonly<Record<string, string | number | boolean>>;

interface EventsOptions {
  readonly write: (line: EventLine) => void;
  /** PCM bytes that have been heard; without it, what was taken counts. */
  readonly heard: (() => number) | undefined;
}

export type StopReason = 'interrupted' | 'dropped' | 'left' | 'failed';

/** A segment whose sound goes to the output. Its bytes are counted in the sound of the run. */
interface Sounding {
  readonly segment: Segment;
  readonly format: PcmFormat;
  readonly from: number;
  to: number;
  /** The length of its sound, where it is known before all of it has come. */
  readonly bytes: number | undefined;
  /** True if no more of its sound comes. */
  isEnded: boolean;
  /** True if some of its sound is missing. */
  isBroken: boolean;
  isPlaying: boolean;
}

/** Another voice speaks from a segment on. */
interface VoiceChange {
  readonly voice: string;
  readonly error: TtsError;
  readonly from: Segment;
}

/** Milliseconds between two looks at what has been heard. */
const LOOK_MS = 20;

/** Tells what becomes of each segment: it listens to the sound of a run, and compares it with what has been heard. */
export class Events {
  readonly #options: EventsOptions;
  readonly #queued: Segment[] = [];
  readonly #sounding: Sounding[] = [];
  #last: Segment | undefined;
  /** Characters of the input up to where a segment, or its part, was heard last. */
  #heardTo = 0;
  /** Bytes of all sound that was taken. */
  #taken = 0;
  #format: PcmFormat | undefined;
  /** Seconds of sound, and the characters that it spoke. */
  #spoken = { seconds: 0, characters: 0 };
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  /** True after a drop, until there is sound again. */
  #isDropped = false;

  constructor(options: EventsOptions) {
    this.#options = options;
  }

  onQueued(segment: Segment): void {
    // A segment may be asked for again.
    if (this.#isOver || this.#queued.some(({ index }) => index === segment.index)) return;
    this.#queued.push(segment);
    this.#tell('queued', segment);
  }

  onPart({ segment, speech }: { segment: Segment; speech: Speech | undefined }, pauseFrames: number): void {
    const at = this.#queued.findIndex(({ index }) => index === segment.index);
    if (at >= 0) this.#queued.splice(0, at + 1);
    if (!speech) return;
    // What was dropped has no place in the sound of the run.
    if (this.#isDropped) this.#taken = this.#heard;
    this.#isDropped = false;
    this.#format = speech.format;
    this.#taken += pauseFrames * frameBytes(speech.format);
    const from = this.#taken;
    const { format, bytes } = speech;
    const state = { isEnded: false, isBroken: false, isPlaying: false };
    this.#sounding.push({ segment, format, bytes, from, to: from, ...state });
  }

  onPiece(bytes: number): void {
    const last = this.#sounding.at(-1);
    this.#taken += bytes;
    if (last) last.to = this.#taken;
    this.#look();
  }

  onPartEnd(isBroken: boolean): void {
    const last = this.#sounding.at(-1);
    if (last) Object.assign(last, { isEnded: true, isBroken });
    this.#look();
  }

  /** Another voice speaks on. */
  fallBack({ voice, error, from }: VoiceChange): void {
    this.#tell('fallback', from, { voice, error: error.message, exitCode: error.exitCode });
  }

  /** All that was taken has been heard. */
  finish(): void {
    this.#hear(this.#taken);
    this.#end();
  }

  /** What was queued is not heard any more. What is queued afterwards is. */
  drop(): void {
    this.#tellStop('dropped');
    this.#queued.length = 0;
    this.#sounding.length = 0;
    this.#isDropped = true;
    this.#look();
  }

  /** Nothing is heard any more. */
  stop(reason: StopReason): void {
    this.#tellStop(reason);
    this.#end();
  }

  #tellStop(reason: StopReason): void {
    if (this.#isOver) return;
    const heard = this.#heard;
    this.#hear(heard);
    const [current] = this.#sounding;
    const segment = current?.segment ?? this.#queued[0] ?? this.#last;
    const isBegun = current?.isPlaying === true;
    this.#heardTo = isBegun ? this.#charactersOf(current, heard) : this.#borderBefore(current);
    this.#tell('stopped', segment, {
      reason,
      heard: this.#heardTo,
      estimated: isBegun,
      at: this.#secondsAt(heard),
    });
  }

  get #heard(): number {
    return Math.min(this.#taken, this.#options.heard?.() ?? this.#taken);
  }

  #look(): void {
    if (this.#isOver) return;
    this.#hear(this.#heard);
    const isWaiting = this.#sounding.some(({ isEnded, isPlaying }) => isEnded || !isPlaying);
    if (isWaiting) this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    else this.#rest();
  }

  #hear(heard: number): void {
    for (let [first] = this.#sounding; first; [first] = this.#sounding) {
      const { segment, from, to, isEnded, isBroken, format } = first;
      const isHeard = isEnded && heard >= to;
      if (!first.isPlaying && (heard > from || isHeard)) {
        first.isPlaying = true;
        const { sampleRate, channels } = format;
        this.#tell('playing', segment, { at: this.#secondsAt(from), sampleRate, channels });
      }
      if (!isHeard) return;
      this.#last = segment;
      this.#sounding.shift();
      const at = this.#secondsAt(to);
      if (isBroken) {
        this.#heardTo = this.#charactersOf(first, to);
        this.#tell('broken', segment, { at, heard: this.#heardTo, estimated: true });
        continue;
      }
      this.#tell('spoken', segment, { at });
      this.#spoken.seconds += secondsOf(format, to - from);
      this.#spoken.characters += countCodePoints(segment.text);
      this.#heardTo = segment.span?.end ?? this.#heardTo;
    }
  }

  /** The share of a segment that was heard, in characters of the input. */
  #charactersOf({ segment, format, bytes, from, to, ...state }: Sounding, heard: number): number {
    const { start, end } = segment.span ?? { start: 0, end: countCodePoints(segment.text) };
    const { seconds, characters } = this.#spoken;
    const guessed =
      characters > 0 ? (seconds / characters) * countCodePoints(segment.text) : usualSeconds(segment.text);
    const guessedTo = from + (bytes ?? guessed * format.sampleRate * frameBytes(format));
    const whole = state.isEnded && !state.isBroken ? to : Math.max(to, guessedTo);
    return start + Math.floor((end - start) * Math.min(1, (heard - from) / (whole - from)));
  }

  /** Where the next segment begins, or the last one was left. */
  #borderBefore(current: Sounding | undefined): number {
    const next = current?.segment ?? this.#queued[0];
    return next?.span?.start ?? this.#heardTo;
  }

  #secondsAt(bytes: number): number {
    return this.#format ? rounded(secondsOf(this.#format, bytes)) : 0;
  }

  #tell(event: string, segment: Segment | undefined, about: EventLine = {}): void {
    const place = segment && {
      index: segment.index,
      text: segment.text,
      ...segment.span,
      ...(segment.place.source !== '' && { file: segment.place.source }),
    };
    this.#options.write({ event, time: Date.now() / 1000, ...place, ...about });
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #end(): void {
    this.#rest();
    this.#isOver = true;
  }
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
