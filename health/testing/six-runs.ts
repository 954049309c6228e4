/**
 * What six runs of a workflow type look like when they go the six ways that matter: evidence documents, as `explain --export`
 * writes them, made from the type's own contract. They show what the contract is worth before a run has to.
 */
import type { Contract, ContractDeliverable, DefinedContract } from '../../receipts/contract.ts';
import type { Receipt } from '../../receipts/envelope.ts';
import { RECEIPT_SCHEMA_VERSION, WORKFLOW_EMITTER } from '../../receipts/envelope.ts';
import { HealthError } from '../../receipts/errors.ts';
import type { DeliverableBody, ReceiptBodies, ReceiptKind } from '../../receipts/receipt.ts';
import { EVIDENCE_SCHEMA_VERSION } from '../evidence.ts';
import type { EvidenceDocument, PendingActivity } from '../evidence.ts';
import { DEFAULT_POLICY } from '../policy.ts';
import type { Policy } from '../policy.ts';
import type { Verdict } from '../verdict.ts';
import { testClock } from './clock.ts';

export interface SixRunsOptions {
  /** When they are looked at, epoch ms; a fixed moment where absent. */
  readonly nowMs?: number;
  readonly policy?: Policy;
}

const SECOND_MS = 1_000;
const ACTIVITY_ID = '1';

/** What one run reported so far, at its own times. */
class Told {
  readonly receipts: (Receipt & { readonly recordedAtMs: number })[] = [];
  readonly #contract: Contract;
  readonly #startedAtMs: number;
  readonly #sequences = new Map<string, number>();

  constructor(contract: Contract, startedAtMs: number) {
    this.#contract = contract;
    this.#startedAtMs = startedAtMs;
  }

  tell<K extends ReceiptKind>(kind: K, atMs: number, body: ReceiptBodies[K], emitter = ACTIVITY_ID): this {
    const sequence = (this.#sequences.get(emitter) ?? 0) + 1;
    this.#sequences.set(emitter, sequence);
    const place = (this.receipts.length + 1).toString(16).padStart(12, '0');
    const receipt = {
      ...identityOf(this.#contract),
      schemaVersion: RECEIPT_SCHEMA_VERSION,
      receiptId: `00000000-0000-7000-8000-${place}`,
      kind,
      runStartedAtMs: this.#startedAtMs,
      emitter,
      fence: this.#startedAtMs,
      attempt: 1,
      sequence,
      missionFingerprint: null,
      occurredAtMs: atMs,
      recordedAtMs: atMs,
      body,
    };
    this.receipts.push(receipt as Receipt & { readonly recordedAtMs: number });
    return this;
  }
}

function identityOf({ workflowType }: Contract) {
  const runId = '00000000-0000-4000-8000-000000000001';
  return { clusterId: 'test', namespace: 'default', workflowId: 'test', runId, chainId: runId, workflowType };
}

/**
 * Six evidence documents by the verdict that each must get. Judge them with `classify(run, run.policy, run.nowMs)`, or give
 * them to `toHaveVerdict`.
 * @throws HealthError CONTRACT_INVALID for a contract that owes no deliverable and no effect: nothing could tell its success
 * from a claim.
 */
export function sixRuns(
  defined: Contract | DefinedContract,
  { nowMs = testClock().nowMs(), policy = DEFAULT_POLICY }: SixRunsOptions = {},
): Readonly<Record<Verdict, EvidenceDocument>> {
  const contract = 'contract' in defined ? defined.contract : defined;
  const owesNothing =
    Object.keys(contract.deliverables).length === 0 &&
    Object.values(contract.effects).every(({ due }) => due === 'any');
  if (owesNothing) {
    throw new HealthError('CONTRACT_INVALID', `The contract of ${contract.workflowType} owes nothing.`, {
      hint: 'Name a deliverable with its check, or an effect that is due: else every completion is a claim.',
    });
  }
  const milestone = Object.keys(contract.milestones)[0] ?? 'progress';
  const freshMs = contract.milestones[milestone]?.freshMs ?? policy.milestoneFreshMs;
  const startedAtMs = nowMs - 2 * freshMs - policy.startupGraceMs;
  const progressAt = (atMs: number): Told =>
    new Told(contract, startedAtMs).tell('progress', atMs, { milestone, digest: 'first', delta: { done: 1 } });
  const freshly = nowMs - Math.min(SECOND_MS, freshMs / 2);
  const longAgo = nowMs - freshMs - SECOND_MS;
  const done = Object.entries(contract.deliverables).map(([name, due]) => ({ name, due }));

  const open = (told: Told, ...activities: readonly PendingActivity[]): EvidenceDocument =>
    documentOf(contract, policy, nowMs, startedAtMs, told, activities, null);
  const completed = (told: Told): EvidenceDocument =>
    documentOf(contract, policy, nowMs, startedAtMs, told, [], nowMs - SECOND_MS);

  const parked = progressAt(longAgo).tell('wait', longAgo + 1, waitBody(nowMs), WORKFLOW_EMITTER);
  const lostReply = progressAt(freshly).tell('effect', freshly, { ...effectBody(contract), state: 'attempted' });
  const whole = progressAt(freshly);
  for (const [name, { due, levels }] of Object.entries(contract.effects)) {
    if (due === 'any') continue;
    const level = levels?.at(-1);
    const verdict = { by: 'destination', ...(level === undefined ? {} : { level }) } as const;
    whole.tell('effect', freshly, { operationId: `default/test/${name}/1`, name, state: 'verified', verdict });
  }
  for (const { name, due } of done) {
    whole.tell('deliverable', freshly, passOf(name, due));
    for (const transport of due.transports ?? []) {
      whole.tell('effect', freshly, {
        ...{ operationId: `default/test/${transport}/${name}`, name: transport, target: transport },
        ...{ role: 'delivery', deliverable: name, state: 'verified', verdict: { by: 'destination' } },
      });
    }
  }
  return {
    working: open(progressAt(freshly), liveActivity(startedAtMs, nowMs)),
    waiting: open(parked),
    // It beats every second: a sign of life, and no progress.
    stuck: open(progressAt(longAgo), liveActivity(startedAtMs, nowMs)),
    // The attempt that called is gone, and with it the reply.
    uncertain: open(lostReply),
    'false-success': completed(progressAt(freshly)),
    healthy: completed(whole),
  };
}

function waitBody(nowMs: number): ReceiptBodies['wait'] {
  return {
    ...{ name: 'approval', owner: 'owner@example.org', deadlineMs: nowMs + 3_600_000, resumeToken: 'approval-1' },
    ...{ resumeBy: 'approval', state: 'open' },
  };
}

function effectBody(contract: Contract): Pick<ReceiptBodies['effect'], 'operationId' | 'name'> {
  const name = Object.keys(contract.effects)[0] ?? 'effect';
  return { operationId: `default/test/${name}/1`, name };
}

function passOf(name: string, due: ContractDeliverable): DeliverableBody {
  return {
    name,
    destination: due.destination,
    check: due.check?.name ?? 'judge',
    result: 'pass',
    subject: { digest: `sha256:${'0'.repeat(64)}`, sizeBytes: due.minimumBytes ?? 1 },
    ...(due.coverage === true ? { coverage: { expected: 1, accepted: 1 } } : {}),
    ...(due.check === null ? { confidence: 1 } : {}),
  };
}

function liveActivity(startedAtMs: number, nowMs: number): PendingActivity {
  return {
    ...{ activityId: ACTIVITY_ID, activityType: 'step', state: 'STARTED', attempt: 1, maximumAttempts: 0 },
    ...{ scheduledAtMs: startedAtMs, lastStartedAtMs: startedAtMs, lastHeartbeatAtMs: nowMs - SECOND_MS },
    ...{ heartbeatTimeoutMs: 30 * SECOND_MS, nextAttemptAtMs: null, expiresAtMs: null, lastFailure: null },
    ...{ lastWorkerIdentity: 'test', taskQueue: 'test', paused: null },
  };
}

function documentOf(
  contract: Contract,
  policy: Policy,
  nowMs: number,
  startedAtMs: number,
  told: Told,
  pendingActivities: readonly PendingActivity[],
  closedAtMs: number | null,
): EvidenceDocument {
  const status = closedAtMs === null ? 'RUNNING' : 'COMPLETED';
  return {
    schemaVersion: EVIDENCE_SCHEMA_VERSION,
    run: identityOf(contract),
    missionFingerprint: null,
    temporal: {
      source: 'describe',
      observedAtMs: nowMs,
      describe: {
        ...{ status, startedAtMs, closedAtMs, expiresAtMs: null, historyEvents: 20, historyBytes: 8_000 },
        ...{ historyGrowthPerMinute: null, resetRunId: null, cancelRequested: false, taskQueue: 'test', paused: null },
        ...{ pendingActivities, pendingWorkflowTask: null, pendingChildren: [] },
      },
      closeEvent:
        closedAtMs === null
          ? null
          : { status, atMs: closedAtMs, identity: null, reason: null, failure: null, successorRunId: null },
      taskQueues: [],
      listed: null,
    },
    chain: null,
    receipts: told.receipts,
    storeAsked: true,
    ...{ stops: [], children: [], plan: null, unread: [], gaps: [] },
    contract,
    policy,
    nowMs,
  };
}
