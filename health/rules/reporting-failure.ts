/** Step 3: a stale heartbeat beside a fresh destination receipt, where no milestone is fresh: the reporting failed, or the work. */
import { heartbeatStaleAtMs, liveActivities } from '../liveness.ts';
import { fact } from '../view.ts';
import type { View } from '../view.ts';
import type { EffectMark } from '../../receipts/state.ts';
import type { Rule } from './rule.ts';

/** Until when a destination's word counts as fresh. */
export function destinationFreshUntilMs(mark: EffectMark, view: View): number {
  return Math.min(mark.atMs, view.nowMs) + view.policy.milestoneFreshMs;
}

export const reportingFailure: Rule = (view) => {
  if (!view.open || view.milestones.some(({ freshUntilMs }) => view.nowMs < freshUntilMs)) return null;
  const stale = liveActivities(view).filter((activity) => {
    const atMs = heartbeatStaleAtMs(activity, view);
    return atMs !== null && view.nowMs >= atMs;
  });
  const fresh = view.effects.flatMap(({ verified }) =>
    verified !== null && view.nowMs < destinationFreshUntilMs(verified, view) ? [verified] : [],
  );
  if (stale.length === 0 || fresh.length === 0) return null;
  return {
    verdict: 'uncertain',
    reason: 'reporting-failure',
    message: 'The heartbeat is stale and the destination answered lately: reporting failed, or the work did.',
    decisive: [
      ...stale.map((activity) =>
        fact(`activity:${activity.activityId}`, 'lastHeartbeatAtMs', activity.lastHeartbeatAtMs),
      ),
      ...fresh.map((mark) => fact(mark.receiptId, 'recordedAtMs', mark.atMs)),
    ],
  };
};
