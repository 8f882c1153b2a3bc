import type { Reporter, TestModule } from 'vitest/node';

/** Ends every run with `N passed, N failed`, counting a broken file as one failure, after a line for skipped tests. */
export default class CountingReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.errors().length > 0) count.failed += 1;
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    }
    const skipped = count.skipped + count.pending;
    if (skipped > 0) process.stdout.write(`\n${skipped} skipped\n`);
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed\n`);
  }
}
