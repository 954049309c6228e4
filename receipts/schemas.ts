/**
 * The shapes of `receipts/{receipt,envelope,contract,state}.ts` as strict zod schemas: what is published as JSON Schema,
 * what `receipts/parse.ts` reads with, and what an evidence document is composed from. `satisfies` holds each equal to its
 * TypeScript type in one direction, `test/unit/receipts/schemas.test.ts` in the other.
 *
 * Here is shape and size only; text, secrets and the rules of emission are in `inspect.ts` and `input.ts`.
 */
import { z } from 'zod';
import { CONTRACT_SCHEMA_VERSION, EFFECT_DUE } from './contract.ts';
import type { Contract } from './contract.ts';
import { RECEIPT_SCHEMA_VERSION } from './envelope.ts';
import type { Receipt, StoredReceipt } from './envelope.ts';
import {
  CHECK_RESULTS,
  COST_CAUSES,
  DESTINATION_VERDICTS,
  EFFECT_CLASSES,
  EFFECT_ROLES,
  EFFECT_STATES,
  RESUME_BY,
  VERDICT_SOURCES,
  WAIT_STATES,
} from './receipt.ts';
import type { ReceiptBodies, ReceiptKind } from './receipt.ts';
import type { ChainRow, ChainState } from './state.ts';

/** A receipt's note, in UTF-8 bytes: a longer one is cut, never refused. */
export const NOTE_BYTES = 200;

/** Temporal's ids are at most 1,000 characters; whatever is compared is at most that long and not blank. */
const identity = z.string().min(1).max(1000).regex(/\S/);
const label = z.string().max(1000);
const note = z.string().max(NOTE_BYTES);
const count = z.number().nonnegative();
const whole = z.int().nonnegative();
const epochMs = z.int();
const durationMs = z.int().nonnegative();
const sha256 = z.templateLiteral(['sha256:', z.string().regex(/^[0-9a-f]{64}$/)]);

const delta = z.strictObject({
  done: count.exactOptional(),
  of: count.exactOptional(),
  unit: label.exactOptional(),
  setDigest: identity.exactOptional(),
  ids: z.array(identity).max(64).exactOptional(),
  artifactDigest: identity.exactOptional(),
  invariant: z.strictObject({ name: identity, value: label }).exactOptional(),
});

const cost = z.strictObject({
  model: label.exactOptional(),
  tokens: whole.exactOptional(),
  amount: count.exactOptional(),
  currency: label.exactOptional(),
  cause: z.enum(COST_CAUSES),
});

const progressBody = z.strictObject({
  milestone: identity,
  digest: identity,
  delta: delta.exactOptional(),
  step: label.exactOptional(),
  expectByMs: epochMs.exactOptional(),
  end: label.exactOptional(),
  note: note.exactOptional(),
  cost: cost.exactOptional(),
});

const waitBody = z.strictObject({
  name: identity,
  // Empty or missing excuses nothing; it is still a receipt.
  owner: z.string().max(1000).nullable(),
  deadlineMs: epochMs.nullable(),
  resumeToken: z.string().max(1000).nullable(),
  resumeBy: z.enum(RESUME_BY),
  condition: label.exactOptional(),
  state: z.enum(WAIT_STATES),
  approvers: z.array(identity).max(64).exactOptional(),
  subjectDigest: identity.exactOptional(),
  reconciles: identity.exactOptional(),
  note: note.exactOptional(),
});

const destinationVerdict = z.strictObject({
  by: z.enum(VERDICT_SOURCES),
  kind: z.enum(DESTINATION_VERDICTS).exactOptional(),
  level: label.exactOptional(),
  resultDigest: identity.exactOptional(),
  reference: label.exactOptional(),
});

const effectBody = z.strictObject({
  operationId: identity,
  name: identity,
  state: z.enum(EFFECT_STATES),
  target: identity.exactOptional(),
  inputDigest: identity.exactOptional(),
  verdict: destinationVerdict.exactOptional(),
  class: z.enum(EFFECT_CLASSES).exactOptional(),
  role: z.enum(EFFECT_ROLES).exactOptional(),
  deliverable: identity.exactOptional(),
  protectedUntilMs: epochMs.exactOptional(),
});

const subject = z.strictObject({
  digest: sha256.exactOptional(),
  sizeBytes: whole.exactOptional(),
  count: whole.exactOptional(),
  version: label.exactOptional(),
});

const coverage = z.strictObject({
  expected: whole,
  accepted: whole,
  empty: whole.exactOptional(),
  excluded: whole.exactOptional(),
  excludedBy: label.exactOptional(),
});

const deliverableBody = z.strictObject({
  name: identity,
  destination: identity,
  check: identity,
  result: z.enum(CHECK_RESULTS),
  subject: subject.exactOptional(),
  coverage: coverage.exactOptional(),
  confidence: z.number().min(0).max(1).exactOptional(),
  cause: label.exactOptional(),
});

export const bodySchemas = {
  progress: progressBody,
  wait: waitBody,
  effect: effectBody,
  deliverable: deliverableBody,
} satisfies { [K in ReceiptKind]: z.ZodType<ReceiptBodies[K]> };

const runIdentity = {
  clusterId: identity,
  namespace: identity,
  workflowId: identity,
  runId: identity,
  chainId: identity,
  workflowType: identity,
};

const fence = {
  fence: whole.max(10 ** 15 - 1),
  attempt: z
    .int()
    .min(1)
    .max(10 ** 8 - 1),
};

const envelope = {
  schemaVersion: z.literal(RECEIPT_SCHEMA_VERSION),
  ...runIdentity,
  runStartedAtMs: epochMs,
  emitter: identity,
  activityType: identity.exactOptional(),
  ...fence,
  sequence: z
    .int()
    .min(1)
    .max(10 ** 8 - 1),
  missionFingerprint: identity.nullable(),
  occurredAtMs: epochMs,
  sanitised: z.literal(true).exactOptional(),
};

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const emitted = { ...envelope, receiptId: z.string().regex(UUID_V7) };
/** A document may name its receipts as it likes. */
const kept = { ...envelope, receiptId: identity, recordedAtMs: epochMs };

export const receiptSchemas = {
  progress: z.strictObject({ ...emitted, kind: z.literal('progress'), body: progressBody }),
  wait: z.strictObject({ ...emitted, kind: z.literal('wait'), body: waitBody }),
  effect: z.strictObject({ ...emitted, kind: z.literal('effect'), body: effectBody }),
  deliverable: z.strictObject({ ...emitted, kind: z.literal('deliverable'), body: deliverableBody }),
} satisfies { [K in ReceiptKind]: z.ZodType<Extract<Receipt, { kind: K }>> };

export const receiptSchema = z.discriminatedUnion('kind', [
  receiptSchemas.progress,
  receiptSchemas.wait,
  receiptSchemas.effect,
  receiptSchemas.deliverable,
]) satisfies z.ZodType<Receipt>;

export const storedReceiptSchema = z.discriminatedUnion('kind', [
  z.strictObject({ ...kept, kind: z.literal('progress'), body: progressBody }),
  z.strictObject({ ...kept, kind: z.literal('wait'), body: waitBody }),
  z.strictObject({ ...kept, kind: z.literal('effect'), body: effectBody }),
  z.strictObject({ ...kept, kind: z.literal('deliverable'), body: deliverableBody }),
]) satisfies z.ZodType<StoredReceipt>;

const checkDeclaration = z.strictObject({ name: identity, options: z.record(z.string(), z.unknown()) });

export const contractSchema = z.strictObject({
  schemaVersion: z.literal(CONTRACT_SCHEMA_VERSION),
  workflowType: identity,
  milestones: z.record(
    identity,
    z.strictObject({ freshMs: durationMs.exactOptional(), activityTypes: z.array(identity).exactOptional() }),
  ),
  effects: z.record(
    identity,
    z.strictObject({
      due: z.enum(EFFECT_DUE),
      class: z.enum(EFFECT_CLASSES).exactOptional(),
      levels: z.array(identity).min(1).exactOptional(),
      windowMs: durationMs.exactOptional(),
      owner: identity.exactOptional(),
    }),
  ),
  deliverables: z.record(
    identity,
    z.strictObject({
      destination: identity,
      check: checkDeclaration.nullable(),
      noDeterministicCheck: label.exactOptional(),
      minimumBytes: whole.exactOptional(),
      coverage: z.boolean().exactOptional(),
      freshMs: durationMs.exactOptional(),
      transports: z.array(identity).exactOptional(),
    }),
  ),
  budgets: z.strictObject({
    runMs: durationMs.exactOptional(),
    attempts: z.int().min(1).exactOptional(),
    attemptEstimateMs: durationMs.exactOptional(),
    reconcileMs: durationMs.exactOptional(),
    verifyMs: durationMs.exactOptional(),
  }),
}) satisfies z.ZodType<Contract>;

const milestoneState = z.strictObject({
  seen: z.array(z.tuple([z.string(), z.number(), z.string(), z.number().nullable()])),
  latestAtMs: z.number(),
  latestReceiptId: z.string(),
  step: z.string().nullable(),
  end: z.string().nullable(),
});

const waitEntry = z.strictObject({
  receiptId: z.string(),
  runId: z.string(),
  emitter: z.string(),
  name: z.string(),
  owner: z.string().nullable(),
  deadlineMs: z.number().nullable(),
  resumeToken: z.string().nullable(),
  resumeBy: z.enum(RESUME_BY),
  condition: z.string().nullable(),
  state: z.enum(WAIT_STATES),
  openedAtMs: z.number(),
  changedAtMs: z.number(),
  reconciles: z.string().nullable(),
});

const effectMark = z.strictObject({
  order: z.string(),
  atMs: z.number(),
  receiptId: z.string(),
  runId: z.string(),
  emitter: z.string(),
  attempt: z.int(),
});

const effectEntry = z.strictObject({
  operationId: z.string(),
  name: z.string(),
  role: z.enum(EFFECT_ROLES),
  deliverable: z.string().nullable(),
  target: z.string().nullable(),
  inputDigest: z.string().nullable(),
  class: z.enum(EFFECT_CLASSES).nullable(),
  attempted: effectMark.nullable(),
  unknown: effectMark.nullable(),
  verified: effectMark.nullable(),
  none: effectMark.nullable(),
  level: z.string().nullable(),
  resultDigest: z.string().nullable(),
  contradicted: z.boolean(),
  protectedUntilMs: z.number().nullable(),
});

const deliverableEntry = z.strictObject({
  receiptId: z.string(),
  runId: z.string(),
  order: z.string(),
  checkedAtMs: z.number(),
  destination: z.string(),
  check: z.string(),
  result: z.enum(CHECK_RESULTS),
  subject: subject.nullable(),
  coverage: coverage.nullable(),
  confidence: z.number().nullable(),
  cause: z.string().nullable(),
});

const missionState = z.strictObject({
  milestones: z.record(z.string(), milestoneState),
  waits: z.record(z.string(), waitEntry),
  deliverables: z.record(z.string(), z.record(z.string(), deliverableEntry)),
  resumedAtMs: z.number().nullable(),
});

const emitterGap = z.strictObject({
  runId: z.string(),
  emitter: z.string(),
  fence: z.int(),
  attempt: z.int(),
  missing: z.int(),
  sinceMs: z.number(),
});

const chainState = z.strictObject({
  missions: z.record(z.string(), missionState),
  effects: z.record(z.string(), effectEntry),
  settledOlder: z.record(z.string(), z.int()),
  emitterGaps: z.record(z.string(), emitterGap),
  newestFences: z.record(z.string(), z.string()),
  late: z.strictObject({ count: z.int(), receiptIds: z.array(z.string()) }),
}) satisfies z.ZodType<ChainState>;

export const chainRowSchema = z.strictObject({
  ...runIdentity,
  runStartedAtMs: epochMs,
  contractDigest: z.string().nullable(),
  missionFingerprint: z.string().nullable(),
  receiptCount: whole,
  firstReceiptAtMs: z.number(),
  lastReceiptAtMs: z.number(),
  evidenceVersion: whole,
  state: chainState,
}) satisfies z.ZodType<ChainRow>;
