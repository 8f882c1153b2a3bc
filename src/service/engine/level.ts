/** Level of a spoken segment, as a part of full scale: -20 dBFS, which leaves room for the peaks. */
const TARGET = 0.1;

/** Sounds that are this much weaker than the target are no speech, and stay what they are. */
const MOST_GAIN = 10;

/** Below this amplitude nothing is changed; above it, peaks are bent so that they stay under the ceiling. */
const KNEE = 0.6;

/** What resampling adds to a peak must still fit below full scale. */
const CEILING = 0.9;

/** Pieces of 20 ms are heard when they have a thousandth of the energy of the loudest, that is, 30 dB less. */
const PIECE = 0.02;
const HEARD = 1e-3;

/**
 * Gives a segment its loudness: the same level for every voice and sentence, because one fixed gain for each voice
 * leaves differences of 6 dB between short sentences. Changes the samples where they stand.
 *
 * @param loudness factor of the amplitude
 */
export function level(samples: Float32Array, sampleRate: number, loudness: number): void {
  const gain = loudness * Math.min(TARGET / measure(samples, Math.round(PIECE * sampleRate)), MOST_GAIN);
  for (let frame = 0; frame < samples.length; frame += 1) samples[frame] = bend(gain * (samples[frame] ?? 0));
}

/**
 * A level halfway, in decibels, between that of all samples, which meters show, and that of the parts in which
 * something is heard. They differ for short words only; like this, neither measure finds two voices 1 dB apart, but
 * for words of one syllable.
 */
function measure(samples: Float32Array, length: number): number {
  const energies = Array.from({ length: Math.ceil(samples.length / length) }, (_, index) =>
    energy(samples.subarray(index * length, (index + 1) * length)),
  );
  const loudest = Math.max(...energies);
  return Math.sqrt(rootMean(energies) * rootMean(energies.filter((piece) => piece > HEARD * loudest)));
}

/** A loop, for the reason that `trim.ts` gives. */
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
