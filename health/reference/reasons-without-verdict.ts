/** The texts of reasons that give no verdict, and of the two that make a run healthy. */
import type { REASONS } from '../verdict.ts';
import type { ReasonText } from './texts.ts';

export const WITHOUT_VERDICT_TEXTS: Readonly<Record<(typeof REASONS)['none'][number], ReasonText>> = {
  'unknown-run': {
    means: 'Neither Temporal nor the store has anything of this run.',
    decidedBy:
      'Describe answered that there is no such run, and the store has no receipts of its chain (or no store was asked, which the decisive facts say). Where the store could not be read the reason is `evidence-unread` instead. `explain` ends with `NOT_FOUND` before it would print this.',
    limits: [],
    withoutContract: true,
    first:
      'Check namespace, cluster, workflow id and run id. A run past its retention is gone from Temporal: ask the destination what it holds before you start anything.',
    beware: 'Not finding a run is no proof that it never ran. Started again, it may do everything a second time.',
    changes: 'A receipt of the run in the store, or a Temporal that knows it.',
  },
  continued: {
    means: 'This run is closed and another run of its chain has taken over.',
    decidedBy:
      'Describe names the run that a reset put in its place; or the run ended as CONTINUED_AS_NEW; or it failed or timed out and its close event names the next run (workflow retry). A completed cron run has a successor too and is judged as itself. Where Describe could not be read, the list alone does not decide it.',
    limits: [],
    withoutContract: true,
    first: 'Judge the run that the decisive facts name. Without `--run-id`, `explain -w ID` takes the newest.',
    beware: 'Waits, effects and milestones go along the chain: nothing is to be repaired in the closed run.',
    changes: 'Nothing. The run that took over has the verdict.',
  },
  'not-instrumented': {
    means: 'The workflow type has no contract: nothing says what progress or success is.',
    decidedBy:
      'No contract of the type is registered, and nothing before or in step 5 decided: no open effect, no close without a result, nothing that keeps the run from moving.',
    limits: [],
    withoutContract: true,
    first: 'Nothing for this run. Give the type a contract and let its activities record milestones.',
    beware: 'It is not green. Completed says nothing here about the result.',
    changes: 'A contract for the workflow type, and the receipts it asks for.',
  },
  stopped: {
    means: 'Somebody stopped the run, every part of it is confirmed as ended, and no effect is open.',
    decidedBy:
      'The run is CANCELED, or TERMINATED by somebody other than the server itself; every stop that the store holds is `confirmed`; no activity was pending and no effect open at the close. Where Describe could not be read, the list alone does not decide it.',
    limits: [],
    withoutContract: true,
    first: 'Nothing. The work was ended on purpose.',
    beware: 'A stopped run has no result: whoever waits for one must be told.',
    changes: 'An effect of the run that turns up open, or work after the close.',
  },
};

export const HEALTHY_TEXTS: Readonly<Record<(typeof REASONS)['healthy'][number], ReasonText>> = {
  verified: {
    means: 'The run Completed, every due effect is verified, and every due deliverable passed its check.',
    decidedBy:
      "The run's status is COMPLETED, it has a contract, and no rule before found a fault. The decisive facts list each deliverable's receipt with its digest and each effect's state. A contract that owes nothing is met by completing: the finding `nothing-due` says so.",
    limits: [],
    first: 'Close it and keep the judgement.',
    beware: 'It says that the contract is met. It does not say that the contract asks for the right thing.',
    changes: 'A destination that says otherwise, a later check that fails, or work after the close.',
  },
  judged: {
    means: 'The run Completed, and at least one deliverable has no deterministic check: a labelled judgement says yes.',
    decidedBy:
      'As `verified`, but the contract says of a deliverable why no deterministic check exists, and its newest judgement with a confidence says `pass`. Confidence and judge stand in the decisive facts; of several judgements the least sure one speaks for the run.',
    limits: [{ says: 'that no deterministic check exists, and why', contract: 'deliverables.*.noDeterministicCheck' }],
    first: 'Look at the confidence and decide whether it is enough. Close it with a reason of your own.',
    beware: 'A judgement is not a check: it is shown apart from what was verified.',
    changes: 'A deterministic check in the contract, or a newer judgement that fails.',
  },
};
