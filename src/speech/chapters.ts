import type { Turns } from '../audio/loudness/level.ts';
import { type Chapter, frameBytes } from '../audio/pcm.ts';
import type { Heading } from '../text/piece.ts';
import type { Segment } from '../text/segment.ts';
import type { Part } from './look-ahead.ts';

/** Notes where the chapters of a track begin and end. The silence between two chapters belongs to the first. */
export class Chapters {
  readonly #ended: Chapter[] = [];
  #heading: Heading | undefined;
  #start = 0;
  #frames = 0;
  #frameBytes = 1;

  /** They are complete after the end. */
  get list(): readonly Chapter[] {
    return this.#ended;
  }

  onPart({ segment, speech }: Part, pauseFrames: number): void {
    if (!speech) return;
    this.#frameBytes = frameBytes(speech.format);
    const isAtStart = this.#frames === 0;
    this.#frames += pauseFrames;
    if (segment.chapter === this.#heading) return;
    this.#close();
    this.#heading = segment.chapter;
    this.#start = isAtStart ? 0 : this.#frames;
  }

  onPiece(bytes: number): void {
    this.#frames += bytes / this.#frameBytes;
  }

  /** @param restFrames silence after the last part */
  end(restFrames: number): void {
    this.#frames += restFrames;
    this.#close();
  }

  #close(): void {
    if (!this.#heading) return;
    const { title, level } = this.#heading;
    this.#ended.push({ title, level, start: this.#start, end: this.#frames });
  }
}

/** Notes where in a track each voice begins. */
export class VoiceTurns implements Turns {
  readonly list: { readonly start: number; readonly voice: unknown }[] = [];
  readonly #voiceOf: (segment: Segment) => unknown;
  #bytes = 0;

  constructor(voiceOf: (segment: Segment) => unknown) {
    this.#voiceOf = voiceOf;
  }

  onPart({ segment, speech }: Part, pauseFrames: number): void {
    if (!speech) return;
    this.#bytes += pauseFrames * frameBytes(speech.format);
    const voice = this.#voiceOf(segment);
    if (this.list.at(-1)?.voice !== voice) this.list.push({ start: this.#bytes, voice });
  }

  onPiece(bytes: number): void {
    this.#bytes += bytes;
  }
}
