import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    testTimeout: 30_000,
    expect: { requireAssertions: true },
    // End-to-end tests wait for processes most of the time: one worker more than cores keeps both busy.
    maxWorkers: availableParallelism() + 1,
    reporters: ['default', './.config/counting-reporter.ts'],
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
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
});
