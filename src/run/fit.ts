import { framesAtSpeed, type PcmFormat, type Speech } from '../sound/pcm.ts';
import type { CueTime, Place } from '../text/piece.ts';

/** How sound is laid over the times of subtitles. */
export interface FitPlan {
  /** A cue that is too long is heard at most so much faster. */
  readonly most: number;
  /** Seconds of the whole sound; without it, it ends with the last cue of the film. */
  readonly length: number | undefined;
}

/** A cue that does not begin at its time, or does not end before the next one. Seconds. */
export interface Misfit {
  /** The place among the cues of the film, from 1. */
  readonly cue: number;
  readonly line: number | undefined;
  readonly text: string;
  /** The time at which it was to begin. */
  readonly start: number;
  /** How much later it begins, behind a cue that was too long. */
  readonly late: number;
  /** How much of its time is missing, at the highest speed. */
  readonly missing: number;
}

interface Placed {
  /** The silence before the cue. */
  readonly pauseFrames: number;
  /** The length of its sound. */
  readonly frames: number;
  /** It makes the sound as long as that. */
  readonly speed: number;
  readonly misfit: Pick<Misfit, 'late' | 'missing'> | undefined;
}

/**
 * Says where each cue is heard, to the frame. It begins at its time; one that is too long goes on in the silence behind it, and is
 * heard faster where that is too short. What still does not fit moves the next cue by as much as it needs, and no more.
 */
export class Timetable {
  readonly #plan: FitPlan;
  readonly #sampleRate: number;
  /** Frames up to the end of the last cue. */
  #frames = 0;
  #end = 0;

  constructor(plan: FitPlan, { sampleRate }: Pick<PcmFormat, 'sampleRate'>) {
    this.#plan = plan;
    this.#sampleRate = sampleRate;
  }

  /** @param frames of its sound as it was spoken */
  place({ start, next, filmEnd }: CueTime, frames: number): Placed {
    const { most, length = filmEnd } = this.#plan;
    this.#end = this.#frameAt(length);
    const onTime = this.#frameAt(start);
    const begin = Math.max(onTime, this.#frames);
    const room = Math.max(0, this.#frameAt(next ?? length) - begin);
    const isTooLong = frames > room;
    const fits = frames <= room * most;
    const heard = !isTooLong ? frames : fits ? room : framesAtSpeed(frames, most);
    const pauseFrames = begin - this.#frames;
    this.#frames = begin + heard;
    const late = (begin - onTime) / this.#sampleRate;
    const missing = Math.max(0, heard - room) / this.#sampleRate;
    const misfit = late > 0 || missing > 0 ? { late, missing } : undefined;
    return { pauseFrames, frames: heard, speed: isTooLong ? (fits ? frames / room : most) : 1, misfit };
  }

  /** Frames of silence behind the last cue. */
  get restFrames(): number {
    return Math.max(0, this.#end - this.#frames);
  }

  #frameAt(seconds: number): number {
    return Math.round(seconds * this.#sampleRate);
  }
}

/** @returns the misfit of a cue that is spoken by a segment */
export function misfitOf(
  { number, start }: CueTime,
  { place, written }: { readonly place: Place; readonly written: string },
  how: Pick<Misfit, 'late' | 'missing'>,
): Misfit {
  return { cue: number, line: place.line, text: written, start, ...how };
}

/** @returns the whole sound of a cue with the length that it gets */
export async function stretched(
  sound: Uint8Array,
  format: PcmFormat,
  { speed }: Pick<Placed, 'speed'>,
): Promise<Uint8Array> {
  if (speed === 1) return sound;
  async function* once() {
    yield sound;
  }
  const speech: Speech = { format, bytes: sound.length, pcm: once() };
  const { atSpeed } = await import('../sound/tempo.ts');
  const pieces: Uint8Array[] = [];
  for await (const piece of atSpeed(speech, speed).pcm) pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces);
}
