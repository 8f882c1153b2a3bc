import fc from 'fast-check';

/** The same seed in each run, except in `npm run test:random`, which chooses and prints one. */
export const SEED = Number(process.env.TTS_TEST_SEED);

fc.configureGlobal({ seed: SEED });

/** @returns a generator of numbers from 0 to 1 with this seed (mulberry32) */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
