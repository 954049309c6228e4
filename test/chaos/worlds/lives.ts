/**
 * The lives that runs have: some ordinary phases, then an end that is good, bad or unknown. Each tells its truth as it goes.
 * Add one here; what reports lose on the way is `evidence-at.ts`.
 */
import type { Contract } from '../../../receipts/contract.ts';
import type { WaitBody } from '../../../receipts/receipt.ts';
import { MINUTE, POLICY, SECOND, Story } from './story.ts';
import type { Random } from './random.ts';

const CONTRACT: Contract = {
  schemaVersion: 1,
  workflowType: 'world',
  milestones: {},
  effects: { pay: { due: 'any', class: 'observable' } },
  deliverables: { report: { destination: 'file', check: { name: 'file-digest', options: {} } } },
  budgets: { runMs: 30 * 24 * 60 * MINUTE },
};
const OWES_PAYMENT: Contract = { ...CONTRACT, effects: { pay: { due: 'once', class: 'observable' } } };

type Phase = (story: Story) => void;

/** Longer than this without a milestone is longer than a milestone is fresh, once clocks differ. */
const LONGEST_STEP = POLICY.milestoneFreshMs - 2 * POLICY.skewMs - SECOND;
const FAILED = { type: 'ConnectionReset', nonRetryable: false };

const beat = (story: Story): number | null =>
  story.random.chance(0.5) ? story.random.between(SECOND, 20 * SECOND) : null;

function step(story: Story): void {
  story.pass(story.random.between(SECOND, LONGEST_STEP));
  story.milestone();
}

const work: Phase = (story) => {
  story.start('activity', {}, beat(story));
  story.milestone();
  for (let count = story.random.between(1, 8); count > 0; count -= 1) step(story);
};

const declaredSilence: Phase = (story) => {
  story.start('activity', {}, beat(story));
  const expectedMs = story.random.between(POLICY.milestoneFreshMs, 300 * MINUTE);
  story.milestone({ step: 'long one', expectByMs: story.nowMs + expectedMs });
  story.pass(story.random.between(SECOND, expectedMs - 2 * POLICY.skewMs));
  story.milestone();
};

const effect: Phase = (story) => {
  story.start('activity');
  story.milestone();
  const operationId = `pay/${story.newDigest()}`;
  story.report('effect', { operationId, name: 'pay', state: 'attempted' });
  story.pass(story.random.between(1, POLICY.effectWindowMs - 2 * POLICY.skewMs));
  story.report('effect', { operationId, name: 'pay', state: 'verified', verdict: { by: 'destination' } });
  story.milestone();
};

function openWait(story: Story, deadlineMs: number): string {
  const resumeToken = `token-${story.newDigest()}`;
  const wait = { name: 'approve', owner: 'ann', deadlineMs, resumeToken, resumeBy: 'signal' } as const;
  story.end();
  story.report('wait', { ...wait, state: 'open' }, story.workflow);
  return resumeToken;
}

const answeredWait: Phase = (story) => {
  const deadlineMs = story.nowMs + story.random.between(20 * MINUTE, 3 * 24 * 60 * MINUTE);
  const resumeToken = openWait(story, deadlineMs);
  story.become('waiting', story.nowMs, 'working');
  story.pass(story.random.between(SECOND, deadlineMs - story.nowMs));
  const wait = { name: 'approve', owner: 'ann', deadlineMs, resumeToken, resumeBy: 'signal' } as const;
  story.report('wait', { ...wait, state: 'consumed' }, story.workflow);
  story.become('working');
  story.pass(story.random.between(SECOND, LONGEST_STEP));
  work(story);
};

const backoff: Phase = (story) => {
  story.start('activity');
  story.milestone();
  story.pass(story.random.between(SECOND, MINUTE));
  const restMs = story.random.between(SECOND, 40 * MINUTE);
  story.fail(FAILED, story.nowMs + restMs);
  story.become('waiting', story.changedAtMs + POLICY.milestoneFreshMs, 'working');
  story.pass(restMs);
  story.start('attempt');
  story.become('working', story.nowMs, 'waiting');
  story.pass(story.random.between(SECOND, POLICY.startupGraceMs - 2 * POLICY.skewMs));
  story.milestone();
};

/** Nobody can write or read for a while; what was reported meanwhile is stored when the store is back. */
const outage: Phase = (story) => {
  story.start('activity', {}, beat(story));
  story.milestone();
  story.pass(story.random.between(SECOND, MINUTE));
  const fromMs = story.nowMs;
  const untilMs = fromMs + story.random.between(SECOND, 60 * MINUTE);
  story.outages.push({ workerId: 'worker-1', fromMs, untilMs });
  while (story.nowMs < untilMs) step(story);
  story.milestone();
};

const PHASES: readonly [Phase, ...Phase[]] = [work, work, declaredSilence, effect, answeredWait, backoff, outage];

function passReport(
  story: Story,
  over: { readonly result?: 'pass' | 'fail'; readonly destination?: string } = {},
): void {
  const subject = { digest: `sha256:${'a'.repeat(64)}`, sizeBytes: 42 } as const;
  story.report('deliverable', {
    name: 'report',
    destination: 'file',
    check: 'file-digest',
    result: 'pass',
    subject,
    ...over,
  });
}

const goesOn: Phase = (story) => {
  work(story);
};

const completes: Phase = (story) => {
  if (story.random.chance(0.3)) {
    effect(story);
    story.contract = story.receipts.filter(({ kind }) => kind === 'effect').length === 2 ? OWES_PAYMENT : CONTRACT;
  }
  story.start('activity');
  passReport(story);
  story.finish('COMPLETED');
  story.become('healthy');
};

const completesFalsely: Phase = (story) => {
  const lie = story.random.pick(['missing', 'failed', 'elsewhere', 'checked-by-another', 'unpaid']);
  story.start('activity');
  if (lie === 'failed') passReport(story, { result: 'fail' });
  if (lie === 'elsewhere') passReport(story, { destination: 'bucket' });
  if (lie === 'checked-by-another') {
    story.report('deliverable', { name: 'report', destination: 'file', check: 'says-so', result: 'pass' });
  }
  if (lie === 'unpaid') {
    passReport(story);
    const paid = story.receipts.some(({ kind }) => kind === 'effect');
    story.contract = { ...CONTRACT, effects: { ...CONTRACT.effects, [paid ? 'ship' : 'pay']: { due: 'once' } } };
  }
  story.finish('COMPLETED');
  story.become('false-success');
};

const stuckFrom = (story: Story, knowableMs: number): void => {
  story.become('stuck', knowableMs, 'working', 'waiting');
};

const hangs: Phase = (story) => {
  story.start('activity', {}, story.random.between(SECOND, 20 * SECOND));
  story.milestone();
  stuckFrom(story, story.changedAtMs + POLICY.milestoneFreshMs);
};

const loops: Phase = (story) => {
  story.start('activity', {}, beat(story));
  const digests = Array.from({ length: story.random.between(1, 12) }, () => story.newDigest());
  for (const digest of digests) {
    story.milestone({ digest });
    story.pass(story.random.between(SECOND, 30 * SECOND));
  }
  stuckFrom(story, story.changedAtMs + POLICY.milestoneFreshMs);
  for (let round = story.random.between(5, 40); round > 0; round -= 1) {
    const again = digests[round % digests.length] ?? 'd0';
    story.pass(story.random.between(SECOND, MINUTE));
    story.report('progress', { milestone: 'step', digest: again, delta: { done: round, unit: 'pages' } });
  }
};

/** An attempt that was frozen wakes up after its successor hung, and reports: it may not speak for the run. */
const hangsWhileAnOldAttemptReports: Phase = (story) => {
  story.start('activity');
  story.milestone();
  const old = story.emitter;
  story.pass(story.random.between(SECOND, MINUTE));
  story.start('attempt', {}, story.random.between(SECOND, 20 * SECOND));
  story.milestone();
  stuckFrom(story, story.changedAtMs + POLICY.milestoneFreshMs);
  for (let count = story.random.between(1, 6); count > 0; count -= 1) {
    story.pass(story.random.between(SECOND, 20 * MINUTE));
    story.report('progress', { milestone: 'step', digest: story.newDigest() }, old);
  }
};

const nobodyAnswers: Phase = (story) => {
  const deadlineMs = story.nowMs + story.random.between(MINUTE, 24 * 60 * MINUTE);
  openWait(story, deadlineMs);
  story.become('waiting', story.nowMs, 'working');
  story.pass(deadlineMs - story.nowMs);
  stuckFrom(story, Math.max(deadlineMs, story.changedAtMs + POLICY.milestoneFreshMs));
};

/** A wait that lacks what makes it one. */
const waitsForNobody: Phase = (story) => {
  const whole: Omit<WaitBody, 'resumeBy' | 'state'> = {
    name: 'approve',
    owner: 'ann',
    deadlineMs: story.nowMs + 600 * MINUTE,
    resumeToken: 't',
  };
  const lacking = story.random.pick<Partial<WaitBody>>([
    { owner: null },
    { deadlineMs: null },
    { resumeToken: null },
    { owner: ' ' },
  ]);
  story.end();
  story.report('wait', { ...whole, ...lacking, resumeBy: 'signal', state: 'open' }, story.workflow);
  stuckFrom(story, story.changedAtMs + POLICY.milestoneFreshMs);
};

const losesTheReply: Phase = (story) => {
  story.start('activity');
  story.milestone();
  story.report('effect', { operationId: `pay/${story.newDigest()}`, name: 'pay', state: 'attempted' });
  story.become('uncertain', story.nowMs + POLICY.effectWindowMs, 'working');
  story.pass(story.random.between(1, 3 * MINUTE));
  const then = story.random.pick(['killed', 'next attempt', 'rests', 'completes', 'fails', 'unknown']);
  if (then === 'killed') story.unpolledFromMs = story.nowMs;
  if (then === 'unknown') {
    const last = story.receipts.at(-1);
    const operationId = last?.kind === 'effect' ? last.body.operationId : '';
    story.report('effect', { operationId, name: 'pay', state: 'unknown' });
  }
  if (then === 'next attempt') story.start('attempt');
  if (then === 'rests') story.fail(FAILED, story.nowMs + 5 * MINUTE);
  if (then === 'completes') {
    passReport(story);
    story.finish('COMPLETED');
  }
  if (then === 'fails') story.finish('FAILED');
  if (then !== 'killed') story.become('uncertain');
};

const losesItsWorker: Phase = (story) => {
  story.start('activity');
  story.milestone();
  story.pass(story.random.between(SECOND, MINUTE));
  story.unpolledFromMs = story.nowMs;
  story.start('activity', { state: 'SCHEDULED', lastStartedAtMs: null, lastWorkerIdentity: null });
  stuckFrom(story, story.nowMs + POLICY.noPollerGraceMs);
};

const cannotSucceed: Phase = (story) => {
  story.start('activity');
  story.milestone();
  story.pass(story.random.between(SECOND, MINUTE));
  const failure = story.random.pick([
    { type: 'ValidationError', nonRetryable: false },
    { type: 'Anything', nonRetryable: true },
  ]);
  story.fail(failure, story.nowMs + 24 * 60 * MINUTE);
  story.become('stuck');
};

const isPaused: Phase = (story) => {
  story.start('activity', { state: 'PAUSED', paused: { by: 'ops', reason: 'night', sinceMs: story.nowMs } });
  story.become('stuck');
};

const failsAtLast: Phase = (story) => {
  story.start('activity');
  story.finish(story.random.pick(['FAILED', 'TIMED_OUT']));
  story.become('stuck');
};

const ENDS: readonly [Phase, ...Phase[]] = [
  ...([goesOn, completes, completes, completesFalsely, completesFalsely, hangs, loops] as const),
  ...[hangsWhileAnOldAttemptReports, nobodyAnswers, waitsForNobody, losesTheReply, losesTheReply],
  ...[losesItsWorker, cannotSucceed, isPaused, failsAtLast],
];

export interface Life {
  readonly name: string;
  readonly story: Story;
  /** When the last thing happened; what is true then stays true, but for a life that goes on: nobody knows how. */
  readonly endsAtMs: number;
  readonly goesOn: boolean;
}

export function liveOne(random: Random): Life {
  const story = new Story(random, CONTRACT);
  story.pass(random.between(SECOND, POLICY.startupGraceMs - SECOND));
  const phases = Array.from({ length: random.between(0, 5) }, () => random.pick(PHASES));
  for (const phase of phases) phase(story);
  const end = random.pick(ENDS);
  end(story);
  return {
    name: [...phases, end].map(({ name }) => name).join(', '),
    story,
    endsAtMs: story.nowMs,
    goesOn: end === goesOn,
  };
}
