/** What is this much weaker than the loudest sample counts as silence: 45 dB. */
const SILENCE = 10 ** (-45 / 20);

/** Seconds kept before and behind what is heard, which hold soft beginnings and endings. They are faded. */
const MARGIN = 0.02;

/** @returns a view of the speech without the silence around it, which begins and ends at zero; its edges are changed */
export function trim(samples: Float32Array, sampleRate: number): Float32Array {
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
