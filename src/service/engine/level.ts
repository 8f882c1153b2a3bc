/** Root mean square of a spoken segment, as a part of full scale: -20 dBFS, which leaves room for the peaks. */
const TARGET = 0.1;

/** Sounds that are this much weaker than the target are no speech, and stay what they are. */
const MOST_GAIN = 10;

/** Below this amplitude nothing is changed; above it, peaks are bent so that they never reach full scale. */
const KNEE = 0.7;

/**
 * Gives a segment its loudness: the same root mean square for every voice and sentence, because one fixed gain a voice
 * leaves differences of 6 dB between short sentences. Changes the samples where they stand.
 *
 * @param loudness factor of the amplitude
 */
export function level(samples: Float32Array, loudness: number): void {
  const gain = loudness * Math.min(TARGET / rootMeanSquare(samples), MOST_GAIN);
  for (let frame = 0; frame < samples.length; frame += 1) samples[frame] = bend(gain * (samples[frame] ?? 0));
}

function rootMeanSquare(samples: Float32Array): number {
  const energy = samples.reduce((sum, sample) => sum + sample * sample, 0);
  return Math.sqrt(energy / samples.length);
}

function bend(sample: number): number {
  const over = Math.abs(sample) - KNEE;
  if (over <= 0) return sample;
  return Math.sign(sample) * (KNEE + (1 - KNEE) * Math.tanh(over / (1 - KNEE)));
}
