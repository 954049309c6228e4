/**
 * One piece of evidence per reason, made so that pieces can be put together: each decides alone in the worlds it names,
 * and two of them together are evidence for both reasons.
 *
 * Everything happens within the last four minutes, so that `starting` can be put together with most.
 */
import type { Given } from '../../support/given.ts';
import type { Reason } from '../../../health/verdict.ts';

/** How the run stands: what a piece is added to, and the reason that the world has by itself. */
export const WORLDS = {
  open: { given: { status: 'RUNNING' }, reason: 'silent' },
  completed: {
    given: {
      status: 'COMPLETED',
      closed: '-3m30s',
      receipts: [{ deliverable: 'd-report', emitter: 'report', at: '-3m40s' }],
    },
    reason: 'verified',
  },
  failed: { given: { status: 'FAILED', closed: '-3m30s' }, reason: 'closed-without-result' },
  canceled: { given: { status: 'CANCELED', closed: '-3m30s' }, reason: 'stopped' },
  unknown: { given: { temporal: 'not-found' }, reason: 'unknown-run' },
} as const satisfies Readonly<Record<string, { given: Given; reason: Reason }>>;
export type World = keyof typeof WORLDS;

export interface Ingredient {
  readonly reason: Reason;
  readonly worlds: readonly World[];
  readonly given: Given;
  /** The design's step, and the place of its clause where the step has several: the lower decides. */
  readonly rank: number;
}

const CLOSED: readonly World[] = ['completed', 'failed', 'canceled'];
const SEEN: readonly World[] = ['open', ...CLOSED];

const fileDigest = { name: 'file-digest', options: {} };
const due = { destination: 'file', check: fileDigest };

function deliverable(reason: Reason, declared: object, receipt: Given['receipts'] = []): Ingredient {
  const name = `of-${reason}`;
  const receipts = (receipt ?? []).map((short) => ({ ...short, name, emitter: name }));
  // Redelivering is no answer while something else is missing, so it comes last.
  const rank = reason === 'deliverable-unchecked' ? 4 : reason === 'not-delivered' ? 4.3 : 4.1;
  return {
    reason,
    worlds: ['completed'],
    given: { contract: { deliverables: { [name]: { ...due, ...declared } } }, receipts },
    rank,
  };
}

function stuckActivity(
  reason: Reason,
  activity: Partial<NonNullable<Given['activities']>[number]>,
  rest: Given = {},
): Ingredient {
  const scheduled = { state: 'SCHEDULED', attempt: 2, scheduled: '-3m', next: '+10s', failure: 'HTTP503' } as const;
  return {
    reason,
    worlds: ['open'],
    given: { activities: [{ id: `of-${reason}`, ...scheduled, ...activity }], ...rest },
    rank: 5,
  };
}

function child(reason: Reason, verdict: 'working' | 'waiting' | 'stuck' | 'uncertain', rank: number): Ingredient {
  return { reason, worlds: ['open'], given: { children: [{ workflowId: `of-${reason}`, verdict }] }, rank };
}

export const INGREDIENTS: readonly Ingredient[] = [
  { reason: 'unknown-run', worlds: ['unknown'], given: {}, rank: 2 },
  { reason: 'continued', worlds: CLOSED, given: { resetRunId: 'R2' }, rank: 2 },
  { reason: 'not-instrumented', worlds: ['open', 'completed'], given: { contract: null }, rank: 2.5 },

  {
    reason: 'effect-unsettled',
    worlds: [...SEEN, 'unknown'],
    given: { receipts: [{ effect: 'u1', op: 'unsettled:1', emitter: 'unsettled', state: 'unknown', at: '-3m50s' }] },
    rank: 3.0,
  },
  {
    reason: 'effect-level',
    worlds: SEEN,
    given: {
      contract: { effects: { leveled: { due: 'any', levels: ['accepted', 'settled'] } } },
      receipts: [
        { effect: 'l1', op: 'leveled:1', emitter: 'leveled', state: 'verified', level: 'accepted', at: '-3m50s' },
      ],
    },
    rank: 3.0,
  },
  {
    reason: 'stop-unconfirmed',
    worlds: SEEN,
    given: { stops: [{ stop: 's-unconfirmed', scope: 'remote', state: 'requested', at: '-3m' }] },
    rank: 3.1,
  },
  {
    reason: 'effect-contradicted',
    worlds: SEEN,
    given: {
      receipts: [
        { effect: 'c1', op: 'contradicted:1', emitter: 'contradicted', state: 'verified', at: '-3m55s' },
        { effect: 'c2', op: 'contradicted:1', emitter: 'contradicted', state: 'none', at: '-3m50s' },
      ],
    },
    rank: 3.0,
  },
  {
    reason: 'sources-disagree',
    worlds: ['open'],
    given: {
      receipts: [
        {
          effect: 'n1',
          op: 'newer:1',
          emitter: 'newer',
          run: 'R2',
          chain: 'R1',
          runStarted: '-3m',
          state: 'verified',
          at: '-2m50s',
        },
      ],
    },
    rank: 3.2,
  },
  {
    reason: 'work-after-close',
    worlds: CLOSED,
    given: { receipts: [{ progress: 'after1', milestone: 'after', emitter: 'after', at: '-1m' }] },
    rank: 3.2,
  },
  {
    reason: 'reporting-failure',
    worlds: ['open'],
    given: {
      activities: [{ id: 'silent-beat', started: '-3m50s', heartbeat: '-3m40s' }],
      receipts: [{ effect: 'f1', op: 'fresh:1', emitter: 'silent-beat', state: 'verified', at: '-1m' }],
    },
    rank: 3.3,
  },
  { reason: 'evidence-unread', worlds: [...SEEN, 'unknown'], given: { unread: [{ source: 'store' }] }, rank: 3.4 },
  { reason: 'evidence-outage', worlds: ['open'], given: { gaps: [{ from: '-2m', until: null }] }, rank: 3.4 },
  {
    reason: 'evidence-gap',
    worlds: SEEN,
    given: {
      receipts: [{ effect: 'g2', op: 'gapped:1', emitter: 'gapped', sequence: 2, state: 'verified', at: '-3m50s' }],
    },
    rank: 3.4,
  },
  {
    reason: 'run-not-found',
    worlds: ['unknown'],
    given: { receipts: [{ effect: 'k1', op: 'known:1', emitter: 'known', state: 'verified', at: '-3m50s' }] },
    rank: 3.4,
  },

  deliverable('deliverable-unchecked', {}, [{ deliverable: 'd-unchecked', result: 'unread', at: '-3m45s' }]),
  deliverable('deliverable-missing', {}),
  deliverable('deliverable-failed', {}, [{ deliverable: 'd-failed', result: 'fail', at: '-3m45s' }]),
  deliverable('deliverable-stale', { freshMs: 1000 }, [{ deliverable: 'd-stale', at: '-3m45s' }]),
  deliverable('deliverable-mismatch', {}, [{ deliverable: 'd-elsewhere', destination: 'scratch', at: '-3m45s' }]),
  deliverable('deliverable-claimed', {}, [{ deliverable: 'd-claimed', check: 'agent-statement', at: '-3m45s' }]),
  deliverable('deliverable-incomplete', {}, [
    { deliverable: 'd-incomplete', coverage: { expected: 2, accepted: 1 }, at: '-3m45s' },
  ]),
  deliverable('not-delivered', { transports: ['mail'] }, [{ deliverable: 'd-undelivered', at: '-3m45s' }]),
  {
    reason: 'effect-missing',
    worlds: ['completed'],
    given: { contract: { effects: { due: { due: 'once' } } } },
    rank: 4.2,
  },
  {
    ...deliverable('judged', { check: null, noDeterministicCheck: 'prose' }, [
      { deliverable: 'd-judged', check: 'llm-judge', confidence: 0.9, at: '-3m45s' },
    ]),
    rank: 4.4,
  },
  { reason: 'verified', worlds: ['completed'], given: {}, rank: 4.5 },
  { reason: 'stopped', worlds: ['canceled'], given: {}, rank: 4.5 },
  { reason: 'closed-without-result', worlds: ['failed'], given: {}, rank: 4.5 },

  { reason: 'workflow-task-failing', worlds: ['open'], given: { workflowTask: { attempt: 9 } }, rank: 5 },
  stuckActivity(
    'no-poller',
    { attempt: 1, next: null, queue: 'unserved', failure: undefined },
    { queues: [{ name: 'unserved', lastPoll: null, backlogAge: '3m' }] },
  ),
  stuckActivity('permanent-failure', { failure: 'HTTP422' }),
  stuckActivity('attempts-spent', { attempt: 37 }),
  stuckActivity('retry-cannot-finish', { next: '+10m' }, { deadline: '+12m' }),
  stuckActivity('paused-without-wait', { state: 'PAUSED', next: null, paused: { by: 'ops' } }),
  { reason: 'deadline-spent', worlds: ['open'], given: { deadline: '-1s' }, rank: 5 },

  {
    reason: 'wait',
    worlds: ['open'],
    given: { receipts: [{ wait: 'w-valid', token: 'T-valid', emitter: 'w-valid', at: '-30s' }] },
    rank: 6,
  },
  {
    reason: 'milestone-fresh',
    worlds: ['open'],
    given: { receipts: [{ progress: 'fresh1', milestone: 'fresh', emitter: 'fresh', at: '-1m' }] },
    rank: 7.0,
  },
  {
    reason: 'expected',
    worlds: ['open'],
    given: {
      contract: { milestones: { expected: { freshMs: 1000 } } },
      receipts: [{ progress: 'expected1', milestone: 'expected', emitter: 'expected', expectBy: '+5m', at: '-3m' }],
    },
    rank: 7.1,
  },
  {
    reason: 'resumed',
    worlds: ['open'],
    given: {
      receipts: [{ wait: 'w-consumed', token: 'T-consumed', emitter: 'w-consumed', state: 'consumed', at: '-2m' }],
    },
    rank: 7.2,
  },
  { reason: 'starting', worlds: ['open'], given: { started: '-4m' }, rank: 7.3 },
  child('child-working', 'working', 7.4),
  {
    reason: 'retry-backoff',
    worlds: ['open'],
    given: {
      activities: [
        {
          id: 'resting',
          state: 'SCHEDULED',
          attempt: 2,
          maximumAttempts: 5,
          scheduled: '-3m',
          next: '+1m',
          expires: '+90m',
          failure: 'HTTP503',
        },
      ],
    },
    rank: 8,
  },
  child('child-waiting', 'waiting', 8),
  child('child-uncertain', 'uncertain', 8.5),
  child('child-stuck', 'stuck', 9),
  {
    reason: 'decision-not-consumed',
    worlds: ['open'],
    given: {
      receipts: [{ wait: 'w-resolved', token: 'T-resolved', emitter: 'w-resolved', state: 'resolved', at: '-3m' }],
    },
    rank: 9,
  },
  {
    reason: 'wait-overdue',
    worlds: ['open'],
    given: { receipts: [{ wait: 'w-late', token: 'T-late', emitter: 'w-late', deadline: '-1s', at: '-3m' }] },
    rank: 9,
  },
  {
    reason: 'wait-incomplete',
    worlds: ['open'],
    given: {
      receipts: [{ wait: 'w-incomplete', token: 'T-incomplete', emitter: 'w-incomplete', owner: null, at: '-3m' }],
    },
    rank: 9,
  },
  {
    reason: 'wait-unresolvable',
    worlds: ['open'],
    given: {
      children: [{ workflowId: 'of-wait-unresolvable', verdict: 'stuck' }],
      receipts: [
        {
          wait: 'w-dead',
          token: 'T-dead',
          emitter: 'w-dead',
          resumeBy: 'workflow',
          condition: 'of-wait-unresolvable',
          at: '-3m',
        },
      ],
    },
    rank: 9,
  },
  {
    reason: 'loop',
    worlds: ['open'],
    given: {
      contract: { milestones: { loop: { freshMs: 120_000 } } },
      receipts: [
        { progress: 'loop1', milestone: 'loop', digest: 'D', emitter: 'loop', at: '-3m' },
        { progress: 'loop2', milestone: 'loop', digest: 'D', emitter: 'loop', at: '-1m' },
      ],
    },
    rank: 9,
  },
  {
    reason: 'milestone-stale',
    worlds: ['open'],
    given: {
      contract: { milestones: { stale: { freshMs: 1000 } } },
      receipts: [{ progress: 'stale1', milestone: 'stale', emitter: 'stale', at: '-3m' }],
    },
    rank: 9.5,
  },
  { reason: 'silent', worlds: ['open'], given: {}, rank: 9.9 },
];

const REPORT = { report: due };

/** A world with pieces added: lists are joined, parts of the contract are joined, the earlier deadline holds. */
export function together(world: World, ...pieces: readonly Given[]): Given {
  let given: Given = { contract: { deliverables: world === 'completed' ? REPORT : {} }, ...WORLDS[world].given };
  for (const piece of pieces) given = join(given, piece);
  return given;
}

function join(a: Given, b: Given): Given {
  const lists = ['receipts', 'activities', 'stops', 'children', 'queues', 'unread', 'gaps'] as const;
  const joined: Record<string, unknown> = { ...a, ...b };
  for (const list of lists) {
    if (a[list] !== undefined || b[list] !== undefined) joined[list] = [...(a[list] ?? []), ...(b[list] ?? [])];
  }
  joined['contract'] = joinContracts(a.contract, b.contract);
  if (a.deadline !== undefined && b.deadline !== undefined) joined['deadline'] = '-1s';
  return joined;
}

function joinContracts(a: Given['contract'], b: Given['contract']): Given['contract'] {
  if (a === null || b === null) return null;
  return {
    milestones: { ...a?.milestones, ...b?.milestones },
    effects: { ...a?.effects, ...b?.effects },
    deliverables: { ...a?.deliverables, ...b?.deliverables },
  };
}
