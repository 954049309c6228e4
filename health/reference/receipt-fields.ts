/** What each field of a receipt is, by its path. Types and limits stand beside it on the page, from the JSON Schema. */
import type { Envelope } from '../../receipts/envelope.ts';
import type { ReceiptBodies, ReceiptKind } from '../../receipts/receipt.ts';

/** The dotted paths of an object's fields. */
type Paths<T> = T extends readonly unknown[] | string | number | boolean
  ? never
  : { [K in keyof T & string]-?: K | `${K}.${Paths<NonNullable<T[K]>>}` }[keyof T & string];

export const ENVELOPE_FIELDS: Readonly<Record<Exclude<keyof Envelope, 'kind'>, string>> = {
  schemaVersion: 'The schema that the receipt was written with. Stored receipts keep theirs.',
  receiptId: 'UUID of version 7, made by the emitter. The same id is the same receipt, however often it is sent.',
  clusterId: "Temporal's cluster id.",
  namespace: "Temporal's namespace.",
  workflowId: "Temporal's workflow id.",
  runId: "Temporal's run id.",
  chainId: 'The chain: the id of its first run; of a cron run its own run id.',
  workflowType: "Temporal's workflow type: the contract is found by it.",
  runStartedAtMs: "The run's start on Temporal's clock, epoch ms.",
  emitter: 'The activity id, or `workflow`.',
  activityType: "Temporal's activity type; absent where a workflow recorded it.",
  fence:
    "Grows with every attempt: the time at which the server scheduled the attempt, of a workflow the run's start; epoch ms.",
  attempt: "Temporal's attempt. It breaks ties of the fence; a reset sets it back to 1.",
  sequence: 'Counts the receipts of one emitter under one fence, from 1, without holes.',
  missionFingerprint: 'Digest of the mission it was done for; null where the workflow has none.',
  occurredAtMs: "When it happened, by the emitter's estimate of the store's clock, epoch ms.",
  sanitised: 'Bad text was replaced, or a note cut, in a field that is no identity.',
};

export const BODY_FIELDS: { readonly [K in ReceiptKind]: Readonly<Record<Paths<ReceiptBodies[K]>, string>> } = {
  progress: {
    milestone: 'Name of the milestone, as in the contract.',
    digest: 'Identity of the state that was reached. Equal state must give an equal digest.',
    delta: 'What changed, in one typed form. `progress()` takes its members beside the rest.',
    'delta.done': 'How much is done in all. It does not fall within one attempt.',
    'delta.of': 'Of how much.',
    'delta.unit': 'What is counted.',
    'delta.setDigest': 'Digest of the set that was reached.',
    'delta.ids': 'Ids of what was reached.',
    'delta.artifactDigest': 'Digest of an artifact that was made.',
    'delta.invariant': 'A named quantity that tells the state.',
    'delta.invariant.name': 'Its name.',
    'delta.invariant.value': 'Its value.',
    step: 'What runs now, when the next milestone is known to be far off.',
    expectByMs:
      'Until when silence is expected, epoch ms, at most 90 days ahead. Counts only beside a new digest. In code: `expectBy`.',
    end: 'Why a loop ended. Shown, never decisive.',
    note: 'A word for people. More than 200 bytes of UTF-8 are cut, never refused.',
    cost: 'What was spent, and why.',
    'cost.model': 'Name of the model.',
    'cost.tokens': 'Tokens.',
    'cost.amount': 'Amount of money.',
    'cost.currency': 'Its currency.',
    'cost.cause': 'Why it was spent, apart from how much.',
  },
  wait: {
    name: 'What the wait is for.',
    owner: 'Who must act. Null or blank excuses nothing.',
    deadlineMs: 'Until when, epoch ms. Ahead of now and at most 90 days when it is opened. In code: `deadline`.',
    resumeToken: 'What resumes this same work: an identity, not a credential.',
    resumeBy: 'By what it resumes.',
    condition: 'What must happen, in words or as an id: of `workflow` the workflow id.',
    state: 'Where the wait stands.',
    approvers: 'Who may answer.',
    subjectDigest: 'Digest of what is decided on.',
    reconciles: 'The operation id whose unknown outcome this wait is to settle.',
    note: 'A word for people. More than 200 bytes of UTF-8 are cut, never refused.',
  },
  effect: {
    operationId: 'Stable identity of the operation, from the business: never from an attempt, a run id or a model.',
    name: "The effect's name in the contract.",
    state: 'What is known of it.',
    target: 'Where it goes.',
    inputDigest: 'Digest of what is sent.',
    verdict: 'What was said of it. `verified` needs one, and `none` after an attempt.',
    'verdict.by': 'Who said it. An error text says nothing.',
    'verdict.kind': 'What kind of answer the destination gave.',
    'verdict.level': 'How strong it is; the contract says which level it needs.',
    'verdict.resultDigest': 'Digest of what the destination holds. Two different ones contradict each other.',
    'verdict.reference': 'Where to look it up: an id at the destination.',
    class: 'What the destination offers against doing it twice.',
    role: '`delivery` for an effect that delivers a deliverable; `effect` where absent.',
    deliverable: 'With the role `delivery`: the deliverable.',
    protectedUntilMs:
      "Past this moment, epoch ms, the destination no longer recognises the operation's key. In code: `protectedUntil`.",
  },
  deliverable: {
    name: "The deliverable's name in the contract.",
    destination: 'Where it was checked. Must be the promised one.',
    check: 'Name of the check that ran. Of a judgement `judged`, or `judged:` with who judged.',
    result: '`unread`: the check could not reach the destination, which says nothing about the result.',
    subject: 'What was looked at.',
    'subject.digest': 'SHA-256 of the bytes at the destination.',
    'subject.sizeBytes': 'Its size in bytes.',
    'subject.count': 'How many things it holds.',
    'subject.version': 'Its version at the destination.',
    coverage: 'How much of the plan it covers.',
    'coverage.expected': 'Units that were planned.',
    'coverage.accepted': 'Units that are in it.',
    'coverage.empty': 'Accepted units without content.',
    'coverage.excluded': 'Units left out by decision. Count only with `excludedBy`.',
    'coverage.excludedBy': 'Whose recorded decision that was.',
    confidence: 'Only of a judgement.',
    cause: 'Why it failed or could not be read: a short machine word.',
  },
};
