/** Gives the passages of all voices the same loudness, pauses and sample rate. */
import type { MakeResampler } from '../sound/convert.ts';
import { join, type Samples, toFloat, toInt16, zeros } from '../sound/samples.ts';

export interface Finish {
  /** Hz. */
  readonly sampleRate: number;
  /** A factor of the amplitude. */
  readonly loudness: number;
  /** Seconds of silence after the passage. */
  readonly pause: number;
}

/** Seconds of silence before the speech, longer than the filter of the resampler. */
const LEAD_SECONDS = 0.03;

/** Trims, levels and resamples a passage. It begins and ends with digital silence, so that passages join without clicks. */
export function finish(
  { samples, sampleRate }: Samples,
  { sampleRate: wanted, loudness, pause }: Finish,
  resampler: MakeResampler,
): Int16Array {
  const speech = trim(toFloat(samples), sampleRate);
  level(speech, sampleRate, loudness);
  const lead = Math.round(LEAD_SECONDS * sampleRate);
  const padded = zeros(lead + speech.length + Math.round(pause * sampleRate));
  padded.set(speech, lead);
  if (sampleRate === wanted) return toInt16(padded);
  const conversion = resampler(sampleRate, wanted);
  return toInt16(join([conversion.push(padded), conversion.end()]));
}

/** @returns the seconds by which {@link finish} delays the speech */
export function delayOf({ samples, sampleRate }: Samples): number {
  return (
    LEAD_SECONDS - trim(toFloat(samples), sampleRate).byteOffset / Float32Array.BYTES_PER_ELEMENT / sampleRate
  );
}

/** The share of the loudest sample below which a sample is silent: -45 dB. */
const SILENCE_SHARE = 10 ** (-45 / 20);

/** Seconds of silence kept around the speech, and faded. */
const MARGIN_SECONDS = 0.02;

/** @returns a view of the samples without the silence around the speech */
function trim(samples: Float32Array, sampleRate: number): Float32Array {
  const threshold = SILENCE_SHARE * peak(samples);
  const margin = Math.round(MARGIN_SECONDS * sampleRate);
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

/** The largest amplitude. A loop, since callbacks would box each sample. */
function peak(samples: Float32Array): number {
  let most = 0;
  for (let frame = 0; frame < samples.length; frame += 1)
    most = Math.max(most, Math.abs(samples[frame] ?? 0));
  return most;
}

/** The level of the speech: -20 dBFS leaves room for peaks. */
const TARGET = 0.1;

/** The largest gain: a sound that needed more would not be speech. */
const MOST_GAIN = 10;

/** The amplitude above which peaks are compressed. */
const KNEE = 0.6;

/** The amplitude that compressed peaks stay below, with room for the overshoot of resampling. */
const CEILING = 0.9;

/** Seconds of the pieces whose energy is measured. */
const PIECE_SECONDS = 0.02;
/** Pieces above this share of the loudest energy, -30 dB, are speech. */
const SPEECH_SHARE = 1e-3;

/**
 * Levels the samples in place. A fixed gain per voice would leave differences of 6 dB between short sentences.
 * @param loudness a factor of the amplitude
 */
export function level(samples: Float32Array, sampleRate: number, loudness: number): void {
  const gain =
    loudness * Math.min(TARGET / measure(samples, Math.round(PIECE_SECONDS * sampleRate)), MOST_GAIN);
  for (let frame = 0; frame < samples.length; frame += 1)
    samples[frame] = compressed(gain * (samples[frame] ?? 0));
}

/** The mean in decibels of the level of all samples and that of the speech: with one alone, short words would differ. */
function measure(samples: Float32Array, length: number): number {
  const energies = Array.from({ length: Math.ceil(samples.length / length) }, (_, index) =>
    energy(samples.subarray(index * length, (index + 1) * length)),
  );
  const loudest = Math.max(...energies);
  return Math.sqrt(rootMean(energies) * rootMean(energies.filter((piece) => piece > SPEECH_SHARE * loudest)));
}

/** The mean square. A loop, since callbacks would box each sample. */
function energy(samples: Float32Array): number {
  let sum = 0;
  for (let frame = 0; frame < samples.length; frame += 1) sum += (samples[frame] ?? 0) ** 2;
  return sum / samples.length;
}

function rootMean(energies: readonly number[]): number {
  return Math.sqrt(energies.reduce((sum, piece) => sum + piece, 0) / energies.length);
}

/** Compresses a peak smoothly. */
function compressed(sample: number): number {
  const over = Math.abs(sample) - KNEE;
  if (over <= 0) return sample;
  const room = CEILING - KNEE;
  return Math.sign(sample) * (KNEE + room * Math.tanh(over / room));
}
