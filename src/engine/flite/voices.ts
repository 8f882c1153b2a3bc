import type { Speaker, Style } from '../contract.ts';
import type { Finish } from '../finish.ts';
import type { FliteRequest } from './flite.ts';

interface FliteVoice {
  /** Flite's name for it. */
  readonly name: string;
  readonly language: string;
  readonly gender: 'man' | 'woman';
  /** Hz. */
  readonly sampleRate: number;
  /** It is a factor of all durations. */
  readonly stretch: number;
  /** Mean fundamental frequency in Hz, measured; absent where Flite cannot change it. */
  readonly pitch?: number;
}

const VOICES: readonly FliteVoice[] = [
  { name: 'rms', language: 'en-US', gender: 'man', sampleRate: 16_000, stretch: 1 },
  { name: 'slt', language: 'en-US', gender: 'woman', sampleRate: 16_000, stretch: 1, pitch: 172 },
  { name: 'awb', language: 'en-GB', gender: 'man', sampleRate: 16_000, stretch: 1, pitch: 131 },
  { name: 'kal16', language: 'en-US', gender: 'man', sampleRate: 16_000, stretch: 1.1, pitch: 95 },
  { name: 'kal', language: 'en-US', gender: 'man', sampleRate: 8_000, stretch: 1.1, pitch: 95 },
];

/** A voice has two numbers, which differ by this. */
const MERMISH = 10;

export const FLITE_SPEAKERS: readonly Speaker[] = [...speakers('neo.one'), ...speakers('Mermish')];

function speakers(kind: 'neo.one' | 'Mermish'): Speaker[] {
  return VOICES.map(({ name, language, gender, sampleRate }, index) => ({
    no: index + 1 + (kind === 'Mermish' ? MERMISH : 0),
    name: kind === 'Mermish' ? `${name}-styled` : name,
    kind,
    language,
    gender,
    sampleRate,
  }));
}

export interface FliteUse {
  readonly request: FliteRequest;
  readonly warp: number;
}

/** Where Flite cannot set the pitch, samples are read at another rate, and `stretch` keeps the duration. */
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

export interface FliteTask {
  readonly use: FliteUse;
  readonly finish: Finish;
}

export const READY = 'ready';
