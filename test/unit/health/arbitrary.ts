/**
 * Arbitrary valid evidence: any mixture of run states, activities, receipts of several attempts, runs and missions, stops,
 * children, outages and unread sources, most of it near the moments at which something changes.
 */
import fc from 'fast-check';
import { ACTIVITY_STATES, EVIDENCE_SOURCES, RUN_STATUSES, STOP_SCOPES, STOP_STATES } from '../../../health/evidence.ts';
import type { EvidenceDocument } from '../../../health/evidence.ts';
import { ALL_REASONS, VERDICTS } from '../../../health/verdict.ts';
import { CHECK_RESULTS, EFFECT_STATES, WAIT_STATES } from '../../../receipts/receipt.ts';
import { documentOf } from '../../support/evidence.ts';
import type { Given, ShortReceipt } from '../../support/given.ts';
import { NOW_MS } from '../../support/times.ts';

const MINUTE_MS = 60_000;

/** Times near the limits of the default policy, on both sides of them, and anywhere in some hours. */
const near = (limitMs: number): fc.Arbitrary<number> =>
  fc.constantFrom(-1, 0, 1).map((offset) => NOW_MS - limitMs + offset);
const past = fc.oneof(
  fc.integer({ min: -4 * 60 * MINUTE_MS, max: -1 }).map((offset) => NOW_MS + offset),
  fc.integer({ min: -11 * MINUTE_MS, max: -1 }).map((offset) => NOW_MS + offset),
  ...[2, 5, 10].map((minutes) => near(minutes * MINUTE_MS)),
  near(5000),
);
const future = fc.integer({ min: 1, max: 3 * 60 * MINUTE_MS }).map((offset) => NOW_MS + offset);
const anyTime = fc.oneof({ weight: 3, arbitrary: past }, { weight: 1, arbitrary: future });
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null });

const emitter = fc.constantFrom('a1', 'b1', 'workflow');
const sha = fc.constantFrom('one', 'two');

const envelope = {
  at: fc.oneof({ weight: 8, arbitrary: past }, { weight: 1, arbitrary: future }),
  emitter,
  attempt: fc.constantFrom(1, 1, 1, 2),
};
const elsewhere = {
  run: fc.constantFrom('R0', 'R1'),
  recorded: past,
  mission: fc.constantFrom('M1', 'M2'),
};

/** Strips members that were not drawn. */
function draw<T extends object>(required: object, rare: object): fc.Arbitrary<T> {
  const all = { ...required, ...rare } as Record<string, fc.Arbitrary<unknown>>;
  return fc
    .tuple(fc.record(all), fc.constantFrom(...[[], [], [], ...Object.keys(rare).map((key) => [key])]))
    .map(([drawn, kept]) => {
      const entries = Object.entries(drawn).filter(([key]) => key in required || kept.includes(key));
      return Object.fromEntries(entries) as T;
    });
}

const progress = draw<Extract<ShortReceipt, { progress: string }>>(
  {
    progress: fc.constant('p'),
    milestone: fc.constantFrom('read', 'written'),
    digest: fc.constantFrom('A', 'B', 'C'),
    ...envelope,
  },
  { ...elsewhere, expectBy: anyTime, end: fc.constant('budget-exhausted') },
);
const wait = draw<Extract<ShortReceipt, { wait: string }>>(
  {
    wait: fc.constant('w'),
    token: fc.constantFrom('T1', 'T2', ''),
    state: fc.constantFrom('open', 'open', ...WAIT_STATES),
    ...envelope,
    emitter: fc.constant('workflow'),
    owner: fc.constantFrom('ops', 'qa', null),
    deadline: optional(anyTime),
  },
  { ...elsewhere, reconciles: fc.constant('pay:1') },
);
const effect = draw<Extract<ShortReceipt, { effect: string }>>(
  {
    effect: fc.constant('e'),
    op: fc.constantFrom('pay:1', 'pay:2', 'mail:1'),
    state: fc.constantFrom(...EFFECT_STATES),
    ...envelope,
  },
  {
    ...elsewhere,
    by: fc.constantFrom('destination', 'person', null),
    level: fc.constantFrom('accepted', 'settled'),
    result: sha,
    role: fc.constant('delivery'),
    deliverable: fc.constant('report'),
  },
);
const deliverable = draw<Extract<ShortReceipt, { deliverable: string }>>(
  {
    deliverable: fc.constant('d'),
    name: fc.constantFrom('report', 'summary'),
    result: fc.constantFrom('pass', ...CHECK_RESULTS),
    ...envelope,
  },
  {
    ...elsewhere,
    check: fc.constantFrom('agent-statement', 'llm-judge'),
    destination: fc.constant('scratch'),
    size: fc.constantFrom(0, 1, 8121),
    confidence: fc.double({ min: 0, max: 1, noNaN: true }).map((confidence) => Math.abs(confidence)),
    coverage: fc.record({ expected: fc.integer({ min: 0, max: 3 }), accepted: fc.integer({ min: 0, max: 3 }) }),
  },
);

/** Receipts with ids of their own, in the order of their list. */
export const shortReceipts: fc.Arbitrary<ShortReceipt[]> = fc
  .array(fc.oneof(progress, progress, wait, effect, deliverable), { maxLength: 9 })
  .map((receipts) =>
    receipts.map((receipt, index): ShortReceipt => {
      const id = `r${index}`;
      if ('progress' in receipt) return { ...receipt, progress: id };
      if ('wait' in receipt) return { ...receipt, wait: id };
      if ('effect' in receipt) return { ...receipt, effect: id };
      return { ...receipt, deliverable: id };
    }),
  );

const activity = fc.record({
  id: fc.constantFrom('a1', 'b1', 'c1'),
  state: fc.constantFrom(...ACTIVITY_STATES),
  attempt: fc.constantFrom(1, 1, 2, 5, 6, 900),
  maximumAttempts: fc.constantFrom(0, 5),
  scheduled: past,
  started: optional(past),
  heartbeat: optional(anyTime),
  heartbeatTimeout: fc.constantFrom('30s', '10m'),
  next: optional(anyTime),
  ended: optional(past),
  expires: optional(anyTime),
  failure: fc.constantFrom('HTTP503', 'HTTP422', 'Timeout'),
  queue: fc.constantFrom('main', 'other'),
});
const activities = fc.uniqueArray(
  fc.oneof(
    activity,
    activity.map(({ heartbeatTimeout: _none, failure: _passed, ...rest }) => rest),
    activity.map((rest) => ({ ...rest, state: 'PAUSED' as const, paused: { by: 'ops' } })),
  ),
  { selector: ({ id }) => id, maxLength: 2 },
);

const queues = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('main', 'other'),
    kind: fc.constantFrom('workflow', 'activity'),
    lastPoll: optional(past),
    backlogAge: fc.constantFrom('0s', '1m', '10m'),
  }),
  { selector: ({ name, kind }) => `${kind} ${name}`, maxLength: 3 },
);

const check = { name: 'file-digest', options: {} };
const report = { destination: 'file', check };
const contract = fc.constantFrom(
  undefined,
  undefined,
  null,
  { deliverables: {} },
  { deliverables: { report, summary: { destination: 'file', check: null, noDeterministicCheck: 'prose' } } },
  { deliverables: { report: { ...report, coverage: true, freshMs: 10 * MINUTE_MS, transports: ['mail'] } } },
  { effects: { pay: { due: 'once', levels: ['accepted', 'settled'] }, mail: { due: 'any', windowMs: 30_000 } } },
  { milestones: { read: { freshMs: 30_000 } }, budgets: { attempts: 2 } },
);

const commonly = <T>(usual: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });

/** The short form of arbitrary evidence. */
export const arbitraryGiven: fc.Arbitrary<Given> = fc
  .record({
    status: fc.constantFrom('RUNNING', 'RUNNING', 'RUNNING', 'COMPLETED', 'COMPLETED', ...RUN_STATUSES),
    started: past,
    closed: past,
    expires: commonly(null, optional(anyTime)),
    deadline: fc.oneof(fc.constant(null), anyTime),
    temporal: commonly<Given['temporal']>(
      undefined,
      fc.constantFrom('not-asked' as const, 'not-found' as const, { unread: 'UNAVAILABLE' }),
    ),
    listed: commonly<Given['listed']>(
      undefined,
      // A list tells when a closed run closed.
      fc.record({ status: fc.constantFrom(...RUN_STATUSES), started: past, closed: past }),
    ),
    resetRunId: commonly<string | undefined>(undefined, fc.constant('R2')),
    closeEvent: commonly<Given['closeEvent']>(
      undefined,
      fc.constantFrom(null, { identity: 'ops' }, { identity: 'history-service' }, { successor: 'R2' }),
    ),
    historyEvents: fc.constantFrom(0, 10_240, 51_200),
    historyGrowth: fc.constantFrom(0, 60),
    activities,
    workflowTask: commonly<Given['workflowTask']>(
      undefined,
      fc.record({ attempt: fc.constantFrom(1, 4, 5), scheduled: past, started: fc.boolean() }),
    ),
    paused: commonly<Given['paused']>(undefined, fc.constant({ by: 'ops' })),
    queues,
    receipts: shortReceipts,
    mission: commonly<string | null>(null, fc.constantFrom('M1', 'M2')),
    stops: fc.uniqueArray(
      fc.record({
        stop: fc.constantFrom('s1', 's2'),
        scope: fc.constantFrom(...STOP_SCOPES),
        state: fc.constantFrom(...STOP_STATES),
        at: past,
      }),
      { selector: ({ stop }) => stop, maxLength: 2 },
    ),
    children: fc.uniqueArray(
      fc.record({
        workflowId: fc.constantFrom('wf-c', 'wf-d'),
        verdict: fc.constantFrom(null, ...VERDICTS),
        reason: fc.constantFrom(null, ...ALL_REASONS),
      }),
      { selector: ({ workflowId }) => workflowId, maxLength: 2 },
    ),
    plan: commonly<Given['plan']>(null, fc.constant({ units: 3, committed: 2, failed: 0, unclaimed: 1 })),
    contract,
    unread: fc
      .array(fc.record({ source: fc.constantFrom(...EVIDENCE_SOURCES) }), { maxLength: 2 })
      .chain((some) => commonly<{ source: (typeof EVIDENCE_SOURCES)[number] }[]>([], fc.constant(some))),
    gaps: commonly<NonNullable<Given['gaps']>>(
      [],
      fc.array(
        fc.record({
          worker: fc.constantFrom('worker-1', 'worker-2'),
          from: past,
          until: fc.oneof(fc.constant(null), fc.constant(NOW_MS), past),
        }),
        { maxLength: 3 },
      ),
    ),
    storeAsked: commonly(true, fc.constant(false)),
  })
  .map((drawn) => Object.fromEntries(Object.entries(drawn).filter(([, value]) => value !== undefined)) as Given);

/**
 * The same without what decides early (open effects, stops, spent budgets, sources that failed), so that waits, milestones
 * and deliverables decide often enough.
 */
function calm(given: Given, completed: boolean): Given {
  const {
    temporal: _read,
    listed: _unlisted,
    resetRunId: _same,
    closeEvent: _own,
    workflowTask: _done,
    ...rest
  } = given;
  const { paused: _running, ...quiet } = rest;
  return {
    ...quiet,
    status: completed ? 'COMPLETED' : 'RUNNING',
    closed: NOW_MS,
    expires: null,
    deadline: null,
    stops: [],
    gaps: [],
    unread: [],
    storeAsked: true,
    children: (given.children ?? []).slice(0, 1),
    activities: (given.activities ?? []).filter(({ attempt, state }) => (attempt ?? 1) === 1 && state !== 'PAUSED'),
    receipts: (given.receipts ?? []).filter((receipt) => !('effect' in receipt) || receipt.state === 'verified'),
  };
}

/** Of which now and then a receipt is lost. */
export const arbitraryEvidence: fc.Arbitrary<EvidenceDocument> = fc
  .tuple(
    arbitraryGiven,
    fc.constantFrom('any', 'calm', 'calm and completed'),
    commonly<number | null>(null, fc.nat({ max: 8 })),
  )
  .map(([given, mood, lost]) => {
    const document = documentOf(mood === 'any' ? given : calm(given, mood === 'calm and completed'));
    return { ...document, receipts: (document.receipts ?? []).filter((_receipt, index) => index !== lost) };
  });
