/** The texts of the four receipts, each with an example that its schema accepts. */
import type { Envelope, ReceiptOf } from '../../receipts/envelope.ts';
import type { ReceiptKind } from '../../receipts/receipt.ts';
import type { ReceiptText } from './texts.ts';

export const RECEIPT_TEXTS: Readonly<Record<ReceiptKind, ReceiptText>> = {
  progress: {
    says: 'A milestone was reached in a state that has this digest.',
    call: "await receipts().progress('pages', { done: 12, of: 40, unit: 'page', setDigest });",
    proves: [
      'That an attempt of this activity stated, at this time, that it had reached a state with this digest.',
      'That the state is new to the chain, where its digest is not among the last 32 of the milestone.',
    ],
    doesNotProve: [
      'That the state is right, or worth anything: the activity digests its own work.',
      'That work is going on now. A new time on a known digest is not progress.',
      'That a loop of more than 32 different states is none.',
    ],
    rules: [
      '`delta.done` of a milestone and unit does not fall within one attempt, unless `reset` says why.',
      'Where `digest` is left out in code, it is the digest of what changed.',
      'It never throws and never waits for the store: a refusal is its return value.',
    ],
    refusals: ['RECEIPT_NOT_MONOTONE', 'RECEIPT_INVALID', 'RECEIPT_SECRET', 'RECEIPT_TEXT', 'RECEIPT_TOO_LARGE'],
    reasons: ['milestone-fresh', 'expected', 'loop', 'milestone-stale', 'silent', 'work-after-close'],
  },
  wait: {
    says: 'The run pauses: who ends it, until when, and what resumes it.',
    call: "const wait = await openWait({ name: 'approve-refund', owner: 'ann@example.org', deadline: '2 days', resumeBy: 'signal' });",
    proves: [
      'That the run stands still on purpose, for a named owner, until a deadline.',
      'That somebody recorded its end, where its state is `resolved`, `consumed` or `withdrawn`.',
    ],
    doesNotProve: [
      'That the owner knows of it.',
      'Who answered: that is what the sender stated.',
      'That the answer was yes. Past its deadline a wait is late, neither approved nor denied.',
    ],
    rules: [
      'The library refuses one without owner, deadline and resume token. A foreign one may lack them, and then excuses nothing.',
      'Give the same name, token and absolute deadline with every state; `openWait` does.',
      'It is acknowledged when the store has committed it.',
    ],
    refusals: ['WAIT_INCOMPLETE', 'WAIT_DEADLINE', 'RECEIPT_INVALID', 'RECEIPT_SECRET', 'RECEIPT_TEXT'],
    reasons: [
      ...(['wait', 'resumed', 'wait-overdue', 'wait-incomplete', 'wait-unresolvable'] as const),
      ...(['decision-not-consumed', 'paused-without-wait'] as const),
    ],
  },
  effect: {
    says: 'Something outside was, may have been, or was not changed, under a stable operation id.',
    call: "await receipts().effect({ name: 'charge', key: 'invoice-2041', state: 'attempted', target: 'bank', inputDigest });",
    proves: [
      'As `attempted`: that the activity stated its intention, before the call if it awaited the acknowledgement.',
      'As `verified` or `none`: that the destination, a person or a policy said so, as `verdict.by` names.',
    ],
    doesNotProve: [
      'That the call was made: the process may have ended after `attempted`.',
      'That it happened exactly once: receipts record effects, they do not guard them.',
      'Anything by an error text or a time-out: without a verdict the effect is `unknown`.',
    ],
    rules: [
      'Record `attempted` and await it before the call. If that throws, do not call.',
      '`verified` needs a verdict, and so does `none` once it was attempted.',
      'A real effect stays real: neither a newer attempt nor another mission puts it aside.',
      'In code `key` is a business key; the operation id is made of namespace, workflow id, effect name and key.',
    ],
    refusals: ['EFFECT_VERDICT_REQUIRED', 'RECEIPT_INVALID', 'RECEIPT_SECRET', 'RECEIPT_TEXT', 'STORE_UNAVAILABLE'],
    reasons: [
      ...(['effect-unsettled', 'effect-contradicted', 'effect-level', 'effect-missing'] as const),
      ...(['not-delivered', 'reporting-failure', 'work-after-close'] as const),
    ],
  },
  deliverable: {
    says: 'The promised result was looked at, at a destination, by a check.',
    call: "await receipts().deliverable('report').verify({ location: path });",
    proves: [
      'That the check looked at the destination at this time, and what it found.',
      'That the bytes it saw have this digest, where the check has one.',
    ],
    doesNotProve: [
      'That the result is good beyond what the check tests.',
      'That it is still there.',
      'That it arrived: delivery is an effect of its own, with the role `delivery`.',
    ],
    rules: [
      'Only the check that the contract names speaks for the deliverable, at the destination that the contract names.',
      'A pass of a check that digests must carry the digest. A judgement carries its confidence, a check none.',
      'A result for another mission or revision than the one in force is refused.',
    ],
    refusals: [
      ...(['DELIVERABLE_CHECK_REQUIRED', 'DELIVERABLE_DIGEST', 'DELIVERABLE_STALE'] as const),
      ...(['CONTRACT_UNKNOWN', 'RECEIPT_INVALID', 'RECEIPT_SECRET'] as const),
    ],
    reasons: [
      ...(['verified', 'judged', 'deliverable-missing', 'deliverable-failed', 'deliverable-stale'] as const),
      ...(['deliverable-mismatch', 'deliverable-claimed', 'deliverable-incomplete', 'deliverable-unchecked'] as const),
    ],
  },
};

const MOMENT_MS = Date.parse('2026-06-01T12:00:00Z');
const DIGEST = 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

function envelope(sequence: number): Omit<Envelope, 'kind'> {
  return {
    schemaVersion: 1,
    receiptId: `019e8300-0000-7000-8000-00000000000${sequence}`,
    clusterId: '5f0c9a52-8c1e-4f5d-9a57-2f1f3b0c7e11',
    namespace: 'default',
    workflowId: 'refund-2041',
    runId: '8a3e7a52-6f2c-4d53-9a0e-1b6a4a1f2c33',
    chainId: '8a3e7a52-6f2c-4d53-9a0e-1b6a4a1f2c33',
    workflowType: 'refund',
    runStartedAtMs: MOMENT_MS - 60_000,
    emitter: '5',
    activityType: 'refundOrder',
    fence: MOMENT_MS - 30_000,
    attempt: 1,
    sequence,
    missionFingerprint: null,
    occurredAtMs: MOMENT_MS,
  };
}

export const RECEIPT_EXAMPLES: { readonly [K in ReceiptKind]: ReceiptOf<K> } = {
  progress: {
    ...envelope(1),
    kind: 'progress',
    body: {
      milestone: 'pages',
      digest: DIGEST,
      delta: { done: 12, of: 40, unit: 'page' },
      step: 'ask the archive',
      expectByMs: MOMENT_MS + 1_200_000,
    },
  },
  wait: {
    ...envelope(2),
    kind: 'wait',
    body: {
      name: 'approve-refund',
      owner: 'ann@example.org',
      deadlineMs: MOMENT_MS + 172_800_000,
      resumeToken: 'refund-2041/approve-refund',
      resumeBy: 'signal',
      state: 'open',
    },
  },
  effect: {
    ...envelope(3),
    kind: 'effect',
    body: {
      operationId: 'default/refund-2041/charge/invoice-2041',
      name: 'charge',
      state: 'verified',
      target: 'bank',
      inputDigest: DIGEST,
      verdict: { by: 'destination', kind: 'firstApplied', level: 'settled', reference: 'payment-77' },
      class: 'keyed',
    },
  },
  deliverable: {
    ...envelope(4),
    kind: 'deliverable',
    body: {
      name: 'report',
      destination: 'file',
      check: 'file-digest',
      result: 'pass',
      subject: { digest: DIGEST, sizeBytes: 4096 },
      coverage: { expected: 40, accepted: 39, excluded: 1, excludedBy: 'ann@example.org' },
    },
  },
};
