import type { Espeak } from '../service/engine/espeak-voices.ts';
import { FLITE_SPEAKERS } from '../service/engine/voices.ts';
import type { Speaker } from '../service/engine.ts';
import type { Settings } from '../settings/resolve.ts';
import { type Choice, chooseSpeaker, isAmong } from '../settings/speaker.ts';
import type { Context } from './commands.ts';
import type { NamedService } from './service.ts';

/** Who speaks. */
interface Speaking extends Choice {
  /** Set where it is one of its voices. */
  readonly espeak?: Espeak | undefined;
}

/**
 * The speaker that a run asks for, of the service that was named or else of the built-in one. Only for a speaker who is
 * not built in is espeak-ng looked for: that costs time.
 * @throws TtsError (usage) as `chooseSpeaker` does; the reason of the signal
 */
export async function speakerOf(
  said: Settings,
  service: NamedService | undefined,
  context: Context,
): Promise<Speaking> {
  if (service) return chooseSpeaker(said, []);
  if (isAmong(FLITE_SPEAKERS, said)) return chooseSpeaker(said, FLITE_SPEAKERS);
  const { findEspeak } = await import('./espeak.ts');
  const { espeak, fault } = await findEspeak(context);
  if (espeak) return { ...chooseSpeaker(said, builtInSpeakers(espeak)), espeak };
  const why = fault === undefined ? 'is not installed' : `does not work: ${fault}`;
  return chooseSpeaker(said, FLITE_SPEAKERS, `101 and up are the voices of espeak-ng, which ${why}`);
}

/** All speakers of the built-in service. */
export function builtInSpeakers(espeak: Espeak | undefined): Speaker[] {
  return [...FLITE_SPEAKERS, ...(espeak?.voices.map(({ speaker }) => speaker) ?? [])];
}
