/**
 * The counter of sourceCheck's report: it reads the document again by itself and counts what the report says of it. No
 * number of the report is believed.
 */
import { registerCounter } from '../../../receipts/checks/index.ts';
import type { Counted, CountRequest } from '../../../receipts/checks/index.ts';
import { readArtifact } from '../../../receipts/checks/file.ts';
import { OUTCOMES } from './finding.ts';
import { placeOf } from './place.ts';
import { REPORT_KIND, REPORT_SCHEMA_VERSION } from './report.ts';
import type { ReportedSource, SourceReport } from './report.ts';
import { takeInventory } from './sources.ts';

export const SOURCE_LINKS_COUNTER = 'source-check-links';

export interface RecountRoots {
  readonly documentRoot: string | null;
  readonly outputRoot: string;
}

const MAXIMUM_BYTES = 16 * 1024 * 1024;

export function registerSourceLinksCounter(roots: RecountRoots): void {
  registerCounter(SOURCE_LINKS_COUNTER, (request) => recount(request, roots));
}

export async function recount(request: CountRequest, roots: RecountRoots): Promise<Counted> {
  const report = readReport(request.content);
  if (report === null) return { counted: false, result: 'fail', cause: 'not-a-report' };
  const { workflowId, runId } = request;
  if (report.workflowId !== workflowId || report.runId !== runId) {
    return { counted: false, result: 'fail', cause: 'other-run' };
  }
  // A document of the root is read where it lies; one from the network as it was kept, for it may be another tomorrow.
  const { readFrom, name, digest, place } = report.document;
  const [root, path] =
    readFrom === 'file' ? [roots.documentRoot, name] : [roots.outputRoot, placeOf(roots.outputRoot, request).document];
  if (root === null) return { counted: false, result: 'unread', cause: 'document-not-readable' };
  const read = await readArtifact(path, { root, maximumBytes: MAXIMUM_BYTES, keepContent: true });
  if ('finding' in read) return { counted: false, result: 'unread', cause: 'document-not-readable' };
  if (read.artifact.digest !== digest) return { counted: false, result: 'fail', cause: 'document-changed' };
  const { sources } = takeInventory(read.artifact.content.toString('utf8'), place);
  const reported = new Map(report.sources.map((source) => [source.source, source]));
  const accepted = sources.filter(({ key, occurrences }) => {
    const found = reported.get(key);
    return found !== undefined && isFinding(found) && found.occurrences.length === occurrences.length;
  }).length;
  return { counted: true, expected: sources.length, accepted };
}

const isFinding = (source: ReportedSource): boolean =>
  OUTCOMES.includes(source.outcome) && (source.outcome === 'ok') === (source.cause === null);

function readReport(content: Buffer): SourceReport | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(content.toString('utf8'));
  } catch {
    return null;
  }
  if (typeof parsed !== 'object' || parsed === null) return null;
  const report = parsed as Partial<SourceReport>;
  const whole =
    report.schemaVersion === REPORT_SCHEMA_VERSION &&
    report.kind === REPORT_KIND &&
    typeof report.document?.name === 'string' &&
    typeof report.document.place === 'object' &&
    Array.isArray(report.sources) &&
    report.sources.every((source: Partial<ReportedSource>) => Array.isArray(source.occurrences));
  return whole ? (report as SourceReport) : null;
}
