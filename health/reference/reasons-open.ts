/** The texts of reasons that leave an open run waiting or working. */
import type { REASONS } from '../verdict.ts';
import type { ReasonText } from './texts.ts';

export const WAITING_TEXTS: Readonly<Record<(typeof REASONS)['waiting'][number], ReasonText>> = {
  wait: {
    means: 'The run waits for somebody or something, who is named, until a deadline.',
    decidedBy:
      'An open wait has owner, deadline and resume token, its deadline lies ahead, and what resumes it still can. With nothing live and the wait newer than the last milestone the run is parked, and that comes before working. Otherwise it counts after working. An answer that was just recorded excuses the run for a grace.',
    limits: [{ says: 'how long a recorded answer may wait to be taken', policy: 'resumeGraceMs' }],
    first: 'Tell the owner, with the deadline and the resume token from the decisive facts.',
    beware: 'A restart loses the place the answer belongs to.',
    changes: 'The answer, or the deadline passing (`wait-overdue`).',
  },
  'retry-backoff': {
    means: 'An activity sleeps until a known time and will be tried again within a known budget.',
    decidedBy:
      'A pending activity that is not paused has its next attempt in the future, and its attempts, its expiry or the run are bounded. That the retry can still finish was asked in step 5.',
    limits: [
      {
        says: "length of the run from the chain's start, one of the bounds",
        contract: 'budgets.runMs',
        otherwise: 'no bound by the contract',
      },
    ],
    first: 'Nothing until the time in `nextAttemptAtMs`. Read the failure if it comes again.',
    beware:
      'The backoff protects the destination. An effect of the last attempt was settled, or the run would be uncertain.',
    changes: 'The next attempt, or its attempts or deadline being spent.',
  },
  'child-waiting': {
    means: 'The run awaits a child that is waiting.',
    decidedBy:
      'A pending child has the verdict waiting, and the parent itself has nothing fresh and no wait of its own that counts.',
    limits: [],
    first: 'Explain the child that the decisive facts name: its owner is the one to ask.',
    beware: 'A restart of the parent takes the waiting child with it.',
    changes: "The child's verdict.",
  },
};

export const WORKING_TEXTS: Readonly<Record<(typeof REASONS)['working'][number], ReasonText>> = {
  'milestone-fresh': {
    means: 'A state was reached lately that was not reached before.',
    decidedBy:
      "A milestone's newest new digest is younger than the freshness. Its time is the earlier of when it happened and when it was stored, so that a backlog sent now does not look fresh. A repeated digest does not count.",
    limits: [{ says: 'how long a change is fresh', contract: 'milestones.*.freshMs', policy: 'milestoneFreshMs' }],
    first: 'Nothing.',
    beware: 'It is getting on. A restart throws that away.',
    changes: 'No new digest for as long as the freshness.',
  },
  expected: {
    means: 'The run declared that it will be silent, and until when.',
    decidedBy:
      'The receipt of the last real change carries `expectBy`, and that moment lies ahead. A receipt whose digest was seen before cannot extend it.',
    limits: [],
    first: 'Nothing until that moment.',
    beware: 'The silence is known and bounded.',
    changes: 'The moment passing without a new digest.',
  },
  resumed: {
    means: 'A wait ended lately, and the next milestone is not due yet.',
    decidedBy:
      "A wait of the mission in force was consumed, withdrawn or superseded less than a milestone's time ago. That the wait was long is no standstill.",
    limits: [{ says: 'time after a wait until the next milestone is due', policy: 'milestoneFreshMs' }],
    first: 'Nothing.',
    beware: 'It has just been given its answer.',
    changes: 'No new digest before the time is over.',
  },
  starting: {
    means: 'The chain, or an attempt after a backoff, began lately, and its first milestone is not due yet.',
    decidedBy:
      'The chain has no milestone and is younger than the grace. Or an attempt began, or came due, after a backoff that explains why the milestones are old: one was fresh when the attempt before ended, or the backoff was as long as a milestone stays fresh. The retry must have a budget, and the end of the attempt before must be known. Continuing as new does not begin a chain again.',
    limits: [{ says: 'how long a beginning may be silent', policy: 'startupGraceMs' }],
    first: 'Nothing.',
    beware: 'It had no time to say anything yet.',
    changes: 'A milestone, or the grace ending without one.',
  },
  'child-working': {
    means: 'The run awaits a child that is working.',
    decidedBy: 'A pending child has the verdict working. A child without a verdict decides nothing.',
    limits: [],
    first: 'Nothing.',
    beware: 'A restart of the parent takes the working child with it.',
    changes: "The child's verdict.",
  },
};
