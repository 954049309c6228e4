import type { Reporter, TestModule } from 'vitest/node';

/** Ends the run with the one line a build server counts: `N passed, N failed`; what was skipped stands on the line before. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    let skipped = 0;
    for (const module of modules) {
      failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed += 1;
        else if (state === 'failed') failed += 1;
        else skipped += 1;
      }
    }
    const before = skipped > 0 ? `${skipped} skipped\n` : '';
    process.on('exit', () => {
      process.stdout.write(`\n${before}${passed} passed, ${failed} failed\n`);
    });
  }
}
