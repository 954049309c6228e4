/**
 * The evidence document: all that a classifier may see, and what could not be read. `explain --export` writes it,
 * `classify` reads it, and its JSON Schema is published (`schemas/evidence.v1.json`).
 *
 * All times are epoch milliseconds; a time that Temporal leaves unset (≤ 0, the year 0001) is null. No payloads: failure
 * texts of users' code stay out, their types stay in.
 */
import type { Contract } from '../receipts/contract.ts';
import type { RunIdentity, StoredReceipt } from '../receipts/envelope.ts';
import type { ChainRow } from '../receipts/state.ts';
import type { Policy } from './policy.ts';
import type { Reason, Verdict } from './verdict.ts';

export const EVIDENCE_SCHEMA_VERSION = 1;

export const RUN_STATUSES = [
  'RUNNING',
  'COMPLETED',
  'FAILED',
  'CANCELED',
  'TERMINATED',
  'CONTINUED_AS_NEW',
  'TIMED_OUT',
  'PAUSED',
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const ACTIVITY_STATES = ['SCHEDULED', 'STARTED', 'CANCEL_REQUESTED', 'PAUSE_REQUESTED', 'PAUSED'] as const;
export type ActivityState = (typeof ACTIVITY_STATES)[number];

export interface Failure {
  /** The failure's own type (`HttpStatus`, `Timeout`), or Temporal's kind where it has none. */
  readonly type: string;
  readonly nonRetryable: boolean;
}

export interface PauseState {
  readonly by: string | null;
  readonly reason: string | null;
  readonly sinceMs: number | null;
}

export interface PendingActivity {
  readonly activityId: string;
  readonly activityType: string;
  readonly state: ActivityState;
  readonly attempt: number;
  /** 0 is unlimited. */
  readonly maximumAttempts: number;
  readonly scheduledAtMs: number | null;
  /** Of the current attempt; null while it waits to start. */
  readonly lastStartedAtMs: number | null;
  /** May be of an earlier attempt: it counts only if it is not before lastStartedAtMs. */
  readonly lastHeartbeatAtMs: number | null;
  readonly heartbeatTimeoutMs: number | null;
  readonly nextAttemptAtMs: number | null;
  /** When the attempt before the current one ended; null or absent where there was none or nobody told it. */
  readonly lastAttemptEndedAtMs?: number | null;
  /** When schedule-to-close ends it. */
  readonly expiresAtMs: number | null;
  readonly lastFailure: Failure | null;
  readonly lastWorkerIdentity: string | null;
  readonly taskQueue: string | null;
  readonly paused: PauseState | null;
}

export interface PendingWorkflowTask {
  readonly attempt: number;
  readonly scheduledAtMs: number | null;
  readonly started: boolean;
  /** Type of the last failure where the server tells it, e.g. `WorkflowTaskFailed`. */
  readonly problem: string | null;
}

export interface PendingChild {
  readonly workflowId: string;
  readonly runId: string | null;
  readonly workflowType: string;
}

/** What DescribeWorkflowExecution said. */
export interface Description {
  readonly status: RunStatus;
  readonly startedAtMs: number;
  readonly closedAtMs: number | null;
  /** The earliest of Temporal's run and execution expiries. */
  readonly expiresAtMs: number | null;
  readonly historyEvents: number;
  readonly historyBytes: number;
  /** Events per minute where two observations tell it. */
  readonly historyGrowthPerMinute: number | null;
  /** The run that a reset put in this one's place. */
  readonly resetRunId: string | null;
  readonly cancelRequested: boolean;
  readonly taskQueue: string | null;
  readonly paused: PauseState | null;
  readonly pendingActivities: readonly PendingActivity[];
  readonly pendingWorkflowTask: PendingWorkflowTask | null;
  readonly pendingChildren: readonly PendingChild[];
}

/** The last event of a closed run. */
export interface CloseEvent {
  readonly status: RunStatus;
  readonly atMs: number;
  /** Who terminated or asked to cancel it; the server's own identities are `history-service` and `history-resetter`. */
  readonly identity: string | null;
  readonly reason: string | null;
  readonly failure: Failure | null;
  /** The run that followed it (continue-as-new, retry, cron). */
  readonly successorRunId: string | null;
}

export interface TaskQueueState {
  readonly name: string;
  readonly kind: 'workflow' | 'activity';
  /** Newest poll by anybody; null where nobody polled lately. */
  readonly lastPollAtMs: number | null;
  readonly backlogCount: number;
  readonly backlogAgeMs: number;
}

/** What the visibility list said; it may find runs, it never outranks Describe. */
export interface Listed {
  readonly status: RunStatus;
  readonly startedAtMs: number;
  readonly closedAtMs: number | null;
}

export type TemporalState =
  | {
      readonly source: 'describe';
      readonly observedAtMs: number;
      readonly describe: Description;
      readonly closeEvent: CloseEvent | null;
      readonly taskQueues: readonly TaskQueueState[];
      readonly listed: Listed | null;
    }
  /** Nobody asked: a report may judge from the store and the list. */
  | { readonly source: 'not-asked'; readonly listed: Listed | null }
  /** It was asked and did not answer. */
  | { readonly source: 'unread'; readonly code: string; readonly listed: Listed | null }
  /** It answered that it has no such run. */
  | { readonly source: 'not-found'; readonly listed: Listed | null };

export const STOP_SCOPES = ['local', 'remote', 'child'] as const;
export type StopScope = (typeof STOP_SCOPES)[number];
export const STOP_STATES = ['requested', 'confirmed', 'refused', 'unknown'] as const;
export type StopState = (typeof STOP_STATES)[number];

export interface Stop {
  readonly stopId: string;
  readonly scope: StopScope;
  readonly target: string | null;
  readonly state: StopState;
  readonly requestedAtMs: number;
  readonly by: string | null;
}

export interface ChildEvidence {
  readonly workflowId: string;
  readonly runId: string | null;
  /** Null where nobody judged it; it then decides nothing and is a finding. */
  readonly verdict: Verdict | null;
  readonly reason: Reason | null;
}

/** What an admitted plan says of its units: the yardstick of coverage. */
export interface PlanCoverage {
  readonly units: number;
  readonly committed: number;
  readonly failed: number;
  readonly unclaimed: number;
}

export const EVIDENCE_SOURCES = [
  'store',
  'describe',
  'close-event',
  'task-queue',
  'contract',
  'children',
  'receipts',
] as const;
export type EvidenceSource = (typeof EVIDENCE_SOURCES)[number];

/** A source that was asked and could not be read. */
export interface Unread {
  readonly source: EvidenceSource;
  /** The error's code, e.g. `STORE_UNAVAILABLE`. */
  readonly code: string;
}

/** A time in which receipts could not be recorded; `untilMs` is null while it lasts. */
export interface Outage {
  readonly workerId: string;
  readonly fromMs: number;
  readonly untilMs: number | null;
}

export interface Evidence {
  readonly schemaVersion: typeof EVIDENCE_SCHEMA_VERSION;
  readonly run: RunIdentity;
  /** Of the mission in force; null where the workflow has none. */
  readonly missionFingerprint: string | null;
  readonly temporal: TemporalState;
  /** The chain's row; null where the store has none, or where `receipts` are given to fold instead. */
  readonly chain: ChainRow | null;
  /** Receipts that fold to the row; foreign ones are dropped and named. Null where the row is given. */
  readonly receipts: readonly StoredReceipt[] | null;
  /** False where no store was asked at all (a namespace nobody prepared): then nothing is concluded from silence. */
  readonly storeAsked: boolean;
  readonly stops: readonly Stop[];
  readonly children: readonly ChildEvidence[];
  readonly plan: PlanCoverage | null;
  readonly contract: Contract | null;
  readonly unread: readonly Unread[];
  readonly gaps: readonly Outage[];
}

/** Evidence with the policy and the moment to judge it by: the published document. */
export interface EvidenceDocument extends Evidence {
  readonly policy: Policy;
  /** When the evidence was gathered, on the store's clock; `classify FILE` judges at this moment. */
  readonly nowMs: number;
}
