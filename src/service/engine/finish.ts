import { level } from './level.ts';
import type { Resampler } from './resampler.ts';
import { join, type Samples, silence, toFloat, toInt16 } from './samples.ts';

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

/** What is this much weaker than the loudest sample counts as silence: 45 dB. */
const SILENCE = 10 ** (-45 / 20);

/** Seconds kept before and behind what is heard, which hold soft beginnings and endings. They are faded. */
const MARGIN = 0.02;

/** @returns a view of the speech without the silence around it, which begins and ends at zero; its edges are changed */
function trim(samples: Float32Array, sampleRate: number): Float32Array {
  const threshold = SILENCE * peak(samples);
  const margin = Math.round(MARGIN * sampleRate);
  let start = 0;
  while (start < samples.length && Math.abs(samples[start] ?? 0) <= threshold) start += 1;
  let end = samples.length;
  while (end > start && Math.abs(samples[end - 1] ?? 0) <= threshold) end -= 1;
  const speech = samples.subarray(Math.max(0, start - margin), end + margin);
  fade(speech, Math.min(margin, speech.length >> 1));
  return speech;
}

function fade(samples: Float32Array, frames: number): void {
  for (let frame = 0; frame < frames; frame += 1) {
    const gain = frame / frames;
    const mirror = samples.length - 1 - frame;
    samples[frame] = gain * (samples[frame] ?? 0);
    samples[mirror] = gain * (samples[mirror] ?? 0);
  }
}

/** A loop: callbacks would be handed each sample as an object, and filling up memory with these ages what is in use. */
function peak(samples: Float32Array): number {
  let most = 0;
  for (let frame = 0; frame < samples.length; frame += 1)
    most = Math.max(most, Math.abs(samples[frame] ?? 0));
  return most;
}
