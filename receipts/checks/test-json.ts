/** The JSON report of jest, which vitest writes as well (`--reporter=json`). */
import type { ReadReport, ReportTally, TestOutcome } from './report-tally.ts';

type Members = Readonly<Record<string, unknown>>;

const OUTCOMES: ReadonlyMap<string, TestOutcome> = new Map([
  ['passed', 'passed'],
  ['failed', 'failed'],
  ['pending', 'skipped'],
  ['skipped', 'skipped'],
  ['todo', 'skipped'],
  ['disabled', 'skipped'],
]);

const membersOf = (value: unknown): Members | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : null;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export function readTestJson(text: string, tally: ReportTally): ReadReport {
  let report: Members | null;
  try {
    report = membersOf(JSON.parse(text));
  } catch {
    return { cause: 'malformed' };
  }
  const files = report?.['testResults'];
  const total = report?.['numTotalTests'];
  if (report === null || !Array.isArray(files) || total === undefined) return { cause: 'not-a-test-report' };
  if (report['wasInterrupted'] === true) return { cause: 'interrupted' };
  const tests = countOf(total);
  const failures = countOf(report['numFailedTests'] ?? 0);
  const errors = countOf(report['numRuntimeErrorTestSuites'] ?? 0);
  if (tests === null || failures === null || errors === null) return { cause: 'bad-count' };
  for (const file of files) {
    if (!addFile(membersOf(file), tally)) return { cause: 'not-a-test-report' };
  }
  const counts = tally.counts({ tests, failures, errors });
  // The runner says that it failed although no test did: an error outside of tests, a missed threshold.
  const isFailedOtherwise = report['success'] !== true && counts.failures + counts.errors === 0;
  return { counts: isFailedOtherwise ? { ...counts, errors: 1 } : counts, tally };
}

const countOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

/** False where it is no file's result. */
function addFile(file: Members | null, tally: ReportTally): boolean {
  const tests: unknown = file?.['assertionResults'];
  if (file === null || !Array.isArray(tests)) return false;
  const suite = textOf(file['name']);
  let failed = 0;
  for (const entry of tests) {
    const test = membersOf(entry);
    if (test === null) return false;
    // A word that a newer runner invents is not taken for a pass.
    const outcome = OUTCOMES.get(textOf(test['status'])) ?? 'error';
    if (outcome === 'failed' || outcome === 'error') failed += 1;
    const ancestors: unknown = test['ancestorTitles'];
    const blocks = Array.isArray(ancestors) ? ancestors.map(textOf) : [];
    tally.add(outcome, [textOf(test['title']), textOf(test['fullName'])], [suite, ...blocks]);
  }
  // A file that failed without a failed test could not be loaded: its tests are not even in the list.
  if (file['status'] === 'failed' && failed === 0) tally.addError();
  return true;
}
