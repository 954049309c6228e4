/** A report over 100,000 chains: memory stays flat, Temporal is asked about a page of suspects and no more. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { classify } from '../../health/classify.ts';
import type { EvidenceDocument } from '../../health/evidence.ts';
import { gatherFleet } from '../../health/gather.ts';
import type { FleetRequest, Sources, TemporalReader } from '../../health/gather.ts';
import { DEFAULT_POLICY } from '../../health/policy.ts';
import { reportRow, Tally } from '../../health/report.ts';
import type { DescribedRun } from '../../health/temporal.ts';
import { EMPTY_MISSION, EMPTY_STATE } from '../../receipts/state.ts';
import type { ChainRow } from '../../receipts/state.ts';
import type { ReceiptStore } from '../../receipts/store.ts';

const NOW_MS = Date.parse('2026-06-01T12:00:00Z');
const ROWS = 100_000;
const contract = {
  schemaVersion: 1,
  workflowType: 'mission',
  milestones: {},
  effects: {},
  deliverables: {},
  budgets: {},
} as const;

/** Every tenth chain stands still for an hour. */
function row(at: number): ChainRow {
  const changedAtMs = NOW_MS - (at % 10 === 0 ? 3_600_000 : 60_000);
  const milestone = {
    seen: [[`d${at}`, changedAtMs, `r${at}`, null] as const],
    latestAtMs: changedAtMs,
    latestReceiptId: `r${at}`,
    step: null,
    end: null,
  };
  return {
    clusterId: 'c',
    namespace: 'default',
    workflowId: `wf-${String(at).padStart(6, '0')}`,
    runId: `run-${at}`,
    chainId: `run-${at}`,
    workflowType: 'mission',
    runStartedAtMs: changedAtMs,
    contractDigest: 'k',
    missionFingerprint: null,
    receiptCount: 1,
    firstReceiptAtMs: changedAtMs,
    lastReceiptAtMs: changedAtMs,
    evidenceVersion: 1,
    state: { ...EMPTY_STATE, missions: { '': { ...EMPTY_MISSION, milestones: { pages: milestone } } } },
  };
}

/** Makes its pages when they are asked for, and keeps none. */
function standInStore(onPage: (at: number) => void): ReceiptStore {
  const part: Partial<ReceiptStore> = {
    clusterId: 'c',
    nowMs: () => NOW_MS,
    listChains({ limit, cursor }) {
      const from = Number(cursor ?? 0);
      onPage(from);
      const rows = Array.from({ length: Math.min(limit, ROWS - from) }, (_, n) => row(from + n));
      return Promise.resolve({ rows, cursor: from + limit < ROWS ? String(from + limit) : null });
    },
    readChain: ({ runId }) => Promise.resolve(row(Number(runId?.slice('run-'.length)))),
    readContract: () => Promise.resolve({ contract, digest: 'k' }),
    readGaps: () => Promise.resolve([]),
    readObservation: () => Promise.resolve(null),
  };
  return part as ReceiptStore;
}

function standInReader(onDescribe: () => void): TemporalReader {
  const part: Partial<TemporalReader> = {
    count: () => Promise.resolve(ROWS),
    list: () => Promise.resolve({ runs: [], token: null }),
    async describe({ runId = '' }) {
      onDescribe();
      await Promise.resolve();
      return {
        runId,
        firstRunId: runId,
        workflowType: 'mission',
        failureTexts: {},
        description: {
          status: 'RUNNING',
          startedAtMs: NOW_MS - 7_200_000,
          closedAtMs: null,
          expiresAtMs: null,
          historyEvents: 10,
          historyBytes: 1_000,
          historyGrowthPerMinute: null,
          resetRunId: null,
          cancelRequested: false,
          taskQueue: 'q',
          paused: null,
          pendingActivities: [],
          pendingWorkflowTask: null,
          pendingChildren: [],
        },
      } satisfies DescribedRun;
    },
  };
  return part as TemporalReader;
}

const request: FleetRequest = {
  namespace: 'default',
  query: null,
  workflowType: null,
  describeLimit: 500,
  closedWithinMs: 86_400_000,
};

const judge = (document: EvidenceDocument) => classify(document, document.policy, document.nowMs);
const isSuspect = (document: EvidenceDocument): boolean => judge(document).verdict === 'stuck';
// A hundred thousand judgements take their time on a busy machine.
vi.setConfig({ testTimeout: 240_000 });

function collectGarbage(): number {
  setFlagsFromString('--expose_gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

describe('a report over 100,000 chains', () => {
  it('holds no more at the end than near the beginning, and yields before the last page is read', async () => {
    let pages = 0;
    let describing = 0;
    let mostAtOnce = 0;
    let described = 0;
    const reader = standInReader(() => {
      described += 1;
      describing += 1;
      mostAtOnce = Math.max(mostAtOnce, describing);
      queueMicrotask(() => (describing -= 1));
    });
    const sources: Sources = {
      clusterId: 'c',
      temporal: reader,
      store: standInStore(() => (pages += 1)),
      policy: DEFAULT_POLICY,
      judge: null,
      localNowMs: () => NOW_MS,
    };
    const tally = new Tally(30);
    const runs = gatherFleet(request, sources, isSuspect);
    let heapEarly = 0;
    let pagesAtFirst = 0;
    let met = 0;
    let lastId = '';
    let inStoreOrder = true;
    let next = await runs.next();
    for (; !next.done; next = await runs.next()) {
      const { document } = next.value;
      tally.add(reportRow(document, judge(document)), true);
      inStoreOrder &&= document.run.workflowId > lastId;
      lastId = document.run.workflowId;
      met += 1;
      if (met === 1) pagesAtFirst = pages;
      if (met === 10_000) heapEarly = collectGarbage();
    }
    expect(met).toBe(ROWS);
    expect(inStoreOrder).toBe(true);
    expect(pagesAtFirst).toBe(1);
    expect(collectGarbage() - heapEarly).toBeLessThan(16 * 1024 * 1024);
    expect(described).toBe(500);
    expect(mostAtOnce).toBeLessThanOrEqual(10);
    expect(next.value).toMatchObject({ notDescribed: ROWS / 10 - 500, leftOut: ROWS, errors: [] });
    expect(tally.counts().byVerdict).toMatchObject({ stuck: ROWS / 10, working: ROWS - ROWS / 10 });
    expect(tally.worst()).toHaveLength(30);
    expect(tally.notShown()).toBe(ROWS - 30);
  });
});
