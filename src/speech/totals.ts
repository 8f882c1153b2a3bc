import type { PcmFormat } from '../audio/pcm.ts';
import { countCodePoints } from '../text/unicode.ts';
import type { VoiceEvent } from '../voices/voice.ts';
import type { Listener } from './deliver.ts';
import type { Part } from './look-ahead.ts';

export class RunTotals implements Listener {
  characters = 0;
  segments = 0;
  requests = 0;
  retries = 0;
  fromCache = 0;
  /** They count the sound without pauses. */
  bytes = 0;
  /** Milliseconds since the start. */
  firstAudio: number | undefined;
  format: PcmFormat | undefined;
  // Not `performance`, which takes 2 ms to load.
  readonly #started = Date.now();

  get elapsed(): number {
    return Date.now() - this.#started;
  }

  onPart({ segment, speech }: Part): void {
    this.segments += 1;
    this.characters += countCodePoints(segment.text);
    this.format ??= speech?.format;
  }

  onPiece(bytes: number): void {
    this.bytes += bytes;
    this.firstAudio ??= this.elapsed;
  }

  onEvent(event: VoiceEvent): void {
    if (event.type === 'request') this.requests += 1;
    if (event.type === 'retry') this.retries += 1;
    if (event.type === 'cache' && event.found === 'hit') this.fromCache += 1;
  }
}
