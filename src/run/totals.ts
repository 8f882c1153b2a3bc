import type { PcmFormat } from '../sound/pcm.ts';
import { labelOf, type VoiceEvent } from '../sound/voice.ts';
import { countCodePoints } from '../text/unicode.ts';
import type { Part } from './ahead.ts';
import type { Listener, RunEvent } from './run.ts';

/** What a voice has spoken. */
interface Spoken {
  readonly speaker: string;
  segments: number;
  characters: number;
}

/** The number of names that are remembered. */
const MOST_NAMES = 10_000;

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
  /** They are counted by the names that the text gives to the voices; "undefined" is the voice of the run. */
  readonly spoken = new Map<string | undefined, Spoken>();
  // Not `performance`, which takes 2 ms to load.
  readonly #started = Date.now();

  get elapsed(): number {
    return Date.now() - this.#started;
  }

  on(event: RunEvent): void {
    if (event.type === 'voice') this.#note(event.event);
    if (event.type === 'started') this.#begin(event.part);
    if (event.type !== 'sound') return;
    this.bytes += event.pcm.length;
    this.firstAudio ??= this.elapsed;
  }

  #begin({ segment, speech }: Part): void {
    const { speaker, language, name = language } = segment.role;
    const characters = countCodePoints(segment.text);
    this.segments += 1;
    this.characters += characters;
    this.format ??= speech?.format;
    const spoken = this.spoken.get(name) ?? { speaker: labelOf(speaker.voice), segments: 0, characters: 0 };
    spoken.segments += 1;
    spoken.characters += characters;
    if (this.spoken.size < MOST_NAMES) this.spoken.set(name, spoken);
  }

  #note(event: VoiceEvent): void {
    if (event.type === 'request') this.requests += 1;
    if (event.type === 'retry') this.retries += 1;
    if (event.type === 'cache' && event.found === 'hit') this.fromCache += 1;
  }
}
