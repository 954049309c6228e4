/**
 * Step 1 of the order of decision, *bind*: what of the evidence speaks for this workflow, this chain and the mission in
 * force, in the form that rules read. What does not is dropped and named in `findings`. Effects are the exception: a real
 * effect stays real whatever the mission or the fence.
 */
import type { Contract, ContractDeliverable } from '../receipts/contract.ts';
import { foldChain } from '../receipts/fold.ts';
import type { StoredReceipt } from '../receipts/envelope.ts';
import { EMPTY_MISSION, missionKey } from '../receipts/state.ts';
import type { ChainRow, EffectEntry, MilestoneState, MissionState, SeenDigest, WaitEntry } from '../receipts/state.ts';
import type { CloseEvent, Description, Evidence, PendingActivity, RunStatus } from './evidence.ts';
import type { Fact, Finding } from './judgement.ts';
import type { Policy } from './policy.ts';

export interface Milestone extends MilestoneState {
  readonly name: string;
  /** The last real change. */
  readonly change: SeenDigest;
  readonly changedAtMs: number;
  /** At this moment the change is no longer fresh. */
  readonly freshUntilMs: number;
}

export interface DueDeliverable extends ContractDeliverable {
  readonly name: string;
}

export interface View {
  readonly evidence: Evidence;
  readonly policy: Policy;
  readonly nowMs: number;
  readonly contract: Contract | null;
  readonly describe: Description | null;
  readonly closeEvent: CloseEvent | null;
  /** From Describe, else from the list; null where neither is known. */
  readonly status: RunStatus | null;
  readonly open: boolean;
  readonly closedAtMs: number | null;
  readonly row: ChainRow | null;
  readonly mission: MissionState;
  readonly fingerprint: string | null;
  /** Newest change first. */
  readonly milestones: readonly Milestone[];
  readonly waits: readonly WaitEntry[];
  readonly effects: readonly EffectEntry[];
  readonly activities: readonly PendingActivity[];
  /** Start of the chain as far as it is known; null where neither source tells it. */
  readonly startedAtMs: number | null;
  /** The earlier of the contract's run budget and Temporal's expiry; null where nothing bounds the run. */
  readonly deadlineMs: number | null;
  readonly dueDeliverables: readonly DueDeliverable[];
  readonly findings: readonly Finding[];
}

export function fact(ref: string, field: string, value: Fact['value']): Fact {
  return { ref, field, value };
}

/** The run's status, with the source that told it: the list where nobody asked Temporal. */
export function statusFact({ describe, status }: View): Fact {
  return fact(describe === null ? 'list' : 'describe', 'status', status);
}

/** When the chain began, with the source that told it: its first receipt where Temporal was not asked or does not know. */
export function startFact({ describe, evidence, startedAtMs }: View): Fact {
  const told = describe ?? evidence.temporal.listed;
  const isOfTemporal = told !== null && told.startedAtMs === startedAtMs;
  if (!isOfTemporal) return fact('store', 'firstReceiptAtMs', startedAtMs);
  return fact(describe === null ? 'list' : 'describe', 'startedAtMs', startedAtMs);
}

const OPEN_STATUSES: readonly RunStatus[] = ['RUNNING', 'PAUSED'];

export function bind(given: Evidence, policy: Policy, nowMs: number): View {
  const evidence = inOrder(given);
  const { temporal, contract } = evidence;
  const describe = temporal.source === 'describe' ? temporal.describe : null;
  const listed = temporal.listed;
  const status = describe?.status ?? listed?.status ?? null;
  const { row, findings } = boundRow(evidence, policy);
  const fingerprint = evidence.missionFingerprint ?? row?.missionFingerprint ?? null;
  const mission = row?.state.missions[missionKey(fingerprint)] ?? EMPTY_MISSION;
  const startedAtMs = earliest((describe ?? listed)?.startedAtMs, row?.firstReceiptAtMs);
  const budgetEndMs =
    contract?.budgets.runMs === undefined || startedAtMs === null ? undefined : startedAtMs + contract.budgets.runMs;
  return {
    evidence,
    policy,
    nowMs,
    contract,
    describe,
    closeEvent: temporal.source === 'describe' ? temporal.closeEvent : null,
    status,
    open: status === null || OPEN_STATUSES.includes(status),
    closedAtMs: describe === null ? (listed?.closedAtMs ?? null) : describe.closedAtMs,
    row,
    mission,
    fingerprint,
    milestones: milestonesOf(mission, contract, policy, nowMs),
    waits: sorted(Object.values(mission.waits), (wait) => wait.receiptId),
    effects: sorted(Object.values(row?.state.effects ?? {}), (effect) => effect.operationId),
    activities: sorted(describe?.pendingActivities ?? [], (activity) => activity.activityId),
    startedAtMs,
    deadlineMs: earliest(budgetEndMs, describe?.expiresAtMs),
    dueDeliverables: Object.entries(contract?.deliverables ?? {}).map(([name, due]) => ({ name, ...due })),
    findings: [...findings, ...otherMissions(row, fingerprint), ...lateReceipts(row)],
  };
}

/** An array in an order of its own, so that the order of the evidence never shows. */
function sorted<T>(items: readonly T[], key: (item: T) => string): readonly T[] {
  return [...items].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

export function earliest(...times: readonly (number | null | undefined)[]): number | null {
  const known = times.filter((time): time is number => typeof time === 'number');
  return known.length === 0 ? null : Math.min(...known);
}

/** Lists and keys in an order of their own: neither a gatherer's order nor a database's may show in a judgement. */
function inOrder(evidence: Evidence): Evidence {
  const { contract } = evidence;
  return {
    ...evidence,
    unread: sorted(evidence.unread, ({ source, code }) => `${source} ${code}`),
    gaps: sorted(evidence.gaps, ({ workerId, fromMs }) => `${workerId} ${String(fromMs).padStart(15, '0')}`),
    contract: contract && {
      ...contract,
      effects: keysInOrder(contract.effects),
      deliverables: keysInOrder(contract.deliverables),
    },
  };
}

function keysInOrder<T>(record: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(sorted(Object.entries(record), ([key]) => key));
}

function boundRow(evidence: Evidence, policy: Policy): { row: ChainRow | null; findings: Finding[] } {
  const { chain, receipts } = evidence;
  if (chain !== null) {
    if (isOfChain(chain, evidence)) return { row: chain, findings: [] };
    return { row: null, findings: [foreign([{ ref: 'store', of: chain.chainId }])] };
  }
  if (receipts === null) return { row: null, findings: [] };
  const once = [...new Map(receipts.map((receipt) => [receipt.receiptId, receipt])).values()];
  const own = once.filter((receipt) => isOfChain(receipt, evidence));
  const others = once.filter((receipt) => !isOfChain(receipt, evidence));
  const findings =
    others.length === 0 ? [] : [foreign(others.map((other) => ({ ref: other.receiptId, of: other.runId })))];
  return { row: foldChain(own, null), findings: [...findings, ...future(own, policy)] };
}

function isOfChain(
  thing: {
    readonly clusterId: string;
    readonly namespace: string;
    readonly workflowId: string;
    readonly chainId: string;
  },
  { run }: Evidence,
): boolean {
  return (
    thing.clusterId === run.clusterId &&
    thing.namespace === run.namespace &&
    thing.workflowId === run.workflowId &&
    thing.chainId === run.chainId
  );
}

function foreign(things: readonly { ref: string; of: string }[]): Finding {
  const facts = things.map(({ ref, of }) => fact(ref, 'runId', of));
  return {
    finding: 'foreign-evidence',
    message: `${things.length} of another run's chain, ignored.`,
    facts: sorted(facts, ({ ref }) => ref),
  };
}

function future(receipts: readonly StoredReceipt[], policy: Policy): Finding[] {
  const ahead = receipts.filter((receipt) => receipt.occurredAtMs > receipt.recordedAtMs + policy.skewMs);
  if (ahead.length === 0) return [];
  const facts = ahead.map((receipt) => fact(receipt.receiptId, 'occurredAtMs', receipt.occurredAtMs));
  return [
    {
      finding: 'future-timestamp',
      message: 'Receipts say they happened after they were stored; the time of storing counts.',
      facts: sorted(facts, ({ ref }) => ref),
    },
  ];
}

function otherMissions(row: ChainRow | null, fingerprint: string | null): Finding[] {
  const others = Object.keys(row?.state.missions ?? {}).filter((key) => key !== missionKey(fingerprint));
  if (others.length === 0) return [];
  return [
    {
      finding: 'other-mission',
      message: 'Evidence of a mission that is not in force, ignored but for its effects.',
      facts: others.sort().map((key) => fact('store', 'missionFingerprint', key)),
    },
  ];
}

function lateReceipts(row: ChainRow | null): Finding[] {
  if (row === null || row.state.late.count === 0) return [];
  return [
    {
      finding: 'late-receipts',
      message: `${row.state.late.count} came after a newer attempt had written; kept, and changed nothing.`,
      facts: row.state.late.receiptIds.map((receiptId) => fact(receiptId, 'late', true)),
    },
  ];
}

function milestonesOf(
  mission: MissionState,
  contract: Contract | null,
  policy: Policy,
  nowMs: number,
): readonly Milestone[] {
  const milestones: Milestone[] = [];
  for (const [name, state] of Object.entries(mission.milestones)) {
    const change = state.seen[0];
    if (change === undefined) continue;
    // A change that lies ahead of this clock counts as of now: it must not stay fresh for longer than it may.
    const changedAtMs = Math.min(change[1], nowMs);
    const freshMs = contract?.milestones[name]?.freshMs ?? policy.milestoneFreshMs;
    milestones.push({ ...state, name, change, changedAtMs, freshUntilMs: changedAtMs + freshMs });
  }
  return milestones.sort((a, b) => b.changedAtMs - a.changedAtMs || (a.name < b.name ? -1 : 1));
}
