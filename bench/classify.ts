/**
 * What a judgement costs beside what it needs anyway: the read of the run's row by its key.
 *
 *   read      one chain row by workflow id, awaited, from a store that holds 1,000 open runs
 *   classify  the judgement of that row, with a description of the run as Temporal gives it
 */
import { classify as judge } from '../health/classify.ts';
import type { EvidenceDocument } from '../health/evidence.ts';
import { DEFAULT_POLICY } from '../health/policy.ts';
import { VERDICTS } from '../health/verdict.ts';
import { defineContract } from '../receipts/contract.ts';
import { migrate, openPostgresStore } from '../receipts/postgres/index.ts';
import type { ChainRow } from '../receipts/state.ts';
import type { ReceiptStore } from '../receipts/store.ts';
import { connect, emitByHand } from './raw-statements.ts';
import { Fleet, FLEET } from './receipt-script.ts';
import type { BenchOptions, BenchReport } from './report.ts';
import { benchPostgres } from './servers.ts';
import { figure, medianOf, ratiosOf, showSpread, spreadOf } from './spread.ts';

const READS = 500;
/** Judgements for each read: one alone is too short for the clock. */
const REPEATS = 20;

const { contract } = defineContract({
  workflowType: FLEET.workflowType,
  milestones: { 'sources-found': { fresh: '10m' }, 'sources-checked': { fresh: '10m' } },
  effects: { reserve: { due: 'once', levels: ['settled'] }, send: { due: 'any' } },
  deliverables: { report: { destination: 'file', noDeterministicCheck: 'measured here' } },
  budgets: { run: '2h' },
});

interface Round {
  readonly readUs: number;
  readonly classifyUs: number;
}

export async function classify({ rounds, quick, note }: BenchOptions): Promise<BenchReport> {
  const server = await benchPostgres();
  try {
    await migrate(server.address);
    const client = await connect(server.address);
    try {
      for (const receipts of new Fleet(1).beginnings()) await emitByHand(client, FLEET.clusterId, receipts);
    } finally {
      await client.end();
    }
    const store = openPostgresStore({ url: server.address, clusterId: FLEET.clusterId });
    try {
      const { rows } = await store.listChains({ namespace: FLEET.namespace, limit: quick ? READS / 10 : READS });
      const documents = rows.map(documentOf);
      const measured: Round[] = [];
      for (let round = 0; round <= rounds; round += 1) {
        note(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
        const one = { readUs: await timeReads(store, rows), classifyUs: timeJudgements(documents) };
        if (round > 0) measured.push(one);
      }
      return reportOf(measured, documents, await countRead(store, rows));
    } finally {
      await store.close();
    }
  } finally {
    await server.stop();
  }
}

const readRow = (store: ReceiptStore, { namespace, workflowId, runId }: ChainRow): Promise<ChainRow | null> =>
  store.readChain({ namespace, workflowId, runId });

async function timeReads(store: ReceiptStore, rows: readonly ChainRow[]): Promise<number> {
  const startedAt = performance.now();
  for (const row of rows) await readRow(store, row);
  return ((performance.now() - startedAt) / rows.length) * 1_000;
}

function timeJudgements(documents: readonly EvidenceDocument[]): number {
  const startedAt = performance.now();
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    for (const document of documents) judge(document, document.policy, document.nowMs);
  }
  return ((performance.now() - startedAt) / (REPEATS * documents.length)) * 1_000;
}

async function countRead(store: ReceiptStore, rows: readonly ChainRow[]): Promise<number> {
  let found = 0;
  for (const row of rows) found += (await readRow(store, row))?.chainId === row.chainId ? 1 : 0;
  return found;
}

function documentOf(row: ChainRow): EvidenceDocument {
  const nowMs = row.lastReceiptAtMs + 1_000;
  const { clusterId, namespace, workflowId, runId, chainId, workflowType, missionFingerprint } = row;
  return {
    ...{ schemaVersion: 1, run: { clusterId, namespace, workflowId, runId, chainId, workflowType } },
    missionFingerprint,
    temporal: {
      ...{ source: 'describe', observedAtMs: nowMs, closeEvent: null, taskQueues: [], listed: null },
      describe: {
        ...{ status: 'RUNNING', startedAtMs: row.runStartedAtMs, closedAtMs: null, expiresAtMs: null },
        ...{ historyEvents: 120, historyBytes: 60_000, historyGrowthPerMinute: null, resetRunId: null },
        ...{ cancelRequested: false, taskQueue: 'main', paused: null, pendingWorkflowTask: null, pendingChildren: [] },
        pendingActivities: [
          {
            ...{ activityId: '3', activityType: 'step3', state: 'STARTED', attempt: 1, maximumAttempts: 0 },
            ...{ scheduledAtMs: row.runStartedAtMs, lastStartedAtMs: row.runStartedAtMs, lastHeartbeatAtMs: nowMs },
            ...{ heartbeatTimeoutMs: 30_000, nextAttemptAtMs: null, expiresAtMs: null, lastFailure: null },
            ...{ lastWorkerIdentity: 'worker', taskQueue: 'main', paused: null },
          },
        ],
      },
    },
    ...{ chain: row, receipts: null, storeAsked: true, stops: [], children: [], plan: null, contract },
    ...{ unread: [], gaps: [], policy: DEFAULT_POLICY, nowMs },
  };
}

function reportOf(measured: readonly Round[], documents: readonly EvidenceDocument[], read: number): BenchReport {
  const reads = measured.map(({ readUs }) => readUs);
  const judgements = measured.map(({ classifyUs }) => classifyUs);
  const verdicts = documents.map((document) => judge(document, document.policy, document.nowMs).verdict);
  const judged = verdicts.filter((verdict) => verdict !== null && VERDICTS.includes(verdict)).length;
  return {
    figures: [
      ['variant', 'µs each (min / median / max)', 'a second'],
      ['read', showSpread(spreadOf(reads)), figure(1_000_000 / medianOf(reads))],
      ['classify', showSpread(spreadOf(judgements)), figure(1_000_000 / medianOf(judgements))],
    ],
    correctness: [
      { variant: 'read', holds: read === documents.length, line: `${documents.length} asked for, ${read} found` },
      { variant: 'classify', holds: judged === documents.length, line: `${documents.length} runs, ${judged} verdicts` },
    ],
    metrics: [
      {
        ...{ name: 'classifyVersusRead', meaning: 'one judgement / one keyed read of its row' },
        ...{ perRound: ratiosOf(judgements, reads), target: { atMost: 0.05 }, floor: { atMost: 0.2 } },
      },
    ],
  };
}
