/** A sine of half of full scale. */
export function sine(hertz: number, sampleRate: number, seconds: number): Float32Array {
  return Float32Array.from({ length: sampleRate * seconds }, (_, frame) => {
    return 0.5 * Math.sin((2 * Math.PI * hertz * frame) / sampleRate);
  });
}

/** Decibels between the sine of this frequency that fits best, by least squares, and everything else. */
export function signalToNoise(samples: Int16Array, hertz: number, sampleRate: number): number {
  const phase = (frame: number) => (2 * Math.PI * hertz * frame) / sampleRate;
  let [ss, sc, cc, ys, yc] = [0, 0, 0, 0, 0];
  for (const [frame, sample] of samples.entries()) {
    const [s, c] = [Math.sin(phase(frame)), Math.cos(phase(frame))];
    ss += s * s;
    sc += s * c;
    cc += c * c;
    ys += sample * s;
    yc += sample * c;
  }
  const determinant = ss * cc - sc * sc;
  const a = (ys * cc - yc * sc) / determinant;
  const b = (yc * ss - ys * sc) / determinant;
  let [signal, noise] = [0, 0];
  for (const [frame, sample] of samples.entries()) {
    const fitted = a * Math.sin(phase(frame)) + b * Math.cos(phase(frame));
    signal += fitted ** 2;
    noise += (sample - fitted) ** 2;
  }
  return 10 * Math.log10(signal / noise);
}
