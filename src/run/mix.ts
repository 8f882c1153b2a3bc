import { ExitCode, TtsError } from '../kit/error.ts';
import { describeFormat, type PcmFormat, type Speech, sameFormat } from '../sound/pcm.ts';
import type { Speaker } from '../sound/voice.ts';
import type { Border, Pause } from '../text/segment.ts';
import type { PartInTurn } from './ahead.ts';
import type { FitPlan } from './fit.ts';

/** How the parts of a track are joined. */
export interface Mix {
  readonly pauses: Pauses;
  /** The loudness in LUFS that each voice gets. */
  readonly loudness?: number | undefined;
  /** Set for subtitles, which are spoken at their times. */
  readonly fit?: FitPlan | undefined;
}

/** Seconds of silence. */
export type Pauses = Readonly<Record<Border, number>>;

export const USUAL_PAUSES: Pauses = { chapter: 1.5, scene: 1.2, heading: 0.8, paragraph: 0.3, sentence: 0 };

/** The highest ratio of two sample rates: the memory of a conversion grows with it. From 4 to 768 kHz it is 192. */
const HIGHEST_RATIO = 200;

/** Joins the parts of one track: chooses the pauses between them, and converts all voices to one format. */
export class Mixer {
  readonly #mix: Mix;
  readonly format: PcmFormat;
  /** The first format of each speaker. */
  readonly #formats = new Map<Speaker, PcmFormat>();
  #hasBegun = false;
  #number = 0;

  /** @param format the format of the track, to which all parts are converted */
  constructor(mix: Mix, format: PcmFormat) {
    this.#mix = mix;
    this.format = format;
  }

  /**
   * A pause mark replaces the silence of its border. At the start of the track, a border has no silence.
   * @param idle seconds that have already been silent, by which the silence of a border is shortened
   * @returns seconds of silence
   */
  pauseBefore({ segment: { pause }, silence }: Pick<PartInTurn, 'segment' | 'silence'>, idle = 0): number {
    const isAtStart = !this.#hasBegun;
    this.#hasBegun = true;
    if (typeof pause === 'number') return (silence ?? 0) + pause;
    return silence ?? (isAtStart ? 0 : Math.max(0, silenceOf(pause, this.#mix) - idle));
  }

  /** Lets the next part begin without a silence before it. */
  restart(): void {
    this.#hasBegun = false;
  }

  /** @throws TtsError (service) for a service's voice that changes its format, and for sample rates that differ too much */
  async adapted(speech: Speech, speaker: Speaker): Promise<Speech> {
    const { format } = speech;
    const first = this.#formats.get(speaker) ?? format;
    this.#formats.set(speaker, first);
    this.#number += 1;
    if (speaker.voice.source.kind === 'service' && !sameFormat(format, first))
      throw formatChanged(this.#number, first, format);
    const { speed } = speaker;
    const spoken = speed ? (await import('../sound/tempo.ts')).atSpeed(speech, speed) : speech;
    if (sameFormat(format, this.format)) return spoken;
    if (ratioOf(format.sampleRate, this.format.sampleRate) > HIGHEST_RATIO)
      throw formatChanged(this.#number, this.format, format);
    return (await import('../sound/convert.ts')).converted(spoken, this.format);
  }
}

/** @returns seconds of silence */
export function silenceOf(pause: Pause, { pauses }: Mix): number {
  if (typeof pause === 'number') return pause;
  return pause === 'none' ? 0 : pauses[pause];
}

function ratioOf(a: number, b: number): number {
  return Math.max(a, b) / Math.min(a, b);
}

function formatChanged(number: number, first: PcmFormat, other: PcmFormat): TtsError {
  return new TtsError(
    `part ${number} of the speech came as ${describeFormat(other)}, the first as ${describeFormat(first)}`,
    { exitCode: ExitCode.service, hint: hintFor(first, other) },
  );
}

function hintFor(first: PcmFormat, other: PcmFormat): string {
  if (sameFormat({ ...first, sampleRate: other.sampleRate }, other))
    return '--no-cache asks for all parts again, if some were kept from before; else set --sample-rate, or another one';
  const what = first.channels === other.channels ? 'kind of samples' : 'number of channels';
  return `the service has to keep to one ${what}; a larger --max-chars makes fewer parts`;
}
