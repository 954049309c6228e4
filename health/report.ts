/**
 * Judged runs → what a report says of them. Pure: rows for machines (ISO-8601 UTC times), a bounded worst-first list for a
 * screen, and counts of everything that was judged. Nothing here decides a verdict.
 */
import type { EvidenceDocument, PendingActivity } from './evidence.ts';
import type { Fact, Judgement } from './judgement.ts';
import { VERDICTS, VERDICTS_BY_SEVERITY } from './verdict.ts';
import type { Action, Disposition, Forbidden, Reason, Verdict } from './verdict.ts';

export const REPORT_SCHEMA_VERSION = 1;

/** Verdicts that call for somebody. */
export const NEEDS_ATTENTION: readonly Verdict[] = ['uncertain', 'false-success', 'stuck'];

/** Where the row's Temporal side comes from; never silently assumed. */
export type TemporalSource = EvidenceDocument['temporal']['source'];

export interface RetryView {
  readonly activity: string;
  readonly attempt: number;
  /** 0 is unlimited. */
  readonly maximumAttempts: number;
  readonly failureType: string | null;
  readonly nextAttemptAt: string | null;
}

export interface WaitView {
  readonly name: string;
  readonly owner: string | null;
  readonly deadline: string | null;
}

/** One run, as `-o json` and `-o jsonl` give it. */
export interface ReportRow {
  readonly schemaVersion: typeof REPORT_SCHEMA_VERSION;
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  readonly verdict: Verdict | null;
  readonly reason: Reason;
  readonly disposition: Disposition;
  readonly message: string;
  readonly safeAction: Action;
  readonly forbidden: readonly Forbidden[];
  /** What to do next, in words. */
  readonly next: string;
  /** When what decided it began, as far as the evidence tells. */
  readonly since: string | null;
  readonly judgedAt: string;
  readonly validUntil: string | null;
  readonly temporal: TemporalSource;
  readonly confidence: Judgement['confidence'];
  /** The first open wait. */
  readonly wait: WaitView | null;
  /** The activity with the most attempts, where one is being retried. */
  readonly retry: RetryView | null;
  readonly history: { readonly events: number; readonly bytes: number } | null;
  readonly findings: readonly string[];
  readonly evidenceVersion: number | null;
}

export function isoTime(atMs: number | null): string | null {
  return atMs === null || !Number.isFinite(atMs) || Math.abs(atMs) > 8.64e15 ? null : new Date(atMs).toISOString();
}

export function reportRow(evidence: EvidenceDocument, judgement: Judgement): ReportRow {
  const { temporal } = evidence;
  const describe = temporal.source === 'describe' ? temporal.describe : null;
  return {
    schemaVersion: REPORT_SCHEMA_VERSION,
    workflowId: judgement.workflowId,
    runId: judgement.runId,
    workflowType: evidence.run.workflowType,
    verdict: judgement.verdict,
    reason: judgement.reason,
    disposition: judgement.disposition,
    message: judgement.message,
    safeAction: judgement.safeAction,
    forbidden: judgement.forbidden,
    next: nextStep(judgement, evidence),
    since: isoTime(sinceMs(evidence, judgement)),
    judgedAt: isoTime(judgement.judgedAtMs) ?? '',
    validUntil: isoTime(judgement.validUntilMs),
    temporal: temporal.source,
    confidence: judgement.confidence,
    wait: waitOf(evidence),
    retry: retryOf(evidence),
    history: describe && { events: describe.historyEvents, bytes: describe.historyBytes },
    findings: [...new Set(judgement.findings.map(({ finding }) => finding))],
    evidenceVersion: judgement.evidenceVersion,
  };
}

function pendingActivities({ temporal }: EvidenceDocument): readonly PendingActivity[] {
  return temporal.source === 'describe' ? temporal.describe.pendingActivities : [];
}

/** The activity with the most attempts among those that failed before; null where none did. */
export function retryingActivity(activities: readonly PendingActivity[]): PendingActivity | null {
  const [worst] = activities
    .filter(({ attempt, lastFailure }) => attempt > 1 && lastFailure !== null)
    .sort((a, b) => b.attempt - a.attempt);
  return worst ?? null;
}

function retryOf(evidence: EvidenceDocument): RetryView | null {
  const { temporal } = evidence;
  // A terminated run may still list the activities it had: nothing retries them any more.
  if (temporal.source !== 'describe' || temporal.describe.closedAtMs !== null) return null;
  const worst = retryingActivity(temporal.describe.pendingActivities);
  if (worst === null) return null;
  return {
    activity: worst.activityType,
    attempt: worst.attempt,
    maximumAttempts: worst.maximumAttempts,
    failureType: worst.lastFailure?.type ?? null,
    nextAttemptAt: isoTime(worst.nextAttemptAtMs),
  };
}

function openWaits({ chain, missionFingerprint }: EvidenceDocument) {
  const waits = chain?.state.missions[missionFingerprint ?? '']?.waits ?? {};
  return Object.values(waits)
    .filter(({ state }) => state === 'open' || state === 'expired')
    .sort((a, b) => a.openedAtMs - b.openedAtMs);
}

/** True where an open wait of the run is this owner's. */
export function waitsOn(owner: string, evidence: EvidenceDocument): boolean {
  return openWaits(evidence).some((wait) => wait.owner === owner);
}

function waitOf(evidence: EvidenceDocument): WaitView | null {
  const [wait] = openWaits(evidence);
  return wait === undefined ? null : { name: wait.name, owner: wait.owner, deadline: isoTime(wait.deadlineMs) };
}

/** Facts that say since when, most telling first. */
const SINCE_FIELDS = ['dueSinceMs', 'changedAtMs', 'paused.sinceMs', 'sinceMs', 'requestedAtMs', 'fromMs'] as const;

export function sinceMs(evidence: EvidenceDocument, { decisive, reason, verdict }: Judgement): number | null {
  for (const field of SINCE_FIELDS) {
    const times = decisive.filter((fact) => fact.field === field && typeof fact.value === 'number');
    if (times.length > 0) return Math.min(...times.map(({ value }) => Number(value)));
  }
  const { temporal, chain } = evidence;
  const describe = temporal.source === 'describe' ? temporal.describe : null;
  if (reason === 'workflow-task-failing') return describe?.pendingWorkflowTask?.scheduledAtMs ?? null;
  const subjects = decisive.map(({ ref }) => subjectSinceMs(ref, evidence)).filter((atMs) => atMs !== null);
  if (subjects.length > 0) return Math.min(...subjects);
  const closedAtMs = describe === null ? (temporal.listed?.closedAtMs ?? null) : describe.closedAtMs;
  if (closedAtMs !== null) return closedAtMs;
  const startedAtMs = describe?.startedAtMs ?? temporal.listed?.startedAtMs ?? chain?.firstReceiptAtMs ?? null;
  return verdict === 'working' || reason === 'silent' || chain === null ? startedAtMs : chain.lastReceiptAtMs;
}

function subjectSinceMs(ref: string, evidence: EvidenceDocument): number | null {
  const at = ref.indexOf(':');
  const subject = ref.slice(at + 1);
  switch (ref.slice(0, at)) {
    case 'activity':
      return pendingActivities(evidence).find(({ activityId }) => activityId === subject)?.scheduledAtMs ?? null;
    case 'wait':
      return openWaits(evidence).find((wait) => (wait.resumeToken ?? wait.receiptId) === subject)?.openedAtMs ?? null;
    case 'effect': {
      const effect = evidence.chain?.state.effects[subject];
      return effect?.attempted?.atMs ?? effect?.unknown?.atMs ?? null;
    }
    default:
      return null;
  }
}

/** What follows the last colon-separated kind in the first decisive reference of that kind, e.g. the operation id. */
export function subjectOf(decisive: readonly Fact[], kind: string): string | null {
  const ref = decisive.find((fact) => fact.ref.startsWith(`${kind}:`))?.ref;
  return ref === undefined ? null : ref.slice(kind.length + 1);
}

const NEXT_BY_REASON: Partial<Readonly<Record<Reason, string>>> = {
  'stop-unconfirmed': 'confirm what the stop reached',
  'evidence-unread': 'make the unread source readable',
  'evidence-outage': 'bring the store back',
  'workflow-task-failing': 'fix the workflow code',
  'permanent-failure': 'fix the cause, then one recovery',
  'closed-without-result': 'find out why, then one recovery',
  'paused-without-wait': 'unpause it, or record a wait',
  'wait-overdue': 'route the wait again',
  'decision-not-consumed': 'see why the answer is not taken',
};

const NEXT_BY_ACTION: Readonly<Record<Action, string>> = {
  'leave-alone': 'leave alone',
  'route-or-wait': 'wait',
  'investigate-then-bounded-recovery': 'look, then one bounded recovery',
  'reconcile-no-retry': 'reconcile, do not retry',
  'reopen-incident': 'reopen as an incident',
  redeliver: 'redeliver the same digest',
  'close-with-evidence': 'close with evidence',
  none: '',
};

function nextStep({ reason, safeAction, decisive }: Judgement, evidence: EvidenceDocument): string {
  const operation = subjectOf(decisive, 'effect');
  if (safeAction === 'reconcile-no-retry' && operation !== null) return `reconcile ${operation}`;
  const queue = subjectOf(decisive, 'task-queue');
  if (reason === 'no-poller' && queue !== null) return `start a worker on ${queue}`;
  const wait = waitOf(evidence);
  if (reason === 'wait' && wait?.owner) return `${wait.owner} answers ${wait.name}`;
  if (reason === 'retry-backoff') return 'wait for the next try';
  return NEXT_BY_REASON[reason] ?? NEXT_BY_ACTION[safeAction];
}

export function needsAttention(row: ReportRow): boolean {
  return row.verdict !== null && NEEDS_ATTENTION.includes(row.verdict);
}

/** Worst first, then the longest standing, then by name so that two reports of the same runs look the same. */
export function compareRows(a: ReportRow, b: ReportRow): number {
  const severity = (row: ReportRow): number =>
    row.verdict === null ? VERDICTS_BY_SEVERITY.length : VERDICTS_BY_SEVERITY.indexOf(row.verdict);
  const order = severity(a) - severity(b);
  if (order !== 0) return order;
  const key = (row: ReportRow): string => `${row.since ?? '9'} ${row.workflowId} ${row.runId}`;
  return key(a) < key(b) ? -1 : 1;
}

export interface Counts {
  readonly judged: number;
  /** A judged deliverable is healthy and counted apart (`judgedOnly`): no check stands behind it. */
  readonly byVerdict: Readonly<Record<Verdict, number>>;
  readonly judgedOnly: number;
  readonly notInstrumented: number;
  /** Continued or stopped: no verdict is due. */
  readonly noVerdict: number;
  /** Not instrumented, and an activity is on its second attempt or later. */
  readonly retrying: number;
  /** The wait of a waiting run that ends first. */
  readonly nextWait: WaitView | null;
}

/** Counts of all and the worst few. Holds at most `keep` rows, however many are added. */
export class Tally<Row extends ReportRow = ReportRow> {
  readonly #keep: number;
  readonly #worst: Row[] = [];
  readonly #byVerdict: Record<Verdict, number>;
  #judged = 0;
  #judgedOnly = 0;
  #notInstrumented = 0;
  #noVerdict = 0;
  #retrying = 0;
  #kept = 0;
  #nextWait: WaitView | null = null;

  constructor(keep: number) {
    this.#keep = keep;
    this.#byVerdict = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Record<Verdict, number>;
  }

  /** Counts the row; `shown` rows also compete for a place among the worst. */
  add(row: Row, shown: boolean): void {
    this.#judged += 1;
    if (row.verdict === null) {
      if (row.reason === 'not-instrumented') this.#notInstrumented += 1;
      else this.#noVerdict += 1;
      if (row.retry !== null) this.#retrying += 1;
    } else if (row.reason === 'judged') this.#judgedOnly += 1;
    else this.#byVerdict[row.verdict] += 1;
    if (row.verdict === 'waiting') this.#meetWait(row.wait);
    if (shown) this.#offer(row);
  }

  #meetWait(wait: WaitView | null): void {
    const soonest = this.#nextWait?.deadline ?? null;
    if (wait?.deadline && (soonest === null || wait.deadline < soonest)) this.#nextWait = wait;
  }

  #offer(row: Row): void {
    this.#kept += 1;
    const worst = this.#worst;
    const last = worst[worst.length - 1];
    if (worst.length >= this.#keep && last !== undefined && compareRows(last, row) <= 0) return;
    let low = 0;
    let high = worst.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const there = worst[middle];
      if (there !== undefined && compareRows(there, row) <= 0) low = middle + 1;
      else high = middle;
    }
    worst.splice(low, 0, row);
    if (worst.length > this.#keep) worst.pop();
  }

  worst(): readonly Row[] {
    return this.#worst;
  }

  /** Rows that were to be shown and found no place. */
  notShown(): number {
    return this.#kept - this.#worst.length;
  }

  counts(): Counts {
    return {
      judged: this.#judged,
      byVerdict: { ...this.#byVerdict },
      judgedOnly: this.#judgedOnly,
      notInstrumented: this.#notInstrumented,
      noVerdict: this.#noVerdict,
      retrying: this.#retrying,
      nextWait: this.#nextWait,
    };
  }
}
