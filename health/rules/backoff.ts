/** Step 8: a retry whose wake time and budget are explicit. That it can still finish was decided in step 5. */
import { isBackingOff } from '../liveness.ts';
import type { PendingActivity } from '../evidence.ts';
import { fact } from '../view.ts';
import type { View } from '../view.ts';
import type { Rule } from './rule.ts';

/** Something says when it ends, whatever becomes of the attempts. */
export function hasBudget({ maximumAttempts, expiresAtMs }: PendingActivity, { deadlineMs }: View): boolean {
  return maximumAttempts > 0 || expiresAtMs !== null || deadlineMs !== null;
}

export const retryBackoff: Rule = (view) => {
  if (!view.open) return null;
  const resting = view.activities.filter(
    (activity) => isBackingOff(activity, view.nowMs) && activity.paused === null && hasBudget(activity, view),
  );
  const first = resting[0];
  if (first === undefined) return null;
  return {
    verdict: 'waiting',
    reason: 'retry-backoff',
    message: `${first.activityType} waits for attempt ${first.attempt}${first.lastFailure === null ? '' : ` after ${first.lastFailure.type}`}.`,
    decisive: resting.flatMap((activity) => [
      fact(`activity:${activity.activityId}`, 'nextAttemptAtMs', activity.nextAttemptAtMs),
      fact(`activity:${activity.activityId}`, 'expiresAtMs', activity.expiresAtMs),
      fact(`activity:${activity.activityId}`, 'attempt', activity.attempt),
      fact(`activity:${activity.activityId}`, 'maximumAttempts', activity.maximumAttempts),
    ]),
  };
};
