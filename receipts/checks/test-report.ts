/**
 * The report of a test run: JUnit XML, or the JSON of vitest and jest. It passes where tests ran, none failed and none
 * broke. What a report leaves out (tests that were never selected) it cannot show: name the suites that must be there, or
 * how many tests there must be.
 */
import type { CheckFinding, CheckRequest, DeliverableCheck } from '../contract.ts';
import type { Sha256 } from '../digest.ts';
import { declaredCheck, registeredCheck } from './declared.ts';
import type { CheckKind, OptionReader } from './declared.ts';
import { readArtifact } from './file.ts';
import { fetchResource, isAddress } from './http-resource.ts';
import { readJunit } from './junit.ts';
import { outputRoot } from './options.ts';
import { ReportTally } from './report-tally.ts';
import type { ReadReport, TestReportCounts } from './report-tally.ts';
import { readTestJson } from './test-json.ts';

export const TEST_REPORT = 'test-report';

export interface TestReportOptions {
  /** The folder that holds reports given as files; the machine's TEMPORAL_HEALTH_OUTPUT_ROOT where absent. */
  readonly root?: string;
  /** Origins where a report given by address may lie; see `httpResource`. */
  readonly origins?: readonly string[];
  /** How many tests must have run, at least; 1 where absent. Skipped ones did not run. */
  readonly minimumTests?: number;
  /** How many may be skipped; any number where absent. */
  readonly maximumSkipped?: number;
  /** Suites of which at least one test ran: a JUnit `testsuite`, a test file or a `describe` block, by its whole name. */
  readonly suites?: readonly string[];
  /** Tests that must have run: `name` or `classname.name` in JUnit, title or full name in JSON. */
  readonly tests?: readonly string[];
  /** More than this is not read, in bytes; 32 MiB where absent. */
  readonly maximumBytes?: number;
  /** For a request to an address, in ms; 10 s where absent. */
  readonly timeoutMs?: number;
}

const MAXIMUM_BYTES = 32 * 1024 ** 2;

/**
 * Finding: `subject` is the report with the number of tests that passed as its count; `coverage` counts all tests as
 * expected, passed ones as accepted, skipped ones as excluded by the report.
 * @throws HealthError CONTRACT_INVALID for an option that cannot be one
 */
export function testReport(options: TestReportOptions = {}): DeliverableCheck {
  return declaredCheck(kind, options);
}

function read(options: OptionReader) {
  return {
    root: options.text('root'),
    origins: options.texts('origins'),
    minimumTests: options.count('minimumTests', 1) ?? 1,
    maximumSkipped: options.count('maximumSkipped') ?? Infinity,
    suites: options.texts('suites') ?? [],
    tests: options.texts('tests') ?? [],
    maximumBytes: options.count('maximumBytes', 1) ?? MAXIMUM_BYTES,
    timeoutMs: options.count('timeoutMs', 1),
  };
}

type ReadOptions = ReturnType<typeof read>;

const kind: CheckKind<ReadOptions> = { name: TEST_REPORT, findsDigest: true, read, look };
export const registeredTestReport = registeredCheck(kind);

async function look(request: CheckRequest, options: ReadOptions): Promise<CheckFinding> {
  const found = isAddress(request.location) ? await byAddress(request, options) : await byPath(request, options);
  if ('finding' in found) return found.finding;
  const { content, digest } = found;
  const subject = { digest, sizeBytes: content.length };
  if (content.length < Math.max(1, request.minimumBytes)) return { result: 'fail', cause: 'too-small', subject };
  const report = await readReport(content, options, request.signal);
  if ('cause' in report) {
    return { result: report.cause === 'stopped' ? 'unread' : 'fail', cause: report.cause, subject };
  }
  const { counts } = report;
  const cause = faultOf(report.counts, report.tally, options);
  return {
    result: cause === null ? 'pass' : 'fail',
    subject: { ...subject, count: counts.passed },
    coverage: {
      expected: Math.max(counts.tests, counts.statedTests, options.minimumTests),
      accepted: counts.passed,
      ...(counts.skipped === 0 ? {} : { excluded: counts.skipped, excludedBy: 'report' }),
    },
    ...(cause === null ? {} : { cause }),
  };
}

function faultOf(counts: TestReportCounts, tally: ReportTally, options: ReadOptions): string | null {
  if (counts.failures + counts.errors > 0) return 'tests-failed';
  if (counts.statedTests > counts.tests) return 'incomplete';
  if (counts.tests === 0) return 'no-tests';
  if (counts.passed === 0) return 'nothing-ran';
  if (counts.passed < options.minimumTests) return 'too-few-tests';
  if (counts.skipped > options.maximumSkipped) return 'too-many-skipped';
  if (tally.isSuiteMissing) return 'suite-missing';
  return tally.isTestMissing ? 'test-missing' : null;
}

type Found = { readonly content: Buffer; readonly digest: Sha256 } | { readonly finding: CheckFinding };

async function byPath(request: CheckRequest, { root, maximumBytes }: ReadOptions): Promise<Found> {
  const below = outputRoot(root === undefined ? {} : { root });
  if (below === undefined) return { finding: { result: 'unread', cause: 'root-not-configured' } };
  const outcome = await readArtifact(request.location, { root: below, maximumBytes, keepContent: true });
  return 'finding' in outcome ? outcome : outcome.artifact;
}

async function byAddress(request: CheckRequest, options: ReadOptions): Promise<Found> {
  const { origins, maximumBytes, timeoutMs } = options;
  const found = await fetchResource(request, { origins, maximumBytes, timeoutMs });
  if ('finding' in found) return found;
  const { body, digest, encoded } = found.answer;
  if (body.length === 0 || digest === null) return { finding: { result: 'fail', cause: 'size-zero' } };
  return encoded ? { finding: { result: 'unread', cause: 'encoded' } } : { content: body, digest };
}

/** By what the text begins with: both forms are told apart by one character. */
async function readReport(content: Buffer, options: ReadOptions, signal?: AbortSignal): Promise<ReadReport> {
  const tally = new ReportTally(options.suites, options.tests);
  const begin = content
    .subarray(0, 1024)
    .toString('latin1')
    .replace(/^(?:ï»¿|ÿþ|þÿ)?[\s\0]*/, '');
  if (begin.startsWith('<')) return readJunit(content, tally, signal);
  if (!begin.startsWith('{')) return { cause: 'not-a-test-report' };
  try {
    return readTestJson(new TextDecoder('utf-8', { fatal: true }).decode(content), tally);
  } catch {
    return { cause: 'encoding' };
  }
}
