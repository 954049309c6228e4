/** The next moment at which time alone can change a judgement: the earliest of all limits that still lie ahead. */
import { heartbeatStaleAtMs, liveActivities, openEffects } from './liveness.ts';
import { dueWork } from './rules/no-poller.ts';
import { loopsUntilMs, resumedUntilMs } from './rules/milestones.ts';
import { destinationFreshUntilMs } from './rules/reporting-failure.ts';
import { startupLimits } from './rules/starting.ts';
import { resumeGraceEndsAtMs } from './rules/waits.ts';
import { stopGraceEndsAtMs, stopsOf } from './stops.ts';
import type { View } from './view.ts';

export function validUntilMs(view: View): number | null {
  const ahead = limits(view).filter((atMs): atMs is number => atMs !== null && atMs > view.nowMs);
  return ahead.length === 0 ? null : Math.min(...ahead);
}

function limits(view: View): readonly (number | null)[] {
  const { policy, evidence } = view;
  const always = [
    ...stopsOf(view).map((stop) => stopGraceEndsAtMs(stop, view)),
    ...Object.values(view.row?.state.emitterGaps ?? {}).map(({ sinceMs }) => sinceMs + policy.gapGraceMs),
  ];
  // A closed run does not age: only a stop or a receipt may still be on its way.
  if (!view.open) return always;
  return [
    ...always,
    ...startupLimits(view),
    view.deadlineMs,
    resumedUntilMs(view),
    ...view.milestones.flatMap((milestone) => [
      milestone.freshUntilMs,
      milestone.change[3],
      loopsUntilMs(milestone, view),
    ]),
    ...view.waits.flatMap((wait) => [wait.deadlineMs, resumeGraceEndsAtMs(wait, view)]),
    ...openEffects(view).map(({ windowEndsAtMs }) => windowEndsAtMs),
    ...view.effects.flatMap((effect) => {
      if (effect.verified === null) return [];
      const windowMs = view.contract?.effects[effect.name]?.windowMs ?? policy.effectWindowMs;
      return [destinationFreshUntilMs(effect.verified, view), effect.verified.atMs + windowMs];
    }),
    ...evidence.gaps.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs === null ? null : untilMs + 1]),
    ...liveActivities(view).map((activity) => heartbeatStaleAtMs(activity, view)),
    ...view.activities.map(({ nextAttemptAtMs }) => nextAttemptAtMs),
    ...view.activities.map(({ nextAttemptAtMs }) =>
      nextAttemptAtMs === null ? null : nextAttemptAtMs + policy.noPollerGraceMs,
    ),
    ...dueWork(view).flatMap(({ sinceMs, queue }) => [
      sinceMs + policy.noPollerGraceMs,
      queue === null || queue.lastPollAtMs === null ? null : queue.lastPollAtMs + policy.noPollerGraceMs,
    ]),
  ];
}
