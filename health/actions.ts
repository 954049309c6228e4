/** Each verdict's one safe action, and what must not be done. */
import type { Action, Forbidden, Reason, Verdict } from './verdict.ts';

interface Advice {
  readonly safeAction: Action;
  readonly forbidden: readonly Forbidden[];
}

const BY_VERDICT: Readonly<Record<Verdict, Advice>> = {
  working: { safeAction: 'leave-alone', forbidden: ['restart'] },
  waiting: { safeAction: 'route-or-wait', forbidden: ['restart', 'answer-for-owner'] },
  stuck: { safeAction: 'investigate-then-bounded-recovery', forbidden: ['unbounded-restart'] },
  uncertain: { safeAction: 'reconcile-no-retry', forbidden: ['retry', 'restart'] },
  'false-success': { safeAction: 'reopen-incident', forbidden: ['close'] },
  healthy: { safeAction: 'close-with-evidence', forbidden: [] },
};

const NOTHING: Advice = { safeAction: 'none', forbidden: [] };

export function adviceFor(verdict: Verdict | null, reason: Reason): Advice {
  // What was made is there: making it again would be a second result.
  if (reason === 'not-delivered') return { safeAction: 'redeliver', forbidden: ['regenerate', 'close'] };
  // Not knowing a run is no leave to start it.
  if (reason === 'unknown-run') return { safeAction: 'none', forbidden: ['restart'] };
  return verdict === null ? NOTHING : BY_VERDICT[verdict];
}
