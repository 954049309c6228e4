/**
 * The order of decision: the first rule that decides wins, what loses stays in `findings`. Pure and total: the same
 * evidence, policy, moment and rule version give the same bytes. No model judges anything here.
 */
import { adviceFor } from './actions.ts';
import type { Evidence } from './evidence.ts';
import { findingsOf } from './findings.ts';
import { JUDGEMENT_SCHEMA_VERSION, RULE_VERSION } from './judgement.ts';
import type { Finding, Judgement } from './judgement.ts';
import type { Policy } from './policy.ts';
import { retryBackoff } from './rules/backoff.ts';
import { childStuck, childUncertain, childWaiting, childWorking } from './rules/children.ts';
import { closedWithoutResult, healthy, stopped } from './rules/closed.ts';
import { runNotFound, sourcesDisagree, workAfterClose } from './rules/contradictions.ts';
import { deliverableUnchecked, falseSuccess, notDelivered } from './rules/deliverables.ts';
import { effectMissing } from './rules/due-effects.ts';
import { effectContradicted, effectLevel, effectUnsettled } from './rules/effects.ts';
import { continued, unknownRun } from './rules/known.ts';
import { expected, loop, milestoneFresh, milestoneStale, resumed, silent } from './rules/milestones.ts';
import { noPoller } from './rules/no-poller.ts';
import { notInstrumented } from './rules/not-instrumented.ts';
import { pausedWithoutWait } from './rules/paused.ts';
import { reportingFailure } from './rules/reporting-failure.ts';
import { attemptsSpent, deadlineSpent, permanentFailure, retryCannotFinish } from './rules/retries.ts';
import type { Decision, Rule } from './rules/rule.ts';
import { starting } from './rules/starting.ts';
import { stopUnconfirmed } from './rules/stop-unconfirmed.ts';
import { childrenUnread, evidenceGap, evidenceOutage, evidenceUnread, queueUnread } from './rules/unread.ts';
import { decisionNotConsumed, parked, waiting, waitIncomplete, waitOverdue, waitUnresolvable } from './rules/waits.ts';
import { workflowTaskFailing } from './rules/workflow-task.ts';
import { validUntilMs } from './valid-until.ts';
import type { Disposition } from './verdict.ts';
import { bind } from './view.ts';
import type { View } from './view.ts';

/** A rule, and whether it also speaks for a workflow type without a contract. */
interface Step {
  readonly rule: Rule;
  readonly withoutContract: boolean;
}

const always = (...rules: readonly Rule[]): readonly Step[] => rules.map((rule) => ({ rule, withoutContract: true }));
const underContract = (...rules: readonly Rule[]): readonly Step[] =>
  rules.map((rule) => ({ rule, withoutContract: false }));

/** Steps 6 to 8: parked, working, waiting. Each of them excuses an open run that makes no sound now. */
const EXCUSES: readonly Rule[] = [
  parked,
  ...[milestoneFresh, expected, resumed, starting, childWorking],
  ...[waiting, retryBackoff, childWaiting],
];

/** No excuse counts while it is unknown whether anybody takes the work that waits; a run without one is stuck either way. */
const excuseUnread: Rule = (view) => {
  const unread = queueUnread(view);
  return unread !== null && EXCUSES.some((rule) => rule(view) !== null) ? unread : null;
};

/** DESIGN's steps 2 to 9; step 1 is `bind`. */
const STEPS: readonly Step[] = [
  // 2. Known at all?
  ...always(unknownRun, continued),
  // 3. Uncertain.
  ...always(effectUnsettled, effectContradicted),
  ...underContract(effectLevel, stopUnconfirmed, workAfterClose, sourcesDisagree, runNotFound, reportingFailure),
  ...always(evidenceUnread),
  ...underContract(evidenceGap, evidenceOutage, deliverableUnchecked),
  // 4. Closed.
  ...underContract(falseSuccess, effectMissing, notDelivered, healthy),
  ...always(closedWithoutResult, stopped),
  // 5. Cannot move, whatever wait it holds.
  ...always(
    workflowTaskFailing,
    noPoller,
    permanentFailure,
    attemptsSpent,
    deadlineSpent,
    retryCannotFinish,
    pausedWithoutWait,
  ),
  // From here on somebody must have said what progress and success are.
  ...always(notInstrumented),
  // 6 to 8. Parked, working, waiting.
  ...underContract(excuseUnread, ...EXCUSES),
  // 9. Otherwise stuck, by the most telling reason; only a child that may have acted keeps its parent uncertain.
  ...underContract(
    childUncertain,
    childrenUnread,
    decisionNotConsumed,
    waitOverdue,
    waitUnresolvable,
    waitIncomplete,
    childStuck,
    loop,
  ),
];

export function classify(evidence: Evidence, policy: Policy, nowMs: number): Judgement {
  const view = bind(evidence, policy, nowMs);
  const found = STEPS.flatMap(({ rule, withoutContract }) => {
    const decision = view.contract !== null || withoutContract ? rule(view) : null;
    return decision === null ? [] : [decision];
  });
  // Standing still is what is left when nothing else decides; it never loses, so it is no finding.
  const decision = found[0] ?? milestoneStale(view) ?? silent(view);
  // Nor does agreement: it is what is left where no rule found a fault. What decided is not said again (a wait is asked twice).
  const lost = found
    .slice(1)
    .filter(({ verdict, reason }) => verdict !== 'healthy' && reason !== decision.reason)
    .map(toFinding);
  return {
    schemaVersion: JUDGEMENT_SCHEMA_VERSION,
    workflowId: evidence.run.workflowId,
    runId: evidence.run.runId,
    verdict: decision.verdict,
    reason: decision.reason,
    disposition: dispositionOf(view, decision),
    message: decision.message,
    decisive: decision.decisive,
    ...adviceFor(decision.verdict, decision.reason),
    findings: [...lost, ...findingsOf(view)],
    confidence: decision.confidence ?? 'deterministic',
    evidenceVersion: view.row?.evidenceVersion ?? null,
    ruleVersion: RULE_VERSION,
    judgedAtMs: nowMs,
    validUntilMs: validUntilMs(view),
  };
}

function toFinding({ reason, message, decisive }: Decision): Finding {
  return { finding: reason, message, facts: decisive };
}

const DISPOSITIONS_BY_STATUS = {
  RUNNING: 'open',
  PAUSED: 'open',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELED: 'canceled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed-out',
  CONTINUED_AS_NEW: 'continued',
} as const satisfies Readonly<Record<NonNullable<View['status']>, Disposition>>;

function dispositionOf(view: View, decision: Decision): Disposition {
  if (decision.reason === 'continued' || decision.reason === 'stopped') return decision.reason;
  return view.status === null ? 'unknown' : DISPOSITIONS_BY_STATUS[view.status];
}
