import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** `TTS_TEST_SEED` repeats a run of `--mode random`. */
function seedOf(mode: string): string {
  if (mode !== 'random') return '1';
  const seed = process.env.TTS_TEST_SEED ?? String(Date.now() % 1e6);
  process.stdout.write(`TTS_TEST_SEED=${seed} repeats the random choices of this run.\n`);
  return seed;
}

export default defineConfig(({ mode }) => ({
  test: {
    env: { TTS_TEST_SEED: seedOf(mode) },
    setupFiles: ['./test/support/random.ts', './test/support/equal-bytes.ts'],
    // Long enough for a busy machine, which may take ten times as long as an idle one: timeouts only end tests that hang.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { requireAssertions: true, poll: { timeout: 60_000 } },
    // End-to-end tests wait for processes much of the time: two workers more than cores keep all busy.
    maxWorkers: availableParallelism() + 2,
    // The files of a worker share what they import, which they would otherwise load 190 times.
    isolate: false,
    reporters: ['default', './.config/counting-reporter.ts'],
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['test/unit/**/*.test.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: './test/support/fresh-build.ts',
        },
      },
    ],
  },
}));
