/** What is this much weaker than the loudest sample counts as silence: 45 dB. */
const SILENCE = 10 ** (-45 / 20);

/** Seconds kept before and behind what is heard, which hold soft beginnings and endings. They are faded. */
const MARGIN = 0.02;

/** @returns a view of the speech without the silence around it, which begins and ends at zero; its edges are changed */
export function trim(samples: Float32Array, sampleRate: number): Float32Array {
  const threshold = SILENCE * samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
  const heard = (sample: number) => Math.abs(sample) > threshold;
  const margin = Math.round(MARGIN * sampleRate);
  const start = Math.max(0, samples.findIndex(heard) - margin);
  const speech = samples.subarray(start, samples.findLastIndex(heard) + 1 + margin);
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
