import { countCodePoints } from '../text/code-points.ts';
import type { Segment } from '../text/segment.ts';
import type { ServiceEvent } from './connect.ts';

/** What a run came to, counted while it goes on. */
export class Tally {
  characters = 0;
  segments = 0;
  requests = 0;
  retries = 0;
  fromCache = 0;
  /** Milliseconds from the start to the first sound, once there is some. */
  firstAudio: number | undefined;
  readonly #started = performance.now();

  get elapsed(): number {
    return performance.now() - this.#started;
  }

  heard(): void {
    this.firstAudio ??= this.elapsed;
  }

  part({ text }: Segment): void {
    this.segments += 1;
    this.characters += countCodePoints(text);
  }

  event(event: ServiceEvent): void {
    if (event.type === 'request') this.requests += 1;
    if (event.type === 'retry') this.retries += 1;
    if (event.type === 'cache' && event.found === 'hit') this.fromCache += 1;
  }
}
