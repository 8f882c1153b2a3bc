import type { Speaker, Style } from '../contract.ts';
import type { Finish } from '../finish.ts';
import type { FliteRequest } from './flite.ts';

/** A voice that is compiled into Flite. */
interface FliteVoice {
  /** As Flite calls it. */
  readonly name: string;
  readonly language: string;
  /** Hz */
  readonly sampleRate: number;
  /** The factor of durations that the voice has by itself. */
  readonly stretch: number;
  /** Mean fundamental frequency in Hz, measured; absent where Flite does not let it be changed. */
  readonly pitch?: number;
}

/** In the order of their numbers. `rms` is understood best: 3 words of 100 wrong for a recogniser. */
const VOICES: readonly FliteVoice[] = [
  { name: 'rms', language: 'en-US', sampleRate: 16_000, stretch: 1 },
  { name: 'slt', language: 'en-US', sampleRate: 16_000, stretch: 1, pitch: 172 },
  { name: 'awb', language: 'en-GB', sampleRate: 16_000, stretch: 1, pitch: 131 },
  { name: 'kal16', language: 'en-US', sampleRate: 16_000, stretch: 1.1, pitch: 95 },
  { name: 'kal', language: 'en-US', sampleRate: 8_000, stretch: 1.1, pitch: 95 },
];

/** `Mermish` speakers are the same voices; their numbers are so much higher. */
const MERMISH = 10;

/** 1 to 5 of the kind `neo.one`, 11 to 15 of the kind `Mermish`. */
export const FLITE_SPEAKERS: readonly Speaker[] = [...speakers('neo.one'), ...speakers('Mermish')];

function speakers(kind: Speaker['kind']): Speaker[] {
  return VOICES.map(({ name, language, sampleRate }, index) => ({
    no: index + 1 + (kind === 'Mermish' ? MERMISH : 0),
    name: kind === 'Mermish' ? `${name}-mermish` : name,
    kind,
    language,
    sampleRate,
  }));
}

export interface FliteUse {
  readonly request: FliteRequest;
  /** Factor of the voice's sample rate at which its samples are to be read. */
  readonly warp: number;
}

/**
 * How Flite is asked to speak in a style. Where a voice has no pitch of its own to be set, its samples are read at
 * another rate, and the speech is made longer or shorter beforehand by as much as that shortens or lengthens it.
 */
export function fliteUse(speaker: Speaker, style: Style, text: string): FliteUse {
  const voice = VOICES[(speaker.no - 1) % MERMISH];
  if (!voice) throw new RangeError(`no voice for speaker ${speaker.no}`);
  const stretch = voice.stretch / style.rate;
  if (style.pitch === 1) return { request: { text, voice: voice.name, stretch }, warp: 1 };
  if (voice.pitch === undefined) {
    return { request: { text, voice: voice.name, stretch: stretch * style.pitch }, warp: style.pitch };
  }
  return { request: { text, voice: voice.name, stretch, pitch: voice.pitch * style.pitch }, warp: 1 };
}

/** A segment of text for a worker. It answers with an `Int16Array`, or dies. */
export interface Job {
  readonly use: FliteUse;
  readonly finish: Finish;
}

/** What a worker says once it can take jobs. */
export const READY = 'ready';
