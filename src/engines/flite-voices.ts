/** The built-in voices, and how a style becomes the settings of Flite. */
import type { EngineVoice, Style } from './engine.ts';
import type { Finish } from './finish.ts';

interface FliteVoice {
  /** Flite's name for it. */
  readonly name: string;
  readonly language: string;
  readonly gender: 'man' | 'woman';
  /** A factor of all durations. */
  readonly stretch: number;
  /** Mean fundamental frequency in Hz, measured; absent where Flite cannot change it. */
  readonly pitch?: number;
}

const VOICES: readonly FliteVoice[] = [
  { name: 'rms', language: 'en-US', gender: 'man', stretch: 1 },
  { name: 'slt', language: 'en-US', gender: 'woman', stretch: 1, pitch: 172 },
  { name: 'awb', language: 'en-GB', gender: 'man', stretch: 1, pitch: 131 },
  { name: 'kal16', language: 'en-US', gender: 'man', stretch: 1.1, pitch: 95 },
  { name: 'kal', language: 'en-US', gender: 'man', stretch: 1.1, pitch: 95 },
];

/** Each voice has two speakers, `neo.one` and `Mermish`, whose numbers differ by this. */
const MERMISH_OFFSET = 10;

export const FLITE_VOICES: readonly EngineVoice[] = [...speakers('neo.one'), ...speakers('Mermish')];

function speakers(kind: 'neo.one' | 'Mermish'): EngineVoice[] {
  return VOICES.map(({ name, language, gender }, index) => ({
    no: index + 1 + (kind === 'Mermish' ? MERMISH_OFFSET : 0),
    name: kind === 'Mermish' ? `${name}-styled` : name,
    kind,
    language,
    gender,
  }));
}

export interface FliteRequest {
  /** ASCII without control characters, at most forty words. */
  readonly text: string;
  readonly voice: string;
  /** A factor of all durations. */
  readonly stretch: number;
  /** Mean fundamental frequency in Hz; the default of the voice if it is missing. */
  readonly pitch?: number | undefined;
}

export interface FliteTask extends FliteRequest {
  /** The factor by which the samples are played faster, which raises the pitch. */
  readonly warp: number;
  readonly finish: Finish;
  /** True to get a {@link TimedSpeech} as the answer. */
  readonly isTimed?: boolean;
}

/** Where Flite cannot set the pitch, the samples are played at another rate, and `stretch` preserves the duration. */
export function fliteTask(
  { no, style }: { readonly no: number; readonly style: Style },
  text: string,
  finish: Finish,
): FliteTask {
  const voice = VOICES[(no - 1) % MERMISH_OFFSET];
  if (!voice) throw new RangeError(`there is no speaker ${no}`);
  const warp = voice.pitch === undefined ? style.pitch : 1;
  return {
    text,
    voice: voice.name,
    stretch: (voice.stretch / style.rate) * warp,
    pitch: style.pitch === 1 ? undefined : voice.pitch && voice.pitch * style.pitch,
    warp,
    finish,
  };
}
