import { singleItem, yieldToEventLoop } from '../kit/wait.ts';
import {
  frameBytes,
  framesAtSpeed,
  type PcmFormat,
  type Speech,
  shortPieces,
  silentPieces,
} from '../sound/pcm.ts';
import type { CueTime } from '../text/piece.ts';
import type { LookAhead, PartInTurn } from './ahead.ts';
import type { TrackContext } from './run.ts';

/** How sound is fitted to the times of subtitles. */
export interface FitPlan {
  /** The highest speed factor for a cue that is too long. */
  readonly most: number;
  /** Seconds of the whole sound, which otherwise ends with the last cue of the film. */
  readonly length: number | undefined;
}

/** A cue that does not begin at its time, or does not end before the next one. Times are in seconds. */
export interface Misfit {
  /** The number of the cue in the film, from 1. */
  readonly cue: number;
  readonly line: number | undefined;
  readonly text: string;
  /** The time at which the cue should begin. */
  readonly start: number;
  /** How much later the cue begins, after one that was too long. */
  readonly late: number;
  /** How much more time the cue needs, even at the highest speed. */
  readonly missing: number;
}

interface Placed {
  readonly pauseFrames: number;
  readonly frames: number;
  /** The speed factor that gives the sound this many frames. */
  readonly speed: number;
  readonly misfit: Pick<Misfit, 'late' | 'missing'> | undefined;
}

/** The parts of a cue, and the sound of each in the format of the track. */
interface Cue {
  readonly time: CueTime;
  readonly parts: { readonly part: PartInTurn; readonly speech: Speech; sound: Buffer; isBroken: boolean }[];
}

/**
 * Speaks cues at their times. The sound of a cue is buffered until all of it has come.
 * @returns frames of silence after the last cue
 */
export async function* fittedSound(
  first: PartInTurn,
  ahead: LookAhead,
  plan: FitPlan,
  context: TrackContext,
): AsyncGenerator<Uint8Array, number> {
  const { format, signal } = context;
  const schedule = new CueSchedule(plan, format);
  const size = frameBytes(format);
  for await (const { time, parts } of cuesOf(first, ahead, context)) {
    const spoken = Buffer.concat(parts.map(({ sound }) => sound));
    const placed = schedule.place(time, spoken.length / size);
    const [begun] = parts;
    if (placed.misfit && begun) {
      const { place, written } = begun.part.segment;
      const { number: cue, start } = time;
      context.misfit({ cue, line: place.line, text: written, start, ...placed.misfit });
    }
    const heard = await stretched(spoken, format, placed.speed);
    let [passed, from] = [0, 0];
    for (const [at, { part, speech, sound, isBroken }] of parts.entries()) {
      passed += sound.length / size;
      const border =
        at === parts.length - 1 ? placed.frames : Math.round((passed * placed.frames * size) / spoken.length);
      const pauseFrames = at === 0 ? placed.pauseFrames : 0;
      context.begin({ ...part, speech }, pauseFrames);
      yield* longSilence(format, pauseFrames / format.sampleRate, signal);
      for (const piece of shortPieces(heard.subarray(from * size, border * size), format)) {
        context.sound(piece);
        yield piece;
      }
      await context.spoken(isBroken);
      from = border;
    }
  }
  const rest = schedule.restFrames;
  yield* longSilence(format, rest / format.sampleRate, signal);
  return rest;
}

/** Pieces of silence that are written before other work of the process gets a turn. */
const PIECES_AT_ONCE = 64;

/** Yields silence that can be cancelled: there may be hours of it between two cues. */
async function* longSilence(
  format: PcmFormat,
  seconds: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let pieces = 0;
  for (const piece of silentPieces(format, seconds)) {
    if (pieces % PIECES_AT_ONCE === 0) await yieldToEventLoop();
    signal.throwIfAborted();
    pieces += 1;
    yield piece;
  }
}

async function* cuesOf(
  first: PartInTurn,
  ahead: LookAhead,
  { format, adapted }: TrackContext,
): AsyncGenerator<Cue> {
  let cue: Cue | undefined;
  for (let part: PartInTurn | undefined = first; part; part = await ahead.next()) {
    const { cue: time } = part.segment;
    if (!time || !part.speech) continue;
    if (cue && cue.time !== time) yield cue;
    if (cue?.time !== time) cue = { time, parts: [] };
    const speech = await adapted(part.speech, part.segment);
    const { pause } = part.segment;
    // A pause mark inside a cue is a part of its sound.
    const isInside = cue.parts.length > 0 && typeof pause === 'number';
    const before = isInside ? [...silentPieces(format, pause)] : [];
    const { pieces, isBroken } = await heldSound(speech, ahead);
    cue.parts.push({ part, speech, sound: Buffer.concat([...before, ...pieces]), isBroken });
  }
  if (cue) yield cue;
}

async function heldSound({ pcm }: Speech, ahead: LookAhead) {
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of pcm) pieces.push(piece);
    return { pieces, isBroken: false };
  } catch (error) {
    ahead.continueAfter(error);
    return { pieces, isBroken: true };
  }
}

/**
 * Places each cue, exact to the frame: at its time. A cue that is too long continues in the silence after it, and is sped up
 * if that is too short. If it still does not fit, it delays the next cue by no more than it needs.
 */
class CueSchedule {
  readonly #plan: FitPlan;
  readonly #sampleRate: number;
  /** Frames up to the end of the last cue. */
  #frames = 0;
  #end = 0;

  constructor(plan: FitPlan, { sampleRate }: Pick<PcmFormat, 'sampleRate'>) {
    this.#plan = plan;
    this.#sampleRate = sampleRate;
  }

  /** @param frames length of the cue as it was spoken */
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

  /** Frames of silence after the last cue. */
  get restFrames(): number {
    return Math.max(0, this.#end - this.#frames);
  }

  #frameAt(seconds: number): number {
    return Math.round(seconds * this.#sampleRate);
  }
}

/** @returns the whole sound at this speed factor */
export async function stretched(sound: Uint8Array, format: PcmFormat, speed: number): Promise<Uint8Array> {
  if (speed === 1) return sound;
  const speech: Speech = { format, bytes: undefined, pcm: singleItem(sound) };
  const { atSpeed } = await import('../sound/tempo.ts');
  const pieces: Uint8Array[] = [];
  for await (const piece of atSpeed(speech, speed).pcm) pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces);
}
