/** The closed lists of judgement: verdicts, reasons, dispositions, actions. Everything else derives from them. */

export const VERDICTS = ['working', 'waiting', 'stuck', 'uncertain', 'false-success', 'healthy'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Worst first: the order of a report. */
export const VERDICTS_BY_SEVERITY: readonly Verdict[] = [
  'uncertain',
  'false-success',
  'stuck',
  'waiting',
  'working',
  'healthy',
];

export const DISPOSITIONS = [
  'open',
  'completed',
  'failed',
  'canceled',
  'terminated',
  'timed-out',
  'continued',
  'stopped',
  'unknown',
] as const;
export type Disposition = (typeof DISPOSITIONS)[number];

/** Every reason, under the verdict it can decide; `none` holds the reasons without a verdict. */
export const REASONS = {
  none: ['unknown-run', 'continued', 'not-instrumented', 'stopped'],
  uncertain: [
    'effect-unsettled',
    'effect-contradicted',
    'effect-level',
    'stop-unconfirmed',
    'sources-disagree',
    'work-after-close',
    'reporting-failure',
    'evidence-unread',
    'evidence-gap',
    'evidence-outage',
    'deliverable-unchecked',
    'run-not-found',
    'child-uncertain',
  ],
  'false-success': [
    'deliverable-missing',
    'deliverable-failed',
    'deliverable-stale',
    'deliverable-mismatch',
    'deliverable-claimed',
    'deliverable-incomplete',
    'effect-missing',
    'not-delivered',
  ],
  healthy: ['verified', 'judged'],
  stuck: [
    'closed-without-result',
    'workflow-task-failing',
    'no-poller',
    'permanent-failure',
    'attempts-spent',
    'deadline-spent',
    'retry-cannot-finish',
    'paused-without-wait',
    'wait-overdue',
    'wait-unresolvable',
    'wait-incomplete',
    'decision-not-consumed',
    'child-stuck',
    'loop',
    'milestone-stale',
    'silent',
  ],
  waiting: ['wait', 'retry-backoff', 'child-waiting'],
  working: ['milestone-fresh', 'expected', 'resumed', 'starting', 'child-working'],
} as const satisfies Readonly<Record<Verdict | 'none', readonly string[]>>;
export type Reason = (typeof REASONS)[Verdict | 'none'][number];

export const ALL_REASONS: readonly Reason[] = Object.values(REASONS).flat();

/** The safe thing to do, and the thing that must not be done (DESIGN 2). */
export const ACTIONS = [
  'leave-alone',
  'route-or-wait',
  'investigate-then-bounded-recovery',
  'reconcile-no-retry',
  'reopen-incident',
  'redeliver',
  'close-with-evidence',
  'none',
] as const;
export type Action = (typeof ACTIONS)[number];

export const FORBIDDEN = ['restart', 'answer-for-owner', 'unbounded-restart', 'retry', 'close', 'regenerate'] as const;
export type Forbidden = (typeof FORBIDDEN)[number];
