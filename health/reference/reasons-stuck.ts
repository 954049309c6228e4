/** The texts of reasons that make a run stuck. */
import type { REASONS } from '../verdict.ts';
import type { ReasonText } from './texts.ts';

export const STUCK_TEXTS: Readonly<Record<(typeof REASONS)['stuck'][number], ReasonText>> = {
  'closed-without-result': {
    means: 'The run is closed, not by success and not as somebody asked.',
    decidedBy:
      'The status is FAILED or TIMED_OUT without a next run, or CANCELED or TERMINATED without all that `stopped` asks for. A verified deliverable does not change it.',
    limits: [],
    withoutContract: true,
    first:
      'Read the failure type or the close reason in the decisive facts. Remove the cause, then run the same work once more.',
    beware: 'Effects of the failed run were made. A new run recognises them only under the same operation ids.',
    changes: 'A new run of the same work that completes with its result.',
  },
  'workflow-task-failing': {
    means: "The workflow's own code fails over and over. Temporal shows Running; nothing moves.",
    decidedBy: 'The attempt of the pending workflow task has reached the limit.',
    limits: [{ says: 'attempts from which the code counts as failing', policy: 'workflowTaskAttempts' }],
    withoutContract: true,
    first:
      'Read `problem` in the decisive facts and the log of the worker. Deploy code that can go on with this history: most often a change that is not deterministic is taken back or put behind `patched`.',
    beware: 'A restart loses the history that works as soon as the code is right.',
    changes: 'Workflow code that can go on with this history.',
  },
  'no-poller': {
    means: 'Work is due on a task queue, and no worker asks for it.',
    decidedBy:
      'An activity or a workflow task has been due for at least the grace, and the last poll of its queue is as old or never was. The list of pollers names dead ones for minutes, hence the age of the poll.',
    limits: [{ says: 'how long due work may wait, and how old the last poll may be', policy: 'noPollerGraceMs' }],
    withoutContract: true,
    first: 'Start a worker for the task queue that the decisive facts name, or correct the name of the queue.',
    beware: 'A restarted run waits at the same empty queue.',
    changes: 'A worker that polls the task queue.',
  },
  'permanent-failure': {
    means: 'An activity fails in a way that no further attempt can cure, and Temporal still retries it.',
    decidedBy:
      "A pending activity in its second or a later attempt has a last failure that is flagged as not retryable, or whose type is in the policy's list (validation, authorisation, not found, too large). A next attempt in the future is no wait.",
    limits: [{ says: 'failure types that no attempt can cure', policy: 'permanentFailureTypes' }],
    withoutContract: true,
    first: 'Correct the input or the right that the failure is about. Then let one attempt run.',
    beware: 'Each retry gets the same answer and spends time, money and patience of the destination.',
    changes: 'Another input, or a cause that was removed.',
  },
  'attempts-spent': {
    means: 'An activity has had its attempts, whatever Temporal would still do.',
    decidedBy: 'The attempt of a pending activity is greater than what is allowed, however fresh a milestone is.',
    limits: [{ says: 'attempts allowed', contract: 'budgets.attempts', policy: 'retry.maxAttempts' }],
    withoutContract: true,
    first: 'Read the last failure and find why the attempts do not get there. Then let one more run, watched.',
    beware: 'More of the same is not expected to end otherwise.',
    changes: 'The activity succeeding.',
  },
  'deadline-spent': {
    means: 'The time of the run is over.',
    decidedBy:
      "The moment of judging has reached the deadline: the earlier of the chain's start plus the contract's budget and Temporal's own expiry. A deadline equal to now is late.",
    limits: [
      {
        says: "length of the run from the chain's start",
        contract: 'budgets.runMs',
        otherwise: "Temporal's expiry only",
      },
    ],
    withoutContract: true,
    first:
      'Decide with the owner whether a late result is still wanted. If so, give the work a new run with time enough.',
    beware: 'A restart gives the same work the same time, and whoever waits still has nothing.',
    changes: 'The run closing. A longer budget counts for chains that pin a later contract.',
  },
  'retry-cannot-finish': {
    means: 'The retry that is scheduled cannot finish before the deadline.',
    decidedBy:
      'Backoff, attempt, reconciliation and check together need more than is left; a sum equal to what is left is allowed. The decisive facts hold every term. Nothing is kept for the check where every due deliverable is already verified. Without a contract only the backoff is held against what is left.',
    limits: [
      { says: 'how long one attempt takes', contract: 'budgets.attemptEstimateMs', policy: 'retry.attemptEstimateMs' },
      { says: 'kept for asking the destination', contract: 'budgets.reconcileMs', policy: 'retry.reconcileReserveMs' },
      { says: 'kept for checking deliverables', contract: 'budgets.verifyMs', policy: 'retry.verifyReserveMs' },
      {
        says: "length of the run from the chain's start",
        contract: 'budgets.runMs',
        otherwise: "Temporal's expiry only",
      },
    ],
    withoutContract: true,
    first:
      'Decide now, while time is left: remove the cause and run the attempt at once, or tell the owner that it will be late.',
    beware: 'Waiting for that retry spends the time in which somebody could still act.',
    changes: 'An earlier attempt, or a later deadline.',
  },
  'paused-without-wait': {
    means: 'Somebody paused the run or an activity, and nothing says until when.',
    decidedBy:
      'Describe shows the workflow or an activity as paused, and the run has no valid wait. The decisive facts name who, why and since when, as far as Temporal tells. A wait that is overdue, incomplete or cannot be resolved does not excuse it.',
    limits: [],
    withoutContract: true,
    first: 'Ask who paused it. Unpause it, or record a wait with owner, deadline and resume token.',
    beware: 'They had a reason. A restart goes past it.',
    changes: 'Unpausing it, or a wait that says who resumes it and until when.',
  },
  'wait-overdue': {
    means: 'A wait is past its deadline. Nobody refused and nobody approved.',
    decidedBy:
      'An open wait with owner, deadline and token whose deadline is now or earlier, or one recorded as `expired`, and nothing else excuses the run.',
    limits: [],
    first:
      "Call the owner. Answer it under its resume token with the owner's own decision, or renew the wait with a new deadline.",
    beware:
      'Silence is not consent. A restart asks the same question again and loses the place where the answer belongs.',
    changes: "The owner's answer, or a renewed wait.",
  },
  'wait-unresolvable': {
    means: 'A wait is complete and in time, but what should end it cannot.',
    decidedBy:
      'An open wait is resumed by a workflow, and that workflow is stuck or a false success. The wait names it by its workflow id in `condition`.',
    limits: [],
    first: 'Explain the workflow that the decisive facts name, and recover that one.',
    beware: 'This run would wait in the same way after a restart.',
    changes: 'The other workflow moving again, or another way to resolve the wait.',
  },
  'wait-incomplete': {
    means: 'A wait lacks its owner, its deadline or its resume token, and so excuses nothing.',
    decidedBy:
      'An open wait has one of the three missing or blank, and nothing else excuses the run. The decisive facts name each that is missing. Code that records with this library cannot store such a wait; another emitter can.',
    limits: [],
    first: 'Find who must act, until when, and what resumes this same work. Record the wait again with all three.',
    beware: 'Nobody knows that they are waited for: a restart waits for nobody again.',
    changes: 'A wait with owner, deadline and token.',
  },
  'decision-not-consumed': {
    means: 'The answer to a wait is recorded, and the run has not taken it.',
    decidedBy: 'A wait is `resolved` and not `consumed` for at least the grace, and nothing else excuses the run.',
    limits: [{ says: 'how long an answer may lie there', policy: 'resumeGraceMs' }],
    first:
      'See whether a worker runs the workflow and whether the signal or update reached it. Hand the same answer over again under the same token.',
    beware: 'The decision is made. A restart would ask for it again.',
    changes: 'The run taking the answer.',
  },
  'child-stuck': {
    means: 'The run awaits a child that is going nowhere.',
    decidedBy:
      'A pending child is stuck or a false success, none is uncertain, and nothing of the parent itself counts as working or waiting.',
    limits: [],
    first: 'Explain the child that the decisive facts name, and recover that one.',
    beware: 'A restart of the parent starts the same child again.',
    changes: "The child's verdict.",
  },
  loop: {
    means: 'The run reports the same milestone again and again with states it had reached before.',
    decidedBy:
      'The newest receipt of a milestone has a digest that was seen before in this chain, and it is younger than the freshness; the last real change is older. The last 32 digests of a milestone are remembered. A heartbeat is named and does not count.',
    limits: [
      {
        says: 'how long a change, and a repetition, is fresh',
        contract: 'milestones.*.freshMs',
        policy: 'milestoneFreshMs',
      },
    ],
    first:
      'Look at what decides the next step: it reaches a state again that it had left. Stop it there, then recover once.',
    beware: 'A loop restarted is a loop, and each round may cost as much as the first.',
    changes: 'A digest that was not seen before, or a valid wait.',
    example: 'three states round and round',
  },
  'milestone-stale': {
    means: 'Nothing new was reached for too long, and nothing excuses it.',
    decidedBy:
      'The last new digest is at least as old as the freshness, and there is no declared silence, grace, valid wait, budgeted backoff or child that excuses it. Effects, heartbeats and late receipts of a replaced attempt are no milestones.',
    limits: [{ says: 'how long a change is fresh', contract: 'milestones.*.freshMs', policy: 'milestoneFreshMs' }],
    first:
      'Look at the pending activity and its worker. If the work is known to be long, let its code declare it with `expectBy`.',
    beware: 'The cause is not known yet. A restart may meet it again, with effects under way.',
    changes: 'A milestone with a new digest, or a valid wait.',
  },
  silent: {
    means: 'The run never reported a milestone, and its start-up grace is over.',
    decidedBy:
      'Nothing else decided, and the chain has no milestone under the mission in force. A heartbeat is named and does not count.',
    limits: [{ says: 'how long a new chain may be silent', policy: 'startupGraceMs' }],
    first:
      'See whether its worker has the plugin and its activities record milestones; then look at what they are doing.',
    beware: 'It may have done everything but speak.',
    changes: 'A milestone, or a valid wait.',
  },
};
