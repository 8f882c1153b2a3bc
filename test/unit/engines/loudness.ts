/** Decibels of full scale of the parts in which something is heard: pieces of 20 ms that are within 30 dB of the loudest. */
export function loudness(samples: Int16Array, sampleRate: number): number {
  const length = sampleRate / 50;
  const energies = Array.from({ length: Math.floor(samples.length / length) }, (_, index) => {
    return energy(samples.subarray(index * length, (index + 1) * length));
  });
  const loudest = Math.max(...energies);
  const heard = energies.filter((value) => value > loudest / 1_000);
  return 10 * Math.log10(heard.reduce((sum, value) => sum + value, 0) / heard.length);
}

/** The same of all samples. */
export function meanLoudness(samples: Int16Array): number {
  return 10 * Math.log10(energy(samples));
}

function energy(samples: Int16Array): number {
  return samples.reduce((sum, sample) => sum + (sample / 32_768) ** 2, 0) / samples.length;
}
