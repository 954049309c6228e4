/** The texts of reasons that make a run uncertain. */
import type { REASONS } from '../verdict.ts';
import type { ReasonText } from './texts.ts';

export const UNCERTAIN_TEXTS: Readonly<Record<(typeof REASONS)['uncertain'][number], ReasonText>> = {
  'effect-unsettled': {
    means: 'A call to something outside may have happened, and the destination has not said.',
    decidedBy:
      'The newest `attempted` or `unknown` of an operation has no later `verified` or `none`, and one of these holds: it is `unknown`; its window has ended; no live attempt can still settle it. Live is a pending activity with the same activity id and attempt as the receipt, started, not paused, with no newer fence in the store. An open wait that names an operation to reconcile keeps the run here too, with its owner shown. Where nobody asked Temporal, an attempt of an open run may be live until its window ends.',
    limits: [
      {
        says: 'how long an attempt may lack its verdict while it is live',
        contract: 'effects.*.windowMs',
        policy: 'effectWindowMs',
      },
    ],
    withoutContract: true,
    first:
      'Ask the destination, under the operation id, whether it happened. Record its answer as an effect receipt: `verified` if it did, `none` if it did not and can no longer arrive.',
    beware:
      'A retry may charge, send or write twice. A negative look-up alone does not allow one: a frozen process may still send.',
    changes: 'A destination verdict on the operation; a person may give it where the destination cannot be asked.',
  },
  'effect-contradicted': {
    means: 'What the destination said of an effect cannot all be true.',
    decidedBy:
      'One operation has `none` after `verified`, or two different result digests; or the contract allows an effect once and more than one operation of it is verified.',
    limits: [{ says: 'how often the effect may be verified', contract: 'effects.*.due', otherwise: '`any`' }],
    withoutContract: true,
    first:
      'Look at the destination itself and find out which statement is true. Record it, and undo a double effect there.',
    beware: 'No further attempt can make two statements agree; it can only add a third.',
    changes:
      'Nothing takes such statements back. Undo at the destination what is double, and let a person close the run.',
  },
  'effect-level': {
    means: 'The destination confirmed an effect, but more weakly than the contract asks.',
    decidedBy:
      "The effect is verified, and the level of its verdict is not the last one of the contract's `levels`. A verdict without a level, or with a word the contract does not know, does not reach it. While the attempt that recorded it is live and inside the window, it may still be told more.",
    limits: [
      { says: 'the levels from weakest to strongest; the last one is required', contract: 'effects.*.levels' },
      {
        says: 'how long a live attempt may still be told more',
        contract: 'effects.*.windowMs',
        policy: 'effectWindowMs',
      },
    ],
    first:
      'Ask the destination again, for example whether an accepted payment has settled. Record the stronger verdict.',
    beware: 'The effect exists. Sent again it may exist twice.',
    changes: 'A verdict at the required level.',
  },
  'stop-unconfirmed': {
    means: 'A stop was requested and nobody has confirmed that the work has ended.',
    decidedBy:
      'A stop of the store is `unknown`, or `requested` for longer than its grace. A cancel or terminate in Temporal with an activity pending or an effect open at the close is such a stop, unless the server itself did it or a local stop is confirmed.',
    limits: [{ says: 'how long a requested stop may be unconfirmed', policy: 'stopGraceMs' }],
    first:
      'Look whether the process, the remote job or the child still runs. End it there, and record the confirmation.',
    beware: 'A replacement beside work that still runs does everything twice. A timeout or silence confirms no stop.',
    changes: 'A confirmation, or a recorded refusal, from what was asked to stop.',
  },
  'sources-disagree': {
    means: 'Temporal and the other evidence cannot both be right.',
    decidedBy:
      'Describe gives another status than the close event, or says that the run is open although there is one; or it says that the run is open although the store has receipts of a later run of the chain. A list that only lags behind Describe is a finding.',
    limits: [{ says: 'how far the start times of two runs may differ by their clocks', policy: 'skewMs' }],
    first:
      'Ask again in a moment. If it stays, check that store and command are pointed at the same cluster and namespace.',
    beware: 'Whatever you do on one source may be wrong by the other.',
    changes: 'Sources that agree.',
  },
  'work-after-close': {
    means: 'Receipts say that work went on after Temporal closed the run.',
    decidedBy:
      "A milestone was reported, or an effect attempted, later than the run's close and the allowance for clocks. A deliverable may be checked again later.",
    limits: [{ says: 'how far clocks may differ', policy: 'skewMs' }],
    first:
      'Find the worker that still works for the run (the activity of the receipt) and end it. Then reconcile its effects.',
    beware: 'Somebody is still acting. A replacement would act beside it.',
    changes: 'Nothing takes these receipts back. Reconcile the effects, and let a person close the run.',
  },
  'reporting-failure': {
    means: 'The heartbeat is stale, and a destination answered lately: the reporting failed, or the work did.',
    decidedBy:
      'No milestone is fresh, a live attempt has not beaten for longer than it may, and an effect was verified within the freshness. Only an activity with a heartbeat timeout, or one that has beaten in this attempt, can be stale.',
    limits: [
      {
        says: 'age at which a heartbeat is stale; never less than 80 % of the heartbeat timeout plus the skew',
        policy: 'heartbeatFreshMs',
      },
      { says: 'added to the 80 %', policy: 'skewMs' },
      { says: "how long a destination's answer counts as fresh", policy: 'milestoneFreshMs' },
    ],
    first: 'Look at the worker that holds the attempt, and at the destination: is more arriving there?',
    beware: 'If the work goes on, a retry runs beside it.',
    changes: 'A heartbeat, a milestone with a new digest, or the destination falling silent too.',
  },
  'evidence-unread': {
    means: 'A source that was asked could not be read, and what it would have said might be worse.',
    decidedBy:
      'Store, Describe, contract or receipts: always. Without a contract, Describe alone is no more than a finding. Task queues: where work has waited for longer than the grace and something would otherwise excuse the run. Children: where the run awaits one that has no verdict. The close event of a closed run never. What was not asked is not unread.',
    limits: [{ says: 'how long due work may wait before its task queue counts', policy: 'noPollerGraceMs' }],
    withoutContract: true,
    first:
      'Make the source that the decisive facts name readable again: the fact holds its error code. Then judge again.',
    beware: 'No recent change may not be concluded from what is missing. Until it is read, change nothing.',
    changes: 'The source, readable again.',
  },
  'evidence-gap': {
    means: 'Receipts are missing in the middle: later ones of the same attempt were stored.',
    decidedBy:
      "A number is missing in an emitter's sequence under one fence for at least the grace. A closed run has no grace: nothing is on its way any more. A newer attempt does not fill the hole of the one before.",
    limits: [{ says: 'how long a missing number may still be on its way', policy: 'gapGraceMs' }],
    first:
      'Find out why a receipt did not arrive (worker log, store log). Then look at the destination for what it may have said.',
    beware: 'The missing receipt may be an effect. A retry might repeat it.',
    changes: 'The missing receipt, or the place of one that the store refused.',
  },
  'evidence-outage': {
    means: 'Receipts cannot be recorded at present, so the silence of an open run says nothing.',
    decidedBy:
      'A recorded outage of a worker reaches the moment of judging: it has no end yet, or its end is not before now. Only for an open run; an outage that is over does not count.',
    limits: [],
    first: 'Bring the store back. The workers send what they hold, then judge again.',
    beware: 'The run may be working well and unable to say so.',
    changes: 'The store taking receipts again.',
  },
  'deliverable-unchecked': {
    means: 'The run Completed, and nobody could look at a due deliverable or record what was seen.',
    decidedBy:
      'The check of the contract answered `unread`; or there is no receipt at all, and an outage of a worker touches the close or the time before it.',
    limits: [
      { says: 'how long before the close an outage may have ended and still count', policy: 'milestoneFreshMs' },
    ],
    first:
      'Make the destination readable and run the check again. `explain` runs a due check that never ran, where it knows how.',
    beware: 'Neither missing nor there is proven. Made again, the result may exist twice.',
    changes: 'A check that reaches the destination: it passes or fails.',
  },
  'run-not-found': {
    means: 'The store has receipts of this run, and Temporal does not know it.',
    decidedBy: 'Describe answered that there is no such run, and the store has a row of its chain.',
    limits: [],
    first:
      'Check namespace and cluster. If the run is past its retention, reconcile its effects and deliverables by the store.',
    beware: 'Nobody saw how it ended. Started again it may repeat what it did.',
    changes: 'A Temporal that knows the run.',
  },
  'child-uncertain': {
    means: 'The run awaits a child that may have done something nobody can confirm.',
    decidedBy:
      'A pending child has the verdict uncertain, and nothing of the parent itself counts as working or waiting.',
    limits: [],
    first: 'Explain the child that the decisive facts name, and reconcile there.',
    beware: "A restart of the parent may start the child's effects again.",
    changes: "The child's verdict.",
  },
};
