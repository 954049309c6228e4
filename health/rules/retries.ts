/** Step 5: a retry that cannot get there, although Temporal would go on. */
import type { PendingActivity } from '../evidence.ts';
import { isPermanent } from '../failure.ts';
import { wakesAtMs } from '../liveness.ts';
import { planRetry } from '../plan-retry.ts';
import type { RetryPlan, RetryTerms } from '../plan-retry.ts';
import { fact } from '../view.ts';
import type { View } from '../view.ts';
import { faultOf } from './deliverables.ts';
import type { Rule } from './rule.ts';

function retrying(view: View): readonly PendingActivity[] {
  return view.open ? view.activities.filter(({ attempt }) => attempt > 1) : [];
}

/** The last failure is one that the same input gets again; a future next attempt is no wait. */
export const permanentFailure: Rule = (view) => {
  const hopeless = retrying(view).flatMap((activity) => {
    const failure = activity.lastFailure;
    return failure !== null && isPermanent(failure, view.policy) ? [{ activity, failure }] : [];
  });
  const first = hopeless[0];
  if (first === undefined) return null;
  const { activityType, attempt } = first.activity;
  return {
    verdict: 'stuck',
    reason: 'permanent-failure',
    message: `${activityType} fails for good (${first.failure.type}) and is still being retried, attempt ${attempt}.`,
    decisive: hopeless.flatMap(({ activity, failure }) => [
      fact(`activity:${activity.activityId}`, 'lastFailure.type', failure.type),
      fact(`activity:${activity.activityId}`, 'lastFailure.class', 'permanent'),
      fact(`activity:${activity.activityId}`, 'attempt', activity.attempt),
    ]),
  };
};

export function attemptsAllowed(view: View): number {
  return view.contract?.budgets.attempts ?? view.policy.retry.maxAttempts;
}

export const attemptsSpent: Rule = (view) => {
  const allowed = attemptsAllowed(view);
  const spent = retrying(view).filter(({ attempt }) => attempt > allowed);
  const first = spent[0];
  if (first === undefined) return null;
  const silent = view.row === null && view.evidence.storeAsked ? [fact('store', 'receipts', 0)] : [];
  return {
    verdict: 'stuck',
    reason: 'attempts-spent',
    message: `${first.activityType} is at attempt ${first.attempt} of ${allowed}${first.lastFailure === null ? '' : `, last failure ${first.lastFailure.type}`}.`,
    decisive: [
      ...spent.flatMap((activity) => [
        fact(`activity:${activity.activityId}`, 'attempt', activity.attempt),
        fact(`activity:${activity.activityId}`, 'lastFailure.type', activity.lastFailure?.type ?? null),
        fact(`activity:${activity.activityId}`, 'nextAttemptAtMs', activity.nextAttemptAtMs),
      ]),
      ...silent,
    ],
  };
};

export const deadlineSpent: Rule = ({ open, status, describe, deadlineMs, nowMs }) => {
  if (!open || status === null || deadlineMs === null || nowMs < deadlineMs) return null;
  return {
    verdict: 'stuck',
    reason: 'deadline-spent',
    message: 'The run is past its deadline.',
    decisive: [
      describe?.expiresAtMs === deadlineMs
        ? fact('describe', 'expiresAtMs', deadlineMs)
        : fact('contract', 'deadlineMs', deadlineMs),
    ],
  };
};

/** A scheduled retry that `planRetry` refuses because what is left cannot hold it. */
export const retryCannotFinish: Rule = (view) => {
  for (const activity of retrying(view)) {
    const atMs = wakesAtMs(activity, view.nowMs);
    const plan = atMs === null ? null : planScheduledRetry(activity, atMs, view);
    if (plan === null || plan.allowed || plan.reason !== 'deadline') continue;
    const { terms } = plan;
    return {
      verdict: 'stuck',
      reason: 'retry-cannot-finish',
      message: `The next attempt of ${activity.activityType} cannot finish: it needs ${seconds(terms.neededMs)} and ${seconds(Number(terms.leftMs))} are left.`,
      decisive: termNames(terms).map((term) => fact(`activity:${activity.activityId}`, term, terms[term])),
    };
  }
  return null;
};

function planScheduledRetry(activity: PendingActivity, atMs: number, view: View): RetryPlan {
  const { policy, contract, nowMs } = view;
  // Where nothing is promised, only what Temporal itself bounds is held against the retry.
  const reserve = (budgetMs: number | undefined, policyMs: number): number =>
    contract === null ? 0 : (budgetMs ?? policyMs);
  return planRetry({
    nowMs,
    runDeadlineMs: view.deadlineMs,
    attempt: activity.attempt,
    maximumAttempts: attemptsAllowed(view),
    backoffMs: atMs - nowMs,
    attemptEstimateMs: reserve(contract?.budgets.attemptEstimateMs, policy.retry.attemptEstimateMs),
    reconcileMs: reserve(contract?.budgets.reconcileMs, policy.retry.reconcileReserveMs),
    verifyMs: reserve(contract?.budgets.verifyMs, policy.retry.verifyReserveMs),
    permanent: false,
    openUnknownEffect: false,
    deliverablesVerified: view.dueDeliverables.every((due) => faultOf(due, view) === null),
  });
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}

function termNames(terms: RetryTerms): readonly (keyof RetryTerms)[] {
  return Object.keys(terms) as (keyof RetryTerms)[];
}
