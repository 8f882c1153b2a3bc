import { level } from './level.ts';
import type { Resampler } from './resampler.ts';
import { join, type Samples, silence, toFloat, toInt16 } from './samples.ts';
import { trim } from './trim.ts';

export interface Finish {
  /** Hz of the samples wanted. */
  readonly sampleRate: number;
  /** Factor of the amplitude. */
  readonly loudness: number;
  /** Seconds of silence behind the segment. */
  readonly pause: number;
}

/** Seconds of silence before each segment. Longer than the filter of the resampler at any rate. */
const LEAD = 0.03;

/**
 * Makes a raw segment ready to stand beside others: its own silence is replaced by a measured one, its loudness is
 * evened out, its rate is the one wanted. As each segment begins and ends in digital silence, it can be resampled on
 * its own, in any order and on any thread, and the border to the next one is still free of clicks.
 */
export function finish(
  { samples, sampleRate }: Samples,
  { sampleRate: wanted, loudness, pause }: Finish,
  resampler: (from: number, to: number) => Resampler,
): Int16Array {
  const speech = trim(toFloat(samples), sampleRate);
  level(speech, sampleRate, loudness);
  const lead = Math.round(LEAD * sampleRate);
  const padded = silence(lead + speech.length + Math.round(pause * sampleRate));
  padded.set(speech, lead);
  if (sampleRate === wanted) return toInt16(padded);
  const conversion = resampler(sampleRate, wanted);
  return toInt16(join([conversion.push(padded), conversion.end()]));
}
