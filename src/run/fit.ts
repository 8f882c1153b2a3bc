import { singleItem, yieldToEventLoop } from '../kit/wait.ts';
import {
  frameBytes,
  framesAtSpeed,
  type PcmFormat,
  type Speech,
  shortPieces,
  silentPieces,
} from '../sound/pcm.ts';
import type { CueTime, Place } from '../text/piece.ts';
import type { LookAhead, PartInTurn } from './ahead.ts';
import type { TrackContext } from './run.ts';

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
  readonly pauseFrames: number;
  readonly frames: number;
  /** It makes the sound as long as that. */
  readonly speed: number;
  readonly misfit: Pick<Misfit, 'late' | 'missing'> | undefined;
}

/** The parts of a cue, and the sound of each in the format of the track. */
interface Cue {
  readonly time: CueTime;
  readonly parts: { readonly part: PartInTurn; readonly speech: Speech; sound: Buffer; isBroken: boolean }[];
}

/**
 * Cues are heard at their times. The sound of one is held until all of it has come.
 * @returns frames of silence behind the last cue
 */
export async function* fittedSound(
  first: PartInTurn,
  ahead: LookAhead,
  plan: FitPlan,
  desk: TrackContext,
): AsyncGenerator<Uint8Array, number> {
  const { format, signal } = desk;
  const timetable = new CueSchedule(plan, format);
  const size = frameBytes(format);
  for await (const { time, parts } of cuesOf(first, ahead, desk)) {
    const spoken = Buffer.concat(parts.map(({ sound }) => sound));
    const placed = timetable.place(time, spoken.length / size);
    const [begun] = parts;
    if (placed.misfit && begun) desk.misfit(misfitOf(time, begun.part.segment, placed.misfit));
    const heard = await stretched(spoken, format, placed);
    let [passed, from] = [0, 0];
    for (const [at, { part, speech, sound, isBroken }] of parts.entries()) {
      passed += sound.length / size;
      const border =
        at === parts.length - 1 ? placed.frames : Math.round((passed * placed.frames * size) / spoken.length);
      const pauseFrames = at === 0 ? placed.pauseFrames : 0;
      desk.begin({ ...part, speech }, pauseFrames);
      yield* longSilence(format, pauseFrames / format.sampleRate, signal);
      for (const piece of shortPieces(heard.subarray(from * size, border * size), format)) {
        desk.sound(piece);
        yield piece;
      }
      await desk.spoken(isBroken);
      from = border;
    }
  }
  const rest = timetable.restFrames;
  yield* longSilence(format, rest / format.sampleRate, signal);
  return rest;
}

/** Pieces that are written without a look at what else happens. */
const PIECES_AT_ONCE = 64;

/** Hours may pass between two cues, and a signal ends them. */
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
    // A mark inside a cue is a part of its sound.
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
    ahead.goOnBehind(error);
    return { pieces, isBroken: true };
  }
}

/**
 * Says where each cue is heard, to the frame. It begins at its time; one that is too long goes on in the silence behind it, and is
 * heard faster where that is too short. What still does not fit moves the next cue by as much as it needs, and no more.
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
function misfitOf(
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
  const speech: Speech = { format, bytes: sound.length, pcm: singleItem(sound) };
  const { atSpeed } = await import('../sound/tempo.ts');
  const pieces: Uint8Array[] = [];
  for await (const piece of atSpeed(speech, speed).pcm) pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces);
}
