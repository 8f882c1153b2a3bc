/** -20 dBFS, which leaves room for peaks. */
const TARGET = 0.1;

/** Weaker sounds are no speech. */
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
