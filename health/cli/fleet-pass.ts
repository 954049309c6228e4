/** One pass over the runs of a namespace: each judged, with a row for machines and whether the filters show it. */
import { judgeDocument } from './judge-run.ts';
import type { EvidenceDocument } from '../evidence.ts';
import { gatherFleet } from '../gather.ts';
import type { FleetEnd, FleetRequest, Sources } from '../gather.ts';
import { needsAttention, NEEDS_ATTENTION, reportRow, waitsOn } from '../report.ts';
import { isOpen } from '../temporal.ts';
import type { Reason, Verdict } from '../verdict.ts';
import type { ShownRow } from './report-columns.ts';

const DAY_MS = 86_400_000;

/** Combined by AND; `query` is Temporal's and is passed on as it is. */
export interface FleetFilter {
  readonly namespace: string;
  readonly query: string | undefined;
  readonly type: string | undefined;
  readonly owner: string | undefined;
  readonly verdict: readonly Verdict[] | undefined;
  readonly reason: readonly Reason[] | undefined;
  readonly needsAttention: boolean;
  /** Runs without a verdict too. */
  readonly unjudged: boolean;
  readonly limit: number;
}

export interface MetRun {
  readonly row: ShownRow;
  readonly shown: boolean;
  readonly document: EvidenceDocument;
}

/** @throws HealthError USAGE for a query that Temporal refuses, NOT_ALLOWED, NOT_FOUND for a missing namespace. */
export async function judgeFleet(
  filter: FleetFilter,
  sources: Sources,
  meet: (run: MetRun) => Promise<void> | void,
  onProgress: NonNullable<FleetRequest['onProgress']> = () => undefined,
): Promise<FleetEnd> {
  const { namespace, query, type, limit } = filter;
  const request = {
    namespace,
    query: query ?? null,
    workflowType: type ?? null,
    describeLimit: limit,
    closedWithinMs: DAY_MS,
    onProgress,
  };
  const runs = gatherFleet(request, sources, isSuspect);
  let next = await runs.next();
  for (; !next.done; next = await runs.next()) {
    const { document, failureTexts } = next.value;
    const row = {
      ...reportRow(document, judgeDocument(document)),
      failureText: Object.values(failureTexts)[0] ?? null,
    };
    await meet({ row, shown: isShown(row, document, filter), document });
  }
  return next.value;
}

function isShown(row: ShownRow, document: EvidenceDocument, filter: FleetFilter): boolean {
  const { owner, verdict, reason } = filter;
  if (row.reason === 'continued' || row.reason === 'unknown-run') return false;
  if (owner !== undefined && !waitsOn(owner, document)) return false;
  if (reason !== undefined && !reason.includes(row.reason)) return false;
  if (verdict !== undefined && (row.verdict === null || !verdict.includes(row.verdict))) return false;
  if (filter.needsAttention) return needsAttention(row);
  return row.verdict !== null || filter.unjudged || reason !== undefined;
}

/** What the list and the store cannot settle: what needs somebody, and open runs without a receipt or without a contract. */
function isSuspect(document: EvidenceDocument): boolean {
  const { verdict } = judgeDocument(document);
  if (verdict !== null && NEEDS_ATTENTION.includes(verdict)) return true;
  const { listed } = document.temporal;
  return (document.chain === null || verdict === null) && listed !== null && isOpen(listed.status);
}
