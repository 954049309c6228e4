/**
 * A short case in, a whole evidence document out.
 *
 * A case says only what it is about; everything else has the defaults below. Times are text relative to the moment of
 * judging (`-4m`, `+2h`, `-5h50m`, `-60.05s`, `now`), lengths of time are text without a sign (`60s`). An unknown key is
 * refused, so that a misspelt one cannot make a case pass.
 *
 * Defaults: judged at 2026-06-01T12:00:00Z; workflow `wf-1`, run and chain `R1`, type `mission`, started one hour ago;
 * default policy; a contract that owes one deliverable, `report`, at the destination `file`, checked by `file-digest`;
 * the run's budget ends in two hours; nothing pending, nothing listed, no receipts.
 */
import type { z } from 'zod';
import type { Contract, ContractDeliverable } from '../../receipts/contract.ts';
import type {
  CloseEvent,
  Description,
  EvidenceDocument,
  PauseState,
  PendingActivity,
  RunStatus,
  TemporalState,
} from '../../health/evidence.ts';
import { digestJson } from '../../receipts/digest.ts';
import { foldChain } from '../../receipts/fold.ts';
import { DEFAULT_POLICY } from '../../health/policy.ts';
import type { Policy } from '../../health/policy.ts';
import { givenSchema } from './given.ts';
import type { Given, activitySchema, closeEventSchema, pauseSchema } from './given.ts';
import { buildReceipts } from './receipts.ts';
import { lengthMs, NOW_MS, optionalTimeMs, timeMs } from './times.ts';

const OPEN: readonly RunStatus[] = ['RUNNING', 'PAUSED'];

const REPORT: ContractDeliverable = { destination: 'file', check: { name: 'file-digest', options: {} } };

/** The default contract with the run's budget ending at `deadlineMs`; null for none. */
function contractOf(given: Given, startedAtMs: number, nowMs: number): Contract | null {
  if (given.contract === null) return null;
  const { milestones, effects, deliverables, budgets } = given.contract ?? {};
  const deadlineMs = given.deadline === undefined ? timeMs('+2h', nowMs) : optionalTimeMs(given.deadline, nowMs);
  return {
    schemaVersion: 1,
    workflowType: given.run?.type ?? 'mission',
    milestones: (milestones ?? {}) as Contract['milestones'],
    effects: (effects ?? {}) as Contract['effects'],
    deliverables: (deliverables ?? { report: REPORT }) as Contract['deliverables'],
    budgets: {
      ...(deadlineMs === null ? {} : { runMs: Math.max(0, deadlineMs - startedAtMs) }),
      ...(budgets as Contract['budgets'] | undefined),
    },
  };
}

function policyOf(given: Given): Policy {
  const { ['retry']: retry, ['history']: history, ...rest } = given.policy ?? {};
  return {
    ...DEFAULT_POLICY,
    ...rest,
    retry: { ...DEFAULT_POLICY.retry, ...(retry as Partial<Policy['retry']> | undefined) },
    history: { ...DEFAULT_POLICY.history, ...(history as Partial<Policy['history']> | undefined) },
  };
}

function pauseOf(pause: z.infer<typeof pauseSchema> | null | undefined, nowMs: number): PauseState | null {
  if (pause === null || pause === undefined) return null;
  return { by: pause.by ?? null, reason: pause.reason ?? null, sinceMs: optionalTimeMs(pause.since, nowMs) };
}

function activityOf(activity: z.infer<typeof activitySchema>, nowMs: number): PendingActivity {
  const waiting = activity.state === 'SCHEDULED' || activity.state === 'PAUSED';
  const { failure } = activity;
  return {
    activityId: activity.id,
    activityType: activity.type ?? 'step',
    state: activity.state ?? 'STARTED',
    attempt: activity.attempt ?? 1,
    maximumAttempts: activity.maximumAttempts ?? 0,
    scheduledAtMs: timeMs(activity.scheduled ?? activity.started ?? '-1m', nowMs),
    lastStartedAtMs: optionalTimeMs(activity.started ?? (waiting ? null : '-1m'), nowMs),
    lastHeartbeatAtMs: optionalTimeMs(activity.heartbeat, nowMs),
    heartbeatTimeoutMs: activity.heartbeatTimeout === undefined ? null : lengthMs(activity.heartbeatTimeout),
    nextAttemptAtMs: optionalTimeMs(activity.next, nowMs),
    ...(activity.ended === undefined ? {} : { lastAttemptEndedAtMs: optionalTimeMs(activity.ended, nowMs) }),
    expiresAtMs: optionalTimeMs(activity.expires, nowMs),
    lastFailure:
      failure === undefined ? null : typeof failure === 'string' ? { type: failure, nonRetryable: false } : failure,
    lastWorkerIdentity: activity.worker ?? null,
    taskQueue: activity.queue ?? 'main',
    paused: pauseOf(activity.paused, nowMs),
  };
}

function describeOf(given: Given, startedAtMs: number, closedAtMs: number | null, nowMs: number): Description {
  const task = given.workflowTask;
  const children = given.pendingChildren ?? (given.children ?? []).map(({ workflowId }) => ({ workflowId }));
  return {
    status: given.status ?? 'RUNNING',
    startedAtMs,
    closedAtMs,
    expiresAtMs: optionalTimeMs(given.expires, nowMs),
    historyEvents: given.historyEvents ?? 120,
    historyBytes: given.historyBytes ?? 60_000,
    historyGrowthPerMinute: given.historyGrowth ?? null,
    resetRunId: given.resetRunId ?? null,
    cancelRequested: given.cancelRequested ?? false,
    taskQueue: 'main',
    paused: pauseOf(given.paused, nowMs),
    pendingActivities: (given.activities ?? []).map((activity) => activityOf(activity, nowMs)),
    pendingWorkflowTask:
      task === undefined
        ? null
        : {
            attempt: task.attempt ?? 1,
            scheduledAtMs: timeMs(task.scheduled ?? '-1s', nowMs),
            started: task.started ?? false,
            problem: task.problem ?? null,
          },
    pendingChildren: children.map(
      ({ workflowId, runId, type }: { workflowId: string; runId?: string; type?: string }) => ({
        workflowId,
        runId: runId ?? null,
        workflowType: type ?? 'child',
      }),
    ),
  };
}

function closeEventOf(
  given: Given,
  close: z.infer<typeof closeEventSchema> | undefined,
  closedAtMs: number | null,
  nowMs: number,
): CloseEvent | null {
  if (given.closeEvent === null || (closedAtMs === null && close === undefined)) return null;
  const status = close?.status ?? given.status ?? 'COMPLETED';
  return {
    status,
    atMs: close?.at === undefined ? (closedAtMs ?? nowMs) : timeMs(close.at, nowMs),
    identity: close?.identity ?? null,
    reason: close?.reason ?? null,
    failure: close?.failure === undefined ? null : { type: close.failure, nonRetryable: false },
    successorRunId: close?.successor ?? null,
  };
}

function temporalOf(given: Given, startedAtMs: number, nowMs: number): TemporalState {
  const listed =
    given.listed === undefined
      ? null
      : {
          status: given.listed.status,
          startedAtMs: timeMs(given.listed.started ?? startedAtMs, nowMs),
          closedAtMs: optionalTimeMs(given.listed.closed, nowMs),
        };
  if (given.temporal === 'not-asked') return { source: 'not-asked', listed };
  if (given.temporal === 'not-found') return { source: 'not-found', listed };
  if (given.temporal !== undefined) return { source: 'unread', code: given.temporal.unread, listed };
  const isClosed = !OPEN.includes(given.status ?? 'RUNNING');
  const closedAtMs = isClosed ? timeMs(given.closed ?? '-1m', nowMs) : null;
  return {
    source: 'describe',
    observedAtMs: nowMs,
    describe: describeOf(given, startedAtMs, closedAtMs, nowMs),
    closeEvent: closeEventOf(given, given.closeEvent ?? undefined, closedAtMs, nowMs),
    taskQueues: (given.queues ?? []).map((queue) => ({
      name: queue.name ?? 'main',
      kind: queue.kind ?? 'activity',
      lastPollAtMs: optionalTimeMs(queue.lastPoll, nowMs),
      backlogCount: queue.backlog ?? 1,
      backlogAgeMs: lengthMs(queue.backlogAge ?? '0s'),
    })),
    listed,
  };
}

/** The whole document of a short case. */
export function evidenceOf(short: unknown): EvidenceDocument {
  return documentOf(givenSchema.parse(short));
}

/** The same of a short case that was read already. */
export function documentOf(given: Given): EvidenceDocument {
  const nowMs = given.now === undefined ? NOW_MS : timeMs(given.now);
  const startedAtMs = timeMs(given.started ?? '-1h', nowMs);
  const runId = given.run?.runId ?? 'R1';
  return {
    schemaVersion: 1,
    run: {
      clusterId: 'cluster-1',
      namespace: 'default',
      workflowId: given.run?.workflowId ?? 'wf-1',
      runId,
      chainId: given.run?.chain ?? runId,
      workflowType: given.run?.type ?? 'mission',
    },
    missionFingerprint: given.mission ?? null,
    temporal: temporalOf(given, startedAtMs, nowMs),
    chain: null,
    receipts: given.receipts === null ? null : buildReceipts(given, startedAtMs, nowMs),
    storeAsked: given.storeAsked ?? true,
    stops: (given.stops ?? []).map((stop) => ({
      stopId: stop.stop,
      scope: stop.scope ?? 'local',
      target: stop.target ?? null,
      state: stop.state,
      requestedAtMs: timeMs(stop.at, nowMs),
      by: stop.by === undefined ? 'ops' : stop.by,
    })),
    children: (given.children ?? []).map((child) => ({
      workflowId: child.workflowId,
      runId: child.runId ?? null,
      verdict: child.verdict,
      reason: child.reason ?? null,
    })),
    plan: given.plan ?? null,
    contract: contractOf(given, startedAtMs, nowMs),
    unread: (given.unread ?? []).map(({ source, code }) => ({ source, code: code ?? 'STORE_UNAVAILABLE' })),
    gaps: (given.gaps ?? []).map((gap) => ({
      workerId: gap.worker ?? 'worker-1',
      fromMs: timeMs(gap.from, nowMs),
      untilMs: optionalTimeMs(gap.until, nowMs),
    })),
    policy: policyOf(given),
    nowMs,
  };
}

/** The same evidence with the row that the store keeps of it in the place of the receipts. */
export function asRow(document: EvidenceDocument): EvidenceDocument {
  const { clusterId, namespace, workflowId, chainId } = document.run;
  const own = (document.receipts ?? []).filter(
    (receipt) =>
      receipt.clusterId === clusterId &&
      receipt.namespace === namespace &&
      receipt.workflowId === workflowId &&
      receipt.chainId === chainId,
  );
  const row = foldChain(own, document.contract === null ? null : digestJson(document.contract));
  return { ...document, receipts: null, chain: row };
}
