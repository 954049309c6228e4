/**
 * The shapes of `health/{evidence,policy,judgement}.ts` as strict zod schemas: what is published as JSON Schema and what
 * `health/parse.ts` reads with. `satisfies` holds each equal to its TypeScript type in one direction,
 * `test/unit/health/parse.test.ts` in the other.
 */
import { z } from 'zod';
import { chainRowSchema, contractSchema, storedReceiptSchema } from '../receipts/parse.ts';
import {
  ACTIVITY_STATES,
  EVIDENCE_SCHEMA_VERSION,
  EVIDENCE_SOURCES,
  RUN_STATUSES,
  STOP_SCOPES,
  STOP_STATES,
} from './evidence.ts';
import type { Description, EvidenceDocument, TemporalState } from './evidence.ts';
import { JUDGEMENT_SCHEMA_VERSION } from './judgement.ts';
import type { Judgement } from './judgement.ts';
import type { Policy } from './policy.ts';
import { ACTIONS, ALL_REASONS, DISPOSITIONS, FORBIDDEN, VERDICTS } from './verdict.ts';

const identity = z.string().min(1).max(1000).regex(/\S/);
/** An identity, or '' where no source told it: a run that nobody could read has no run id. */
const knownOrEmpty = z.string().max(1000);
const label = z.string().max(1000);
/** Epoch ms. What Temporal leaves unset (≤ 0) is null in a document, so that no age is ever counted from 1970. */
const timeMs = z.int().positive();
const whole = z.int().nonnegative();
const lengthMs = z.int().nonnegative();
const nullable = <T extends z.ZodType>(schema: T): z.ZodNullable<T> => schema.nullable();

const failure = z.strictObject({ type: label, nonRetryable: z.boolean() });
const pause = z.strictObject({ by: nullable(label), reason: nullable(label), sinceMs: nullable(timeMs) });

const pendingActivity = z.strictObject({
  activityId: identity,
  activityType: label,
  state: z.enum(ACTIVITY_STATES),
  attempt: z.int().min(1),
  maximumAttempts: whole,
  scheduledAtMs: nullable(timeMs),
  lastStartedAtMs: nullable(timeMs),
  lastHeartbeatAtMs: nullable(timeMs),
  heartbeatTimeoutMs: nullable(z.int().positive()),
  nextAttemptAtMs: nullable(timeMs),
  lastAttemptEndedAtMs: nullable(timeMs).exactOptional(),
  expiresAtMs: nullable(timeMs),
  lastFailure: nullable(failure),
  lastWorkerIdentity: nullable(label),
  taskQueue: nullable(label),
  paused: nullable(pause),
});

const pendingWorkflowTask = z.strictObject({
  attempt: z.int().min(1),
  scheduledAtMs: nullable(timeMs),
  started: z.boolean(),
  problem: nullable(label),
});

const description = z.strictObject({
  status: z.enum(RUN_STATUSES),
  startedAtMs: timeMs,
  closedAtMs: nullable(timeMs),
  expiresAtMs: nullable(timeMs),
  historyEvents: whole,
  historyBytes: whole,
  historyGrowthPerMinute: nullable(z.number().nonnegative()),
  resetRunId: nullable(identity),
  cancelRequested: z.boolean(),
  taskQueue: nullable(label),
  paused: nullable(pause),
  pendingActivities: z.array(pendingActivity),
  pendingWorkflowTask: nullable(pendingWorkflowTask),
  pendingChildren: z.array(z.strictObject({ workflowId: identity, runId: nullable(identity), workflowType: label })),
}) satisfies z.ZodType<Description>;

const closeEvent = z.strictObject({
  status: z.enum(RUN_STATUSES),
  atMs: timeMs,
  identity: nullable(label),
  reason: nullable(label),
  failure: nullable(failure),
  successorRunId: nullable(identity),
});

const taskQueue = z.strictObject({
  name: label,
  kind: z.enum(['workflow', 'activity']),
  lastPollAtMs: nullable(timeMs),
  backlogCount: whole,
  backlogAgeMs: lengthMs,
});

const listed = z
  .strictObject({ status: z.enum(RUN_STATUSES), startedAtMs: timeMs, closedAtMs: nullable(timeMs) })
  .nullable();

const temporal = z.discriminatedUnion('source', [
  z.strictObject({
    source: z.literal('describe'),
    observedAtMs: timeMs,
    describe: description,
    closeEvent: nullable(closeEvent),
    taskQueues: z.array(taskQueue),
    listed,
  }),
  z.strictObject({ source: z.literal('not-asked'), listed }),
  z.strictObject({ source: z.literal('unread'), code: label, listed }),
  z.strictObject({ source: z.literal('not-found'), listed }),
]) satisfies z.ZodType<TemporalState>;

const stop = z.strictObject({
  stopId: identity,
  scope: z.enum(STOP_SCOPES),
  target: nullable(label),
  state: z.enum(STOP_STATES),
  requestedAtMs: timeMs,
  by: nullable(label),
});

const child = z.strictObject({
  workflowId: identity,
  runId: nullable(identity),
  verdict: nullable(z.enum(VERDICTS)),
  reason: nullable(z.enum(ALL_REASONS)),
});

const plan = z.strictObject({ units: whole, committed: whole, failed: whole, unclaimed: whole });

export const policySchema = z.strictObject({
  milestoneFreshMs: lengthMs,
  heartbeatFreshMs: lengthMs,
  startupGraceMs: lengthMs,
  effectWindowMs: lengthMs,
  stopGraceMs: lengthMs,
  resumeGraceMs: lengthMs,
  skewMs: lengthMs,
  gapGraceMs: lengthMs,
  noPollerGraceMs: lengthMs,
  workflowTaskAttempts: z.int().min(1),
  permanentFailureTypes: z.array(identity),
  retry: z.strictObject({
    maxAttempts: z.int().min(1),
    attemptEstimateMs: lengthMs,
    reconcileReserveMs: lengthMs,
    verifyReserveMs: lengthMs,
  }),
  history: z.strictObject({
    warnEvents: z.int().min(1),
    hardEvents: z.int().min(1),
    warnBytes: z.int().min(1),
    hardBytes: z.int().min(1),
  }),
}) satisfies z.ZodType<Policy>;

export const evidenceSchema = z.strictObject({
  schemaVersion: z.literal(EVIDENCE_SCHEMA_VERSION),
  run: z.strictObject({
    clusterId: identity,
    namespace: identity,
    workflowId: identity,
    runId: knownOrEmpty,
    chainId: knownOrEmpty,
    workflowType: knownOrEmpty,
  }),
  missionFingerprint: nullable(identity),
  temporal,
  chain: nullable(chainRowSchema),
  receipts: nullable(z.array(storedReceiptSchema)),
  storeAsked: z.boolean(),
  stops: z.array(stop),
  children: z.array(child),
  plan: nullable(plan),
  contract: nullable(contractSchema),
  unread: z.array(z.strictObject({ source: z.enum(EVIDENCE_SOURCES), code: label })),
  gaps: z.array(z.strictObject({ workerId: identity, fromMs: timeMs, untilMs: nullable(timeMs) })),
  policy: policySchema,
  nowMs: timeMs,
}) satisfies z.ZodType<EvidenceDocument>;

const fact = z.strictObject({
  ref: z.string(),
  field: z.string(),
  value: z.union([z.string(), z.number(), z.boolean(), z.null()]),
});

export const judgementSchema = z.strictObject({
  schemaVersion: z.literal(JUDGEMENT_SCHEMA_VERSION),
  workflowId: z.string(),
  runId: z.string(),
  verdict: nullable(z.enum(VERDICTS)),
  reason: z.enum(ALL_REASONS),
  disposition: z.enum(DISPOSITIONS),
  message: z.string(),
  decisive: z.array(fact),
  safeAction: z.enum(ACTIONS),
  forbidden: z.array(z.enum(FORBIDDEN)),
  findings: z.array(z.strictObject({ finding: z.string(), message: z.string(), facts: z.array(fact) })),
  confidence: z.union([
    z.literal('deterministic'),
    z.strictObject({ judged: z.string(), confidence: z.number().min(0).max(1) }),
  ]),
  evidenceVersion: nullable(whole),
  ruleVersion: z.string(),
  judgedAtMs: timeMs,
  validUntilMs: nullable(timeMs),
}) satisfies z.ZodType<Judgement>;
