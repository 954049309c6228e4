/**
 * Step 7, start-up grace: who has just begun may be silent. That is a chain without a milestone, and an attempt that begins
 * after a backoff.
 *
 * A run that slept a declared backoff comes back with an old milestone, and would be called stuck before it could do anything.
 * So its attempt has the grace, from the moment it starts (or comes due, where no worker has taken it yet). A retry loop must
 * not hide behind that, hence the bounds:
 *
 *   - a milestone was fresh when the attempt before ended, or the rest was itself as long as any milestone stays fresh: it is the
 *     rest that made them old. Of many short attempts none makes a milestone fresh again: once it is stale at the end of one,
 *     the next has no grace, so that a loop is called stuck one grace later at most
 *   - when the attempt before ended is known. Where it is not, nothing says what made the milestone old: no grace
 *   - the retry has a budget, as `retry-backoff` asks, and step 5 (permanent failure, attempts spent, deadline spent) comes first
 *
 * What is left: an activity that fails at once after each of a few long backoffs is waiting, for an instant working, and
 * waiting again, until its attempts are spent.
 */
import type { PendingActivity } from '../evidence.ts';
import { fact, startFact } from '../view.ts';
import type { View } from '../view.ts';
import { hasBudget } from './backoff.ts';
import type { Decision, Rule } from './rule.ts';

export const starting: Rule = (view) => (view.open ? (chainStarting(view) ?? attemptStarting(view)) : null);

/** Continuing as new does not begin a chain again. */
function chainStarting(view: View): Decision | null {
  const { startedAtMs, milestones, nowMs, policy } = view;
  if (startedAtMs === null || milestones.length > 0) return null;
  if (nowMs >= Math.min(startedAtMs, nowMs) + policy.startupGraceMs) return null;
  return {
    verdict: 'working',
    reason: 'starting',
    message: 'Started lately; the first milestone is not due yet.',
    decisive: [startFact(view)],
  };
}

interface Awakening {
  readonly activity: PendingActivity;
  readonly beganAtMs: number;
  readonly restMs: number;
}

function attemptStarting(view: View): Decision | null {
  const awake = awakenings(view).filter((awakening) => view.nowMs < graceEndsAtMs(awakening, view));
  const first = awake[0];
  if (first === undefined) return null;
  return {
    verdict: 'working',
    reason: 'starting',
    message: `Attempt ${first.activity.attempt} of ${first.activity.activityType} began lately, after a backoff; its first milestone is not due yet.`,
    decisive: awake.flatMap(({ activity, beganAtMs, restMs }) => [
      fact(`activity:${activity.activityId}`, 'attempt', activity.attempt),
      fact(`activity:${activity.activityId}`, 'beganAtMs', beganAtMs),
      fact(`activity:${activity.activityId}`, 'backoffMs', restMs),
    ]),
  };
}

/** Attempts that began, or are due, after a rest that made the milestones old. */
function awakenings(view: View): readonly Awakening[] {
  return view.activities.flatMap((activity) => {
    const beganAtMs = beginningOf(activity, view.nowMs);
    const endedAtMs = activity.lastAttemptEndedAtMs ?? null;
    if (beganAtMs === null || endedAtMs === null || !hasBudget(activity, view)) return [];
    // Who has told a milestone since has started.
    if (view.milestones.some(({ changedAtMs }) => changedAtMs >= beganAtMs)) return [];
    const restMs = beganAtMs - endedAtMs;
    const wasFresh = view.milestones.some(({ freshUntilMs }) => endedAtMs < freshUntilMs);
    return wasFresh || restMs >= longestFreshMs(view) ? [{ activity, beganAtMs, restMs }] : [];
  });
}

/** Of an attempt that was asked to stop, or is paused, nothing is expected. */
function beginningOf(
  { state, paused, lastStartedAtMs, nextAttemptAtMs }: PendingActivity,
  nowMs: number,
): number | null {
  if (paused !== null) return null;
  if (state === 'STARTED') return lastStartedAtMs;
  return state === 'SCHEDULED' && nextAttemptAtMs !== null && nextAttemptAtMs <= nowMs ? nextAttemptAtMs : null;
}

function longestFreshMs({ milestones, policy }: View): number {
  const known = milestones.map(({ freshUntilMs, changedAtMs }) => freshUntilMs - changedAtMs);
  return known.length === 0 ? policy.milestoneFreshMs : Math.max(...known);
}

function graceEndsAtMs({ beganAtMs }: Awakening, { nowMs, policy }: View): number {
  return Math.min(beganAtMs, nowMs) + policy.startupGraceMs;
}

/** When start-up graces end. */
export function startupLimits(view: View): readonly number[] {
  const chain = view.startedAtMs === null ? [] : [view.startedAtMs + view.policy.startupGraceMs];
  return [...chain, ...awakenings(view).map((awakening) => graceEndsAtMs(awakening, view))];
}
