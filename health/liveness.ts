/** What is running right now, and how lately it gave a sign of life. A sign of life is never progress. */
import { emitterKeyOf } from '../receipts/fold.ts';
import { openMark } from '../receipts/state.ts';
import type { EffectEntry, EffectMark } from '../receipts/state.ts';
import type { PendingActivity } from './evidence.ts';
import type { View } from './view.ts';

/** An attempt is under way: started and not paused. A cancel that was asked for has not stopped it yet. */
export function isLive(activity: PendingActivity): boolean {
  return (activity.state === 'STARTED' || activity.state === 'CANCEL_REQUESTED') && activity.paused === null;
}

export function liveActivities(view: View): readonly PendingActivity[] {
  return view.open ? view.activities.filter(isLive) : [];
}

/** Waits for its next attempt at a known time. */
export function isBackingOff(activity: PendingActivity, nowMs: number): boolean {
  return wakesAtMs(activity, nowMs) !== null;
}

/** When the next attempt begins; null for an activity that is not backing off. */
export function wakesAtMs({ state, nextAttemptAtMs }: PendingActivity, nowMs: number): number | null {
  return state === 'SCHEDULED' && nextAttemptAtMs !== null && nextAttemptAtMs > nowMs ? nextAttemptAtMs : null;
}

/** Due for a worker since this moment; null where it is not due. */
export function dueSinceMs(activity: PendingActivity, nowMs: number): number | null {
  if (activity.state !== 'SCHEDULED' || activity.paused !== null || isBackingOff(activity, nowMs)) return null;
  return activity.nextAttemptAtMs ?? activity.scheduledAtMs;
}

/** The heartbeat of this attempt; one that is older than the attempt's start belongs to an earlier attempt. */
export function heartbeatAtMs(activity: PendingActivity): number | null {
  const { lastHeartbeatAtMs, lastStartedAtMs } = activity;
  if (lastHeartbeatAtMs === null || lastStartedAtMs === null) return null;
  return lastHeartbeatAtMs >= lastStartedAtMs ? lastHeartbeatAtMs : null;
}

/**
 * When the silence of a live attempt becomes staleness; null for an attempt that is not expected to beat. The SDKs hold
 * heartbeats back for up to 80 % of their timeout, so nothing shorter can be called stale.
 */
export function heartbeatStaleAtMs(activity: PendingActivity, view: View): number | null {
  if (!isLive(activity)) return null;
  const beat = heartbeatAtMs(activity);
  const timeoutMs = activity.heartbeatTimeoutMs;
  const lastSignMs = beat ?? (timeoutMs === null ? null : activity.lastStartedAtMs);
  if (lastSignMs === null) return null;
  const { heartbeatFreshMs, skewMs } = view.policy;
  return lastSignMs + Math.max(heartbeatFreshMs, timeoutMs === null ? 0 : 0.8 * timeoutMs + skewMs);
}

/**
 * Whether the attempt that wrote a mark is still under way: joined by run, activity id and attempt, since Describe tells no
 * schedule time of the current attempt; a newer fence in the store ends it.
 */
export function isMarkLive(mark: EffectMark, view: View): boolean {
  if (mark.runId !== view.evidence.run.runId) return false;
  const joined = liveActivities(view).some(
    (activity) => activity.activityId === mark.emitter && activity.attempt === mark.attempt,
  );
  return joined && !hasNewerFence(mark, view);
}

/** Known of the latest emitters that were replaced; an effect's window ends before many more are. */
function hasNewerFence(mark: EffectMark, { row }: View): boolean {
  const newest = row?.state.newestFences[emitterKeyOf(mark)];
  return newest !== undefined && newest > fenceOf(mark);
}

/** The `fenceKey` of a mark: its `orderKey` without the sequence. */
function fenceOf(mark: EffectMark): string {
  return mark.order.slice(0, mark.order.lastIndexOf('.'));
}

/** An effect whose newest attempt has no verdict yet, with the moment at which its window ends. */
export interface OpenEffect {
  readonly effect: EffectEntry;
  readonly state: 'attempted' | 'unknown';
  readonly mark: EffectMark;
  readonly windowEndsAtMs: number;
}

export function openEffects(view: View): readonly OpenEffect[] {
  const open: OpenEffect[] = [];
  for (const effect of view.effects) {
    const found = openMark(effect);
    if (found === null) continue;
    const windowMs = view.contract?.effects[effect.name]?.windowMs ?? view.policy.effectWindowMs;
    open.push({ effect, ...found, windowEndsAtMs: Math.min(found.mark.atMs, view.nowMs) + windowMs });
  }
  return open;
}
