/** Valid inputs and receipts that the tests of `receipts/` spoil one field at a time. */
import { HealthError } from '../../../receipts/errors.ts';
import type { BodyContext, BodyInputs } from '../../../receipts/input.ts';
import type { ReceiptKind } from '../../../receipts/receipt.ts';

export const NOW_MS = Date.parse('2026-03-01T12:00:00Z');
export const SHA = `sha256:${'ab'.repeat(32)}`;
export const CONTEXT: BodyContext = {
  nowMs: NOW_MS,
  checks: new Set(['fileDigest', 'httpResource']),
  digestChecks: new Set(['fileDigest']),
  missionFingerprint: 'mission-1',
};

type Loose<T> = { -readonly [K in keyof T]: unknown };

export const INPUTS: { readonly [K in ReceiptKind]: Loose<BodyInputs[K]> } = {
  progress: { milestone: 'sources-checked', digest: SHA, delta: { done: 12, of: 40, unit: 'links' }, note: 'page 3' },
  wait: { name: 'approve-refund', owner: 'ops', deadline: '2 days', resumeToken: 'wait-1', resumeBy: 'approval' },
  effect: { operationId: 'default/w1/charge/i7', name: 'charge', state: 'attempted', inputDigest: SHA },
  deliverable: {
    name: 'report',
    destination: 'file',
    check: 'fileDigest',
    result: 'pass',
    subject: { digest: SHA as `sha256:${string}`, sizeBytes: 812 },
    coverage: { expected: 4, accepted: 4 },
  },
};

export const ENVELOPE = {
  schemaVersion: 1,
  receiptId: '019505a0-7c00-7000-8000-000000000001',
  clusterId: 'c0ffee00-0000-4000-8000-000000000000',
  namespace: 'default',
  workflowId: 'check-links-7',
  runId: '0194f000-0000-7000-8000-00000000000a',
  chainId: '0194f000-0000-7000-8000-00000000000a',
  workflowType: 'sourceCheck',
  runStartedAtMs: NOW_MS - 60_000,
  emitter: '5',
  activityType: 'checkSource',
  fence: NOW_MS - 30_000,
  attempt: 1,
  sequence: 1,
  missionFingerprint: null,
  occurredAtMs: NOW_MS - 1000,
} as const;

const BODIES: { readonly [K in ReceiptKind]: object } = {
  progress: INPUTS.progress,
  wait: {
    ...{ name: 'approve-refund', owner: 'ops', deadlineMs: NOW_MS + 1, resumeToken: 'wait-1' },
    ...{ resumeBy: 'signal', state: 'open' },
  },
  effect: INPUTS.effect,
  deliverable: INPUTS.deliverable,
};

export function receiptOf(kind: ReceiptKind, body: object = {}, envelope: object = {}): Record<string, unknown> {
  return { ...ENVELOPE, kind, ...envelope, body: { ...BODIES[kind], ...body } };
}

/** The refusal of a call as a plain value; a call that passes, or throws anything else, fails the test. */
export function refusal(call: () => unknown): ReturnType<HealthError['toJSON']> {
  try {
    call();
  } catch (error) {
    if (error instanceof HealthError) return error.toJSON();
    throw error;
  }
  throw new Error('Nothing was refused.');
}
