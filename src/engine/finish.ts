import type { Resampler } from '../audio/resampler.ts';
import { join, type Samples, silence, toFloat, toInt16 } from '../audio/samples.ts';
import { level } from './level.ts';

export interface Finish {
  /** Hz. */
  readonly sampleRate: number;
  /** It is a factor of the amplitude. */
  readonly loudness: number;
  /** It is the silence after the passage, in seconds. */
  readonly pause: number;
}

/** Longer than the filter of the resampler. */
const LEAD = 0.03;

/** Passages join in digital silence, without clicks. */
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

/** 45 dB below the loudest sample. */
const SILENCE = 10 ** (-45 / 20);

/** Seconds, faded. */
const MARGIN = 0.02;

/** @returns a view without the silence around the speech */
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

/** Callbacks would box each sample. */
function peak(samples: Float32Array): number {
  let most = 0;
  for (let frame = 0; frame < samples.length; frame += 1)
    most = Math.max(most, Math.abs(samples[frame] ?? 0));
  return most;
}
