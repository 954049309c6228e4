/** The texts of reasons that make a Completed run a false success. */
import type { REASONS } from '../verdict.ts';
import type { ReasonText } from './texts.ts';

export const FALSE_SUCCESS_TEXTS: Readonly<Record<(typeof REASONS)['false-success'][number], ReasonText>> = {
  'deliverable-missing': {
    means: 'The run Completed, and nobody ever checked the promised result.',
    decidedBy:
      'The contract owes a deliverable, and the chain has no receipt of that name, under this mission or another, and no outage near the close that could have swallowed one. No receipt counts as no result.',
    limits: [
      { says: 'how long before the close an outage may have ended and still excuse', policy: 'milestoneFreshMs' },
    ],
    first: 'Look at the promised destination. If the result is there, run its check; if not, open an incident.',
    beware: 'Completed is all there is. Closed as a success, nobody would look again.',
    changes: 'A passing check at the promised destination.',
  },
  'deliverable-failed': {
    means: 'The check looked at the destination and said no.',
    decidedBy:
      "The newest receipt of the contract's check is `fail`; or it is `pass` with fewer bytes than the contract asks, which voids the pass. An empty artifact is never a result; where the check states no size, only a size that the contract asks for is missed.",
    limits: [{ says: 'smallest size in bytes', contract: 'deliverables.*.minimumBytes', otherwise: '1' }],
    first: 'Read `cause` in the decisive facts. Keep what is at the destination as evidence, and open an incident.',
    beware: 'A failed check on a Completed run is a failure that calls itself a success.',
    changes: 'A later receipt of the same check that passes.',
  },
  'deliverable-stale': {
    means: 'The check passed too long before the run closed.',
    decidedBy:
      'The age of the pass at the close (at the moment of judging, where the close is not known) is at least the limit. Exactly as old as the limit is stale.',
    limits: [
      { says: 'how old a pass may be at the close', contract: 'deliverables.*.freshMs', otherwise: 'any age will do' },
    ],
    first: 'Run the check again now, and compare the digest with the one that passed.',
    beware: 'What passed then may have been replaced or removed before the end.',
    changes: 'A later pass of the check.',
  },
  'deliverable-mismatch': {
    means: 'There is a pass, of another destination or of another mission than the one in force.',
    decidedBy:
      "The receipt's destination is not the one that the contract promises; or the deliverable was checked only under another mission fingerprint.",
    limits: [{ says: 'the promised destination', contract: 'deliverables.*.destination' }],
    first:
      'Compare the two destinations, or the two missions, in the decisive facts. Check the result where it was promised.',
    beware: 'A right result in the wrong place is not delivered, and one for an old mission may be the wrong one.',
    changes: 'A pass at the promised destination, under the mission in force.',
  },
  'deliverable-claimed': {
    means: 'The result is only said to be there: by another check than the contract names, or without confidence.',
    decidedBy:
      'The contract names a check, and receipts of the deliverable exist from other checks or from a judgement only; or the contract names none, and no judgement states its confidence.',
    limits: [{ says: 'the check that counts', contract: 'deliverables.*.check' }],
    first: 'Run the check that the contract names.',
    beware: 'A claim is what the run says of itself.',
    changes: "A receipt of the contract's own check that passes.",
  },
  'deliverable-incomplete': {
    means: 'The result covers less than was planned.',
    decidedBy:
      'The receipt states coverage, and accepted plus excluded is less than expected, or some accepted units are empty. Exclusions count only with `excludedBy`. Where the evidence holds a plan, its units and commits are the yardstick and not what the receipt says. Where the contract asks for coverage and the receipt states none, it is incomplete too.',
    limits: [
      {
        says: 'whether the receipt must state coverage',
        contract: 'deliverables.*.coverage',
        otherwise: 'it need not',
      },
    ],
    first:
      'Find the units that are left. Do them, or have somebody with the right to do so record why they are excluded.',
    beware: 'Part of the data under the name of the whole misleads whoever reads it.',
    changes: 'A check that covers all, or a recorded decision that excludes the rest.',
  },
  'effect-missing': {
    means: 'The run Completed without an effect that was due.',
    decidedBy:
      'The contract says that the effect is due `once` or `at-least-once`, and no operation of that name is verified. One that was attempted and not settled is `effect-unsettled` before.',
    limits: [{ says: 'how often the effect is due', contract: 'effects.*.due', otherwise: '`any`: never missing' }],
    first: 'Ask the destination whether it happened without a receipt. If it did not, open an incident.',
    beware: 'Closed as a success, the effect would never be made.',
    changes: 'A destination verdict that the effect happened.',
  },
  'not-delivered': {
    means: 'The result was made and verified, and it did not arrive.',
    decidedBy:
      'Every other fault of the deliverable is ruled out, and for a transport of the contract there is no verified effect with the role `delivery` that names the deliverable.',
    limits: [
      {
        says: 'the transports that must each deliver it',
        contract: 'deliverables.*.transports',
        otherwise: 'no delivery is asked for',
      },
    ],
    first: 'Deliver the same digest again, by the transport only, under the same operation id.',
    beware: 'The result is there. Made again it would be another one than was verified.',
    changes: 'A verified delivery by each transport.',
  },
};
