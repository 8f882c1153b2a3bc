import { ExitCode, TtsError } from '../error.ts';
import type { Setting } from './origin.ts';

/**
 * The number of the speaker that was asked for.
 * @param fallback the number when nobody says; `undefined` where there is none
 * @throws TtsError (usage) when there is none, or no speaker of that name
 */
export function speakerNumber(
  speaker: Setting<number | string> | undefined,
  fallback: number | undefined,
): number {
  if (speaker === undefined) {
    if (fallback !== undefined) return fallback;
    throw new TtsError('no speaker is chosen', {
      exitCode: ExitCode.usage,
      hint: 'choose one with --speaker NUMBER, TTS_SPEAKER or "speaker" in a config file',
    });
  }
  if (typeof speaker.value === 'number') return speaker.value;
  throw new TtsError(`${speaker.origin.name}: no speaker is called ${JSON.stringify(speaker.value)}`, {
    exitCode: ExitCode.usage,
    hint: 'give the number of the speaker',
  });
}
