import type { PcmFormat } from '../sound/pcm.ts';
import { labelOf, type VoiceEvent } from '../sound/voice.ts';
import { countCodePoints } from '../text/unicode.ts';
import type { Part } from './ahead.ts';
import type { Listener, RunEvent } from './run.ts';

/** The amount of text that a voice has spoken. */
interface Spoken {
  readonly speaker: string;
  segments: number;
  characters: number;
}

/** The most names of voices that are counted one by one. */
const MOST_NAMES = 10_000;

export class RunTotals implements Listener {
  characters = 0;
  segments = 0;
  requests = 0;
  retries = 0;
  fromCache = 0;
  /** PCM bytes of sound, without pauses. */
  bytes = 0;
  /** Milliseconds from the start to the first sound. */
  firstAudio: number | undefined;
  format: PcmFormat | undefined;
  /** Keyed by the name that the text gives a voice; `undefined` is the voice of the run. */
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
