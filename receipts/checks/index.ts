/**
 * The deterministic checks, and where the command and a worker find one by the name that a contract holds.
 *
 * A check looks at the promised destination and says `pass`, `fail` or `unread`. `fail` means that it looked and the
 * promised result was not there; `unread` that it could not look, which says nothing about the result.
 */
import type { DeliverableCheck } from '../contract.ts';
import { FILE_DIGEST, fileDigest } from './file-digest.ts';
import { GIT_COMMIT_CONTAINS, registeredGitCommitContains } from './git-commit-contains.ts';
import { HTTP_RESOURCE, httpResource } from './http-resource.ts';
import { registeredSqlVersion, SQL_VERSION } from './sql-version.ts';
import { registeredTestReport, TEST_REPORT } from './test-report.ts';
import { VERDICT_DOCUMENT, verdictDocument } from './verdict-document.ts';

export { registerCounter } from './counters.ts';
export type { Counted, Counter, CountRequest } from './counters.ts';
export { fileDigest } from './file-digest.ts';
export type { FileDigestOptions } from './file-digest.ts';
export { commitLocation, gitCommitContains } from './git-commit-contains.ts';
export type { GitCommitContainsOptions } from './git-commit-contains.ts';
export { httpResource } from './http-resource.ts';
export type { HttpResourceOptions } from './http-resource.ts';
export { rowLocation, sqlVersion } from './sql-version.ts';
export type { SqlVersionOptions } from './sql-version.ts';
export { testReport } from './test-report.ts';
export type { TestReportOptions } from './test-report.ts';
export { verdictDocument } from './verdict-document.ts';
export type { VerdictDocumentOptions } from './verdict-document.ts';

/** By registered name; each takes its options from the request, as the contract holds them. */
export const checks: Readonly<Record<string, DeliverableCheck>> = {
  [FILE_DIGEST]: fileDigest(),
  [GIT_COMMIT_CONTAINS]: registeredGitCommitContains,
  [HTTP_RESOURCE]: httpResource(),
  [SQL_VERSION]: registeredSqlVersion,
  [TEST_REPORT]: registeredTestReport,
  [VERDICT_DOCUMENT]: verdictDocument(),
};
