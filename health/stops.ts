/** Stops that somebody asked for: those the store holds, and those that a cancel or terminate in Temporal implies. */
import type { Stop } from './evidence.ts';
import { openEffects } from './liveness.ts';
import type { View } from './view.ts';

/** The server's own identities: what they end was not asked for by anybody. */
const SERVER_IDENTITIES = new Set([
  'history-service',
  'history-resetter',
  'worker-service',
  'matching-service',
  'frontend-service',
]);

export function isServerIdentity(identity: string | null): boolean {
  return identity !== null && SERVER_IDENTITIES.has(identity);
}

/**
 * A cancel or terminate that found an activity pending or an effect open is a stop requested at the close: closing the run
 * did not stop them (a non-heartbeating activity goes on, measured).
 */
export function impliedStop(view: View): Stop | null {
  const { temporal, run } = view.evidence;
  if (view.status !== 'CANCELED' && view.status !== 'TERMINATED') return null;
  const close = temporal.source === 'describe' ? temporal.closeEvent : null;
  if (isServerIdentity(close?.identity ?? null) || view.closedAtMs === null) return null;
  if (view.evidence.stops.some((stop) => stop.scope === 'local' && stop.state === 'confirmed')) return null;
  if (view.activities.length === 0 && openEffects(view).length === 0) return null;
  return {
    stopId: `close:${run.runId}`,
    scope: 'local',
    target: view.activities[0]?.activityId ?? null,
    state: 'requested',
    requestedAtMs: view.closedAtMs,
    by: close?.identity ?? null,
  };
}

export function stopsOf(view: View): readonly Stop[] {
  const implied = impliedStop(view);
  const stops = [...view.evidence.stops].sort((a, b) => (a.stopId < b.stopId ? -1 : 1));
  return implied === null ? stops : [...stops, implied];
}

/** Neither confirmed nor refused, and past its grace; or its outcome is unknown. */
export function isUnconfirmed(stop: Stop, view: View): boolean {
  if (stop.state === 'unknown') return true;
  return stop.state === 'requested' && view.nowMs >= stopGraceEndsAtMs(stop, view);
}

export function stopGraceEndsAtMs(stop: Stop, view: View): number {
  return Math.min(stop.requestedAtMs, view.nowMs) + view.policy.stopGraceMs;
}
