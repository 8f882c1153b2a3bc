/** Fundamental frequency in Hz, as the median over the voiced parts, by autocorrelation. */
export function pitch(samples: Int16Array, sampleRate: number): number {
  const window = Math.round(sampleRate * 0.04);
  const found: number[] = [];
  for (let start = 0; start + 2 * window < samples.length; start += window) {
    const period = periodAt(samples.subarray(start, start + 2 * window), sampleRate);
    if (period !== undefined) found.push(sampleRate / period);
  }
  found.sort((a, b) => a - b);
  return found[found.length >> 1] ?? Number.NaN;
}

function periodAt(samples: Int16Array, sampleRate: number): number | undefined {
  const half = samples.length >> 1;
  const here = samples.subarray(0, half);
  let best = { likeness: 0.8, period: undefined as number | undefined };
  for (let lag = Math.round(sampleRate / 350); lag <= sampleRate / 55 && lag <= half; lag += 1) {
    const likeness = correlation(here, samples.subarray(lag, lag + half));
    if (likeness > best.likeness + 0.02) best = { likeness, period: lag };
  }
  return best.period;
}

function correlation(a: Int16Array, b: Int16Array): number {
  let [ab, aa, bb] = [0, 0, 0];
  for (let index = 0; index < a.length; index += 1) {
    const [x, y] = [a[index] ?? 0, b[index] ?? 0];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  const isQuiet = aa / a.length < 200 ** 2;
  return isQuiet ? 0 : ab / Math.sqrt(aa * bb + 1);
}
