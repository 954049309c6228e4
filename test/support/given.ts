/** The short form of a case's evidence, as a schema: what a case file may say. `evidence.ts` has the meaning and defaults. */
import { z } from 'zod';
import { ACTIVITY_STATES, EVIDENCE_SOURCES, RUN_STATUSES, STOP_SCOPES, STOP_STATES } from '../../health/evidence.ts';
import { ALL_REASONS, VERDICTS } from '../../health/verdict.ts';
import {
  CHECK_RESULTS,
  DESTINATION_VERDICTS,
  EFFECT_CLASSES,
  EFFECT_ROLES,
  EFFECT_STATES,
  RESUME_BY,
  VERDICT_SOURCES,
  WAIT_STATES,
} from '../../receipts/receipt.ts';

const time = z.union([z.string(), z.number()]);
const optionalTime = time.nullable().optional();
const text = z.string();

export const pauseSchema = z.strictObject({ by: text.optional(), reason: text.optional(), since: time.optional() });

export const activitySchema = z.strictObject({
  id: text,
  type: text.optional(),
  state: z.enum(ACTIVITY_STATES).optional(),
  attempt: z.number().optional(),
  maximumAttempts: z.number().optional(),
  scheduled: time.optional(),
  started: optionalTime,
  heartbeat: optionalTime,
  heartbeatTimeout: text.optional(),
  next: optionalTime,
  /** When the attempt before ended. */
  ended: optionalTime,
  expires: optionalTime,
  failure: z.union([text, z.strictObject({ type: text, nonRetryable: z.boolean() })]).optional(),
  worker: text.optional(),
  queue: text.optional(),
  paused: pauseSchema.optional(),
});

export const closeEventSchema = z.strictObject({
  status: z.enum(RUN_STATUSES).optional(),
  at: time.optional(),
  identity: text.optional(),
  reason: text.optional(),
  failure: text.optional(),
  successor: text.optional(),
});

/** Whose receipt it is, where it differs from the run's own. `series` repeats it: `p` with 2 to 4 is p2, p3, p4. */
const envelope = {
  at: time,
  recorded: time.optional(),
  workflow: text.optional(),
  run: text.optional(),
  chain: text.optional(),
  cluster: text.optional(),
  runStarted: time.optional(),
  emitter: text.optional(),
  fence: time.optional(),
  attempt: z.number().optional(),
  sequence: z.number().optional(),
  mission: text.nullable().optional(),
  series: z.strictObject({ first: z.number(), last: z.number(), every: text }).optional(),
};

export const receiptSchema = z.union([
  z.strictObject({
    progress: text,
    milestone: text.optional(),
    digest: text.optional(),
    step: text.optional(),
    expectBy: time.optional(),
    end: text.optional(),
    ...envelope,
  }),
  z.strictObject({
    wait: text,
    name: text.optional(),
    owner: text.nullable().optional(),
    deadline: optionalTime,
    token: text.nullable().optional(),
    state: z.enum(WAIT_STATES).optional(),
    resumeBy: z.enum(RESUME_BY).optional(),
    condition: text.optional(),
    reconciles: text.optional(),
    ...envelope,
  }),
  z.strictObject({
    effect: text,
    op: text,
    name: text.optional(),
    state: z.enum(EFFECT_STATES),
    by: z.enum(VERDICT_SOURCES).nullable().optional(),
    kind: z.enum(DESTINATION_VERDICTS).optional(),
    level: text.optional(),
    result: text.optional(),
    target: text.optional(),
    input: text.optional(),
    class: z.enum(EFFECT_CLASSES).optional(),
    role: z.enum(EFFECT_ROLES).optional(),
    deliverable: text.optional(),
    ...envelope,
  }),
  z.strictObject({
    deliverable: text,
    name: text.optional(),
    destination: text.optional(),
    check: text.optional(),
    result: z.enum(CHECK_RESULTS).optional(),
    size: z.number().nullable().optional(),
    count: z.number().optional(),
    digest: text.optional(),
    coverage: z
      .strictObject({
        expected: z.number(),
        accepted: z.number(),
        empty: z.number().optional(),
        excluded: z.number().optional(),
        excludedBy: text.optional(),
      })
      .optional(),
    confidence: z.number().optional(),
    cause: text.optional(),
    ...envelope,
  }),
]);
export type ShortReceipt = z.infer<typeof receiptSchema>;

export const givenSchema = z.strictObject({
  now: time.optional(),
  run: z
    .strictObject({
      workflowId: text.optional(),
      runId: text.optional(),
      chain: text.optional(),
      type: text.optional(),
    })
    .optional(),
  mission: text.nullable().optional(),
  started: time.optional(),
  status: z.enum(RUN_STATUSES).optional(),
  closed: time.optional(),
  expires: optionalTime,
  /** When the contract's run budget ends; null for no budget. */
  deadline: optionalTime,
  temporal: z.union([z.literal('not-asked'), z.literal('not-found'), z.strictObject({ unread: text })]).optional(),
  historyEvents: z.number().optional(),
  historyBytes: z.number().optional(),
  historyGrowth: z.number().optional(),
  resetRunId: text.optional(),
  cancelRequested: z.boolean().optional(),
  paused: pauseSchema.optional(),
  activities: z.array(activitySchema).optional(),
  workflowTask: z
    .strictObject({
      attempt: z.number().optional(),
      scheduled: time.optional(),
      started: z.boolean().optional(),
      problem: text.optional(),
    })
    .optional(),
  pendingChildren: z
    .array(z.strictObject({ workflowId: text, runId: text.optional(), type: text.optional() }))
    .optional(),
  closeEvent: closeEventSchema.nullable().optional(),
  queues: z
    .array(
      z.strictObject({
        name: text.optional(),
        kind: z.enum(['workflow', 'activity']).optional(),
        lastPoll: optionalTime,
        backlog: z.number().optional(),
        backlogAge: text.optional(),
      }),
    )
    .optional(),
  listed: z.strictObject({ status: z.enum(RUN_STATUSES), started: time.optional(), closed: optionalTime }).optional(),
  receipts: z.array(receiptSchema).nullable().optional(),
  storeAsked: z.boolean().optional(),
  stops: z
    .array(
      z.strictObject({
        stop: text,
        scope: z.enum(STOP_SCOPES).optional(),
        target: text.optional(),
        state: z.enum(STOP_STATES),
        at: time,
        by: text.nullable().optional(),
      }),
    )
    .optional(),
  children: z
    .array(
      z.strictObject({
        workflowId: text,
        runId: text.optional(),
        verdict: z.enum(VERDICTS).nullable(),
        reason: z.enum(ALL_REASONS).nullable().optional(),
      }),
    )
    .optional(),
  plan: z
    .strictObject({ units: z.number(), committed: z.number(), failed: z.number(), unclaimed: z.number() })
    .nullable()
    .optional(),
  /** Parts replace the default contract's parts; null for a type without a contract. */
  contract: z
    .strictObject({
      milestones: z.record(text, z.unknown()).optional(),
      effects: z.record(text, z.unknown()).optional(),
      deliverables: z.record(text, z.unknown()).optional(),
      budgets: z.record(text, z.unknown()).optional(),
    })
    .nullable()
    .optional(),
  policy: z.record(text, z.unknown()).optional(),
  unread: z.array(z.strictObject({ source: z.enum(EVIDENCE_SOURCES), code: text.optional() })).optional(),
  gaps: z.array(z.strictObject({ worker: text.optional(), from: time, until: optionalTime })).optional(),
});
export type Given = z.infer<typeof givenSchema>;
