/**
 * Steps 3 and 4 for a run that Completed: each due deliverable against its receipt. Due things come from the contract. The
 * first fault of a deliverable counts; `faultOf` lists them in order.
 */
import { judgeOf } from '../../receipts/input.ts';
import { effectState } from '../../receipts/state.ts';
import type { DeliverableEntry } from '../../receipts/state.ts';
import type { Coverage } from '../../receipts/receipt.ts';
import type { Fact } from '../judgement.ts';
import type { Reason } from '../verdict.ts';
import { fact, statusFact } from '../view.ts';
import type { DueDeliverable, View } from '../view.ts';
import type { Decision, Rule } from './rule.ts';

export type DeliverableReason = Extract<Reason, `deliverable-${string}`> | 'not-delivered';

interface Fault {
  readonly reason: DeliverableReason;
  readonly message: string;
  readonly decisive: readonly Fact[];
}

/** The check's receipt that speaks for a deliverable: by the contract's check, else the judgement it allows. */
export function receiptFor(due: DueDeliverable, view: View): DeliverableEntry | null {
  const byCheck = view.mission.deliverables[due.name] ?? {};
  if (due.check !== null) {
    // One with a confidence is somebody's judgement, whatever name it goes by: it does not stand in for a check.
    const entry = byCheck[due.check.name];
    return entry === undefined || entry.confidence !== null ? null : entry;
  }
  const judged = Object.values(byCheck).filter(({ confidence }) => confidence !== null);
  return judged.sort((a, b) => (a.order > b.order ? -1 : 1))[0] ?? null;
}

/** Who stands behind a judgement; one that came without its judge's name goes by its check. */
export const judgeName = ({ check }: DeliverableEntry): string => judgeOf(check) ?? check;

/** What is wrong with a due deliverable; null where its receipt holds. */
export function faultOf(due: DueDeliverable, view: View): Fault | null {
  const ref = `deliverable:${due.name}`;
  const entry = receiptFor(due, view);
  if (entry === null) return missing(due, view);
  const about = (field: string, value: Fact['value']): readonly Fact[] => [
    fact(entry.receiptId, field, value),
    fact(ref, field, value),
  ];
  const fault = (reason: DeliverableReason, message: string, decisive: readonly Fact[]): Fault => ({
    reason,
    message,
    decisive,
  });
  if (entry.destination !== due.destination) {
    return fault(
      'deliverable-mismatch',
      `${due.name} was checked at ${entry.destination}, and is promised at ${due.destination}.`,
      [
        ...about('destination', entry.destination),
        fact('contract', `deliverables.${due.name}.destination`, due.destination),
      ],
    );
  }
  if (entry.result === 'unread') {
    return fault(
      'deliverable-unchecked',
      `${due.name} could not be checked at its destination.`,
      about('result', 'unread'),
    );
  }
  if (entry.result === 'fail') {
    return fault(
      'deliverable-failed',
      `${due.name} failed its check${entry.cause === null ? '' : `: ${entry.cause}`}.`,
      [...about('result', 'fail'), fact(entry.receiptId, 'cause', entry.cause)],
    );
  }
  const size = entry.subject?.sizeBytes;
  const minimum = due.minimumBytes ?? 1;
  if (size === undefined ? due.minimumBytes !== undefined : size < minimum) {
    return fault(
      'deliverable-failed',
      `${due.name} passed its check with fewer than ${minimum} bytes; the pass is void.`,
      about('subject.sizeBytes', size ?? null),
    );
  }
  if (due.freshMs !== undefined && (view.closedAtMs ?? view.nowMs) - entry.checkedAtMs >= due.freshMs) {
    return fault(
      'deliverable-stale',
      `${due.name} was checked too long before the run closed.`,
      about('checkedAtMs', entry.checkedAtMs),
    );
  }
  return coverageFault(due, entry, view) ?? deliveryFault(due, view);
}

function missing(due: DueDeliverable, view: View): Fault {
  const ref = `deliverable:${due.name}`;
  const claims = Object.values(view.mission.deliverables[due.name] ?? {}).sort((a, b) =>
    a.receiptId < b.receiptId ? -1 : 1,
  );
  if (claims.length > 0) {
    return {
      reason: 'deliverable-claimed',
      message: `${due.name} is only claimed: ${claims.map(({ check }) => check).join(', ')} is not the check that the contract names.`,
      decisive: [
        ...claims.flatMap((claim) => [fact(claim.receiptId, 'check', claim.check), fact(ref, 'check', claim.check)]),
      ],
    };
  }
  const ofOtherMission = Object.entries(view.row?.state.missions ?? {})
    .flatMap(([key, mission]) =>
      Object.values(mission.deliverables[due.name] ?? {}).map((entry) =>
        fact(entry.receiptId, 'missionFingerprint', key),
      ),
    )
    .sort((a, b) => (a.ref < b.ref ? -1 : 1));
  if (ofOtherMission.length > 0) {
    return {
      reason: 'deliverable-mismatch',
      message: `${due.name} was checked for another mission than the one in force.`,
      decisive: [...ofOtherMission, fact(ref, 'missionFingerprint', view.fingerprint)],
    };
  }
  if (couldNotBeRecorded(view)) {
    return {
      reason: 'deliverable-unchecked',
      message: `${due.name} has no receipt, and receipts could not be recorded when the run closed.`,
      decisive: [
        fact(ref, 'receipt', null),
        ...view.evidence.gaps.map((gap) => fact(`outage:${gap.workerId}`, 'fromMs', gap.fromMs)),
      ],
    };
  }
  return {
    reason: 'deliverable-missing',
    message: `Completed, and ${due.name} has no receipt.`,
    decisive: [statusFact(view), fact(ref, 'receipt', null)],
  };
}

/** An outage at the run's close, or not long before: the receipt may have been lost through our own fault. */
function couldNotBeRecorded(view: View): boolean {
  const closedAtMs = view.closedAtMs ?? view.nowMs;
  const sinceMs = closedAtMs - view.policy.milestoneFreshMs;
  return view.evidence.gaps.some(
    ({ fromMs, untilMs }) => fromMs <= closedAtMs && (untilMs === null || untilMs >= sinceMs),
  );
}

function coverageFault(due: DueDeliverable, entry: DeliverableEntry, view: View): Fault | null {
  const { plan } = view.evidence;
  const stated = entry.coverage;
  // What the plan admitted is the yardstick, never the agent's own total.
  const coverage: Coverage | null =
    plan === null
      ? stated
      : { ...stated, accepted: Math.min(stated?.accepted ?? plan.committed, plan.committed), expected: plan.units };
  if (coverage === null) {
    if (due.coverage !== true) return null;
    return {
      reason: 'deliverable-incomplete',
      message: `${due.name} does not say how much of the plan it covers.`,
      decisive: [fact(entry.receiptId, 'coverage', null), fact(`deliverable:${due.name}`, 'coverage', null)],
    };
  }
  const left = coverage.expected - coverage.accepted - excluded(coverage);
  const empty = coverage.empty ?? 0;
  if (left <= 0 && empty === 0) return null;
  const ref = plan === null ? entry.receiptId : 'plan';
  return {
    reason: 'deliverable-incomplete',
    message: `${due.name} covers ${coverage.accepted - empty} of ${coverage.expected}.`,
    decisive: [
      fact(ref, plan === null ? 'coverage.expected' : 'units', coverage.expected),
      fact(ref, plan === null ? 'coverage.accepted' : 'committed', coverage.accepted),
      fact(`deliverable:${due.name}`, 'coverage.expected', coverage.expected),
      fact(`deliverable:${due.name}`, 'coverage.accepted', coverage.accepted),
      ...(empty === 0 ? [] : [fact(entry.receiptId, 'coverage.empty', empty)]),
    ],
  };
}

/** Exclusions count only where somebody's decision stands behind them. */
export function excluded(coverage: Coverage): number {
  return (coverage.excludedBy ?? '').trim() === '' ? 0 : (coverage.excluded ?? 0);
}

function deliveryFault(due: DueDeliverable, view: View): Fault | null {
  const lacking = (due.transports ?? []).filter(
    (transport) =>
      !view.effects.some(
        (effect) =>
          effect.role === 'delivery' &&
          effect.deliverable === due.name &&
          (effect.name === transport || effect.target === transport) &&
          effectState(effect) === 'verified',
      ),
  );
  if (lacking.length === 0) return null;
  return {
    reason: 'not-delivered',
    message: `${due.name} was produced and not delivered by ${lacking.join(', ')}.`,
    decisive: lacking.map((transport) => fact(`deliverable:${due.name}`, `delivery.${transport}`, null)),
  };
}

/** Both rules read the same faults; a deliverable that could not be checked is no false success. */
function faults(view: View): readonly Fault[] {
  if (view.status !== 'COMPLETED') return [];
  return view.dueDeliverables.flatMap((due) => faultOf(due, view) ?? []);
}

export const deliverableUnchecked: Rule = (view) => {
  const unchecked = faults(view).filter(({ reason }) => reason === 'deliverable-unchecked');
  const first = unchecked[0];
  if (first === undefined) return null;
  return {
    verdict: 'uncertain',
    reason: 'deliverable-unchecked',
    message: first.message,
    decisive: unchecked.flatMap(({ decisive }) => decisive),
  };
};

export const falseSuccess: Rule = (view) => {
  return decisionOf(
    faults(view).filter(({ reason }) => reason !== 'deliverable-unchecked' && reason !== 'not-delivered'),
  );
};

/** After every other fault: delivering again is no answer while something else is missing. */
export const notDelivered: Rule = (view) => decisionOf(faults(view).filter(({ reason }) => reason === 'not-delivered'));

function decisionOf(broken: readonly Fault[]): Decision | null {
  const first = broken[0];
  if (first === undefined) return null;
  return {
    verdict: 'false-success',
    reason: first.reason,
    message: broken.map(({ message }) => message).join(' '),
    decisive: broken.flatMap(({ decisive }) => decisive),
  };
}
