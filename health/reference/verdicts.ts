/** The texts of the six verdicts, of actions, of what is forbidden, and the order of decision as people read it. */
import type { Action, Forbidden, Reason, Verdict } from '../verdict.ts';
import type { VerdictText } from './texts.ts';

export const VERDICT_TEXTS: Readonly<Record<Verdict, VerdictText>> = {
  working: {
    means: 'The run is open and something new was reached lately, or its silence is declared and has not run out.',
    decisiveEvidence: "a milestone's digest changed lately, or a declared silence, a grace or a working child",
    safeAction: 'leave it alone',
    order:
      'Step 7. Everything that is worse was ruled out before: an open effect, missing evidence, a run that cannot move, a valid wait with nothing live.',
    first: 'Nothing. Look again when `validUntilMs` is reached if you must be sure.',
    changes: 'No new digest until the milestone is as old as its limit. A heartbeat does not prolong it.',
  },
  waiting: {
    means: 'The run is open and stands still for a reason that says who ends it, until when, and by what.',
    decisiveEvidence: 'owner, deadline and resume token; or a retry with a known wake time; or a waiting child',
    safeAction: 'route it to the owner, or wait for the deadline',
    order:
      'Step 6 where nothing is live and the wait is newer than the last milestone; step 8 for every other valid wait.',
    first: 'Read the owner and the deadline in the decisive facts and tell the owner. Then wait.',
    changes: 'The answer resumes it. The deadline passing makes it stuck: nobody refused, nobody approved.',
  },
  stuck: {
    means:
      'The run makes no progress and nothing excuses it, or it cannot move at all, or it closed without its result.',
    decisiveEvidence: 'no recent change and no valid wait, or it cannot move at all',
    safeAction: 'investigate, then one bounded recovery under the same operation ids',
    order:
      'Step 4 for a closed run without a result, step 5 for one that cannot move whatever wait it holds, step 9 for everything that is left.',
    first:
      'Find the cause the reason names. Remove it. Then recover once: one reset, one retry or one new run, with the same operation ids, so that effects already made are recognised.',
    changes: 'A milestone with a new digest, or a wait with owner, deadline and resume token.',
  },
  uncertain: {
    means: 'Something may have happened that nobody can confirm, or the evidence disagrees or is missing.',
    decisiveEvidence: 'an operation without a destination verdict, or evidence that disagrees or could not be read',
    safeAction: 'reconcile with the destination; never retry',
    order:
      'Step 3, before every other verdict: a retry might do an effect twice. A task queue or a child that could not be read is asked about in steps 6 to 9, where it would otherwise excuse or condemn the run.',
    first:
      'Ask the destination under the operation id, or make the source readable. Record the answer. Then judge again.',
    changes: 'A verdict of the destination, or the missing evidence. Time alone does not make it better.',
  },
  'false-success': {
    means: 'Temporal says Completed, and what was promised is missing, failing, stale, incomplete or only claimed.',
    decisiveEvidence: 'Completed, and the deliverable is missing, failing or only claimed',
    safeAction: 'reopen it as an incident',
    order: 'Step 4, for a run that Completed. A deliverable that nobody could look at is uncertain instead (step 3).',
    first: 'Open an incident with the decisive facts. Tell whoever relies on the result that it is not there.',
    changes: 'A passing check of every due deliverable at its promised destination.',
  },
  healthy: {
    means: 'Temporal says Completed, and completion, due effects and due deliverables agree.',
    decisiveEvidence: 'completion, effects and deliverable agree',
    safeAction: 'close it with evidence',
    order: 'Step 4, after every fault was ruled out.',
    first: 'Close it and keep the judgement: its decisive facts are the evidence.',
    changes: 'A destination that later says otherwise, or receipts of work after the close.',
  },
};

export const ACTION_TEXTS: Readonly<Record<Action, string>> = {
  'leave-alone': 'Leave it alone.',
  'route-or-wait': 'Route it to the owner, or wait for the deadline.',
  'investigate-then-bounded-recovery': 'Find the cause and remove it, then recover once, under the same operation ids.',
  'reconcile-no-retry': 'Ask the destination what became of it, or make the missing source readable; retry nothing.',
  'reopen-incident': 'Reopen it as an incident: it reports success, and the evidence does not.',
  redeliver: 'Deliver the same digest again, by the transport only.',
  'close-with-evidence': 'Close it, and keep the judgement as the evidence.',
  none: 'Nothing is due for this run.',
};

export const FORBIDDEN_TEXTS: Readonly<Record<Forbidden, { readonly what: string; readonly why: string }>> = {
  restart: {
    what: 'restart it',
    why: 'A restart throws away what is under way or expected, and may repeat what was already done outside.',
  },
  'answer-for-owner': {
    what: "answer in the owner's place",
    why: 'The wait exists because that owner must decide. Another answer cannot be told from theirs afterwards.',
  },
  'unbounded-restart': {
    what: 'restart it without a bound',
    why: 'The cause is still there: every restart ends the same way, spends again and buries the evidence.',
  },
  retry: {
    what: 'retry it',
    why: 'The effect may have happened. A retry before the destination has answered may make it happen twice.',
  },
  close: {
    what: 'close it',
    why: 'Closing would file a result that is not there as a success.',
  },
  regenerate: {
    what: 'make the result again',
    why: 'The verified result exists. A second one would differ from what was checked, and may cost as much again.',
  },
};

export const NO_VERDICT_TEXT =
  'A run without a verdict is counted apart. It is never green, and it is no proof of anything: the reason says why nothing is concluded.';

export interface DecisionStep {
  readonly step: string;
  readonly title: string;
  readonly says: string;
  /** In the order in which they are asked. */
  readonly reasons: readonly Reason[];
}

/** As `health/classify.ts` asks. A reason that is asked in several steps stands where it is asked first. */
export const ORDER_OF_DECISION: readonly DecisionStep[] = [
  {
    step: '1',
    title: 'Bind',
    says: 'Evidence of another workflow, chain or mission is put aside and named in the findings, and so is what a replaced attempt stored late. An effect is never put aside: a real effect stays real.',
    reasons: [],
  },
  {
    step: '2',
    title: 'Known at all',
    says: 'A run that nobody knows and a run that has a successor get no verdict.',
    reasons: ['unknown-run', 'continued'],
  },
  {
    step: '3',
    title: 'Uncertain',
    says: 'What may have happened, and what could not be read, comes before everything else.',
    reasons: [
      ...(['effect-unsettled', 'effect-contradicted', 'effect-level', 'stop-unconfirmed'] as const),
      ...(['work-after-close', 'sources-disagree', 'run-not-found', 'reporting-failure'] as const),
      ...(['evidence-unread', 'evidence-gap', 'evidence-outage', 'deliverable-unchecked'] as const),
    ],
  },
  {
    step: '4',
    title: 'Closed',
    says: 'A closed run is held against its contract: first the deliverables, then the due effects, then delivery.',
    reasons: [
      ...(['deliverable-missing', 'deliverable-claimed', 'deliverable-mismatch', 'deliverable-failed'] as const),
      ...(['deliverable-stale', 'deliverable-incomplete', 'effect-missing', 'not-delivered'] as const),
      ...(['verified', 'judged', 'closed-without-result', 'stopped'] as const),
    ],
  },
  {
    step: '5',
    title: 'Cannot move',
    says: 'Decided whatever wait the run holds. After it, a workflow type without a contract gets no verdict.',
    reasons: [
      ...(['workflow-task-failing', 'no-poller', 'permanent-failure', 'attempts-spent'] as const),
      ...(['deadline-spent', 'retry-cannot-finish', 'paused-without-wait', 'not-instrumented'] as const),
    ],
  },
  {
    step: '6',
    title: 'Parked',
    says: 'A valid wait, opened after the last milestone, and nothing is live.',
    reasons: ['wait'],
  },
  {
    step: '7',
    title: 'Working',
    says: 'Real change, declared silence, a grace, or a child that works.',
    reasons: ['milestone-fresh', 'expected', 'resumed', 'starting', 'child-working'],
  },
  {
    step: '8',
    title: 'Waiting',
    says: 'Any other valid wait (`wait` again), a retry that sleeps until a known time, or a child that waits.',
    reasons: ['retry-backoff', 'child-waiting'],
  },
  {
    step: '9',
    title: 'Otherwise stuck',
    says: 'By the most telling reason. Only a child that may have acted keeps its parent uncertain.',
    reasons: [
      ...(['child-uncertain', 'decision-not-consumed', 'wait-overdue', 'wait-unresolvable'] as const),
      ...(['wait-incomplete', 'child-stuck', 'loop', 'milestone-stale', 'silent'] as const),
    ],
  },
];
