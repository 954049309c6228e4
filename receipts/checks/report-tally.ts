/** What a test report says, whatever form it has: counted test by test, and held against the totals it states itself. */

export type TestOutcome = 'passed' | 'failed' | 'error' | 'skipped';

export interface TestTotals {
  readonly tests: number;
  readonly failures: number;
  readonly errors: number;
}

export interface TestReportCounts extends TestTotals {
  readonly passed: number;
  readonly skipped: number;
  /** Tests that the report says it holds; more than `tests` where a part is gone. */
  readonly statedTests: number;
}

/** Either the report's counts or the word for what is wrong with it. */
export type ReadReport =
  { readonly counts: TestReportCounts; readonly tally: ReportTally } | { readonly cause: string };

/** Its memory is that of the names that are looked for, however many tests the report holds. */
export class ReportTally {
  readonly #count: Record<TestOutcome, number> = { passed: 0, failed: 0, error: 0, skipped: 0 };
  readonly #missingSuites: Set<string>;
  readonly #missingTests: Set<string>;

  constructor(suites: readonly string[], tests: readonly string[]) {
    this.#missingSuites = new Set(suites);
    this.#missingTests = new Set(tests);
  }

  /** One test, the names it goes by and the suites it is in. A test that was skipped is not there. */
  add(outcome: TestOutcome, names: readonly string[], suites: readonly string[]): void {
    this.#count[outcome] += 1;
    if (outcome === 'skipped') return;
    for (const name of names) this.#missingTests.delete(name);
    for (const suite of suites) this.#missingSuites.delete(suite);
  }

  /** A suite that could not run at all: none of its tests is in the report. */
  addError(): void {
    this.#count.error += 1;
  }

  get isSuiteMissing(): boolean {
    return this.#missingSuites.size > 0;
  }

  get isTestMissing(): boolean {
    return this.#missingTests.size > 0;
  }

  /** Of what was found and what is stated, the worse: a report may not state its own failures away. */
  counts(stated: TestTotals): TestReportCounts {
    const { passed, failed, error, skipped } = this.#count;
    return {
      tests: passed + failed + error + skipped,
      passed,
      skipped,
      failures: Math.max(failed, stated.failures),
      errors: Math.max(error, stated.errors),
      statedTests: stated.tests,
    };
  }
}
