import type { Resampler } from '../sound/convert.ts';
import { join, type Samples, toFloat, toInt16, zeros } from '../sound/samples.ts';

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
  const padded = zeros(lead + speech.length + Math.round(pause * sampleRate));
  padded.set(speech, lead);
  if (sampleRate === wanted) return toInt16(padded);
  const conversion = resampler(sampleRate, wanted);
  return toInt16(join([conversion.push(padded), conversion.end()]));
}

/** @returns seconds that a moment of the sound is later after {@link finish} */
export function delayOf({ samples, sampleRate }: Samples): number {
  return LEAD - trim(toFloat(samples), sampleRate).byteOffset / Float32Array.BYTES_PER_ELEMENT / sampleRate;
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

/** -20 dBFS, which leaves room for peaks. */
const TARGET = 0.1;

/** Weaker sounds are not speech. */
const MOST_GAIN = 10;

/** Higher peaks are bent. */
const KNEE = 0.6;

/** Resampling adds to peaks. */
const CEILING = 0.9;

/** Seconds. Speech reaches down to 30 dB below the loudest piece. */
const PIECE = 0.02;
const HEARD = 1e-3;

/**
 * The samples are changed in place. A fixed gain for each voice would leave 6 dB between short sentences.
 * @param loudness factor of the amplitude
 */
export function level(samples: Float32Array, sampleRate: number, loudness: number): void {
  const gain = loudness * Math.min(TARGET / measure(samples, Math.round(PIECE * sampleRate)), MOST_GAIN);
  for (let frame = 0; frame < samples.length; frame += 1) samples[frame] = bend(gain * (samples[frame] ?? 0));
}

/** The mean, in decibels, of the level of all samples and of the speech in them: with one alone, short words differ. */
function measure(samples: Float32Array, length: number): number {
  const energies = Array.from({ length: Math.ceil(samples.length / length) }, (_, index) =>
    energy(samples.subarray(index * length, (index + 1) * length)),
  );
  const loudest = Math.max(...energies);
  return Math.sqrt(rootMean(energies) * rootMean(energies.filter((piece) => piece > HEARD * loudest)));
}

/** Callbacks would box each sample. */
function energy(samples: Float32Array): number {
  let sum = 0;
  for (let frame = 0; frame < samples.length; frame += 1) sum += (samples[frame] ?? 0) ** 2;
  return sum / samples.length;
}

function rootMean(energies: readonly number[]): number {
  return Math.sqrt(energies.reduce((sum, piece) => sum + piece, 0) / energies.length);
}

function bend(sample: number): number {
  const over = Math.abs(sample) - KNEE;
  if (over <= 0) return sample;
  const room = CEILING - KNEE;
  return Math.sign(sample) * (KNEE + room * Math.tanh(over / room));
}
