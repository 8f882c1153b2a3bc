import { passing } from '../async.ts';
import type { PcmFormat } from '../audio/pcm.ts';
import { countCodePoints } from '../text/unicode.ts';
import type { ServiceEvent } from './connection.ts';
import type { Part } from './look-ahead.ts';

/** What a run came to, counted while it goes on. */
export class Tally {
  characters = 0;
  segments = 0;
  requests = 0;
  retries = 0;
  fromCache = 0;
  /** Milliseconds from the start to the first sound, once there is some. */
  firstAudio: number | undefined;
  // Not `performance`, which takes 2 ms to load.
  readonly #started = Date.now();
  #format: PcmFormat | undefined;

  get elapsed(): number {
    return Date.now() - this.#started;
  }

  /** Of the sound; `undefined` while there is none. */
  get format(): PcmFormat | undefined {
    return this.#format;
  }

  /** Counts a part when its turn has come, and sees the first sound. */
  part(part: Part): Part {
    const { segment, speech } = part;
    this.segments += 1;
    this.characters += countCodePoints(segment.text);
    this.#format ??= speech?.format;
    if (!speech || this.firstAudio !== undefined) return part;
    const heard = () => {
      this.firstAudio ??= this.elapsed;
    };
    return { segment, speech: { ...speech, pcm: passing(speech.pcm, { each: heard }) } };
  }

  event(event: ServiceEvent): void {
    if (event.type === 'request') this.requests += 1;
    if (event.type === 'retry') this.retries += 1;
    if (event.type === 'cache' && event.found === 'hit') this.fromCache += 1;
  }
}
