/** Step 4, what is left of a closed run: everything agrees, or it was stopped, or it closed without a result. */
import { isServerIdentity, stopsOf } from '../stops.ts';
import { effectState } from '../../receipts/state.ts';
import { openEffects } from '../liveness.ts';
import { fact, statusFact } from '../view.ts';
import type { View } from '../view.ts';
import { judgeName, receiptFor } from './deliverables.ts';
import { verifiedCount } from './due-effects.ts';
import type { Rule } from './rule.ts';

/** Failed and timed out; canceled or terminated unless it was stopped as asked. */
export const closedWithoutResult: Rule = (view) => {
  const { status, evidence } = view;
  if (view.open || status === null || status === 'COMPLETED' || status === 'CONTINUED_AS_NEW' || isStopped(view))
    return null;
  const close = evidence.temporal.source === 'describe' ? evidence.temporal.closeEvent : null;
  const why = close?.failure?.type ?? close?.reason ?? null;
  return {
    verdict: 'stuck',
    reason: 'closed-without-result',
    message: `Closed as ${status}${why === null ? '' : ` (${why})`}, without the promised result.`,
    decisive: [
      statusFact(view),
      ...(close === null
        ? []
        : [
            fact('close-event', 'identity', close.identity),
            fact('close-event', 'failure.type', close.failure?.type ?? null),
          ]),
    ],
  };
};

/** Somebody canceled or terminated it, every scope confirmed that it ended, and nothing is open. */
export const stopped: Rule = (view) => {
  if (!isStopped(view)) return null;
  return {
    verdict: null,
    reason: 'stopped',
    message: 'Stopped as asked, confirmed in every scope, nothing left open.',
    decisive: [statusFact(view), ...stopsOf(view).map((stop) => fact(`stop:${stop.stopId}`, 'state', stop.state))],
  };
};

function isStopped(view: View): boolean {
  if (view.status !== 'CANCELED' && view.status !== 'TERMINATED') return false;
  const { temporal } = view.evidence;
  // The list alone, where Describe could not be read, does not say what was left open.
  if (temporal.source === 'unread') return false;
  const close = temporal.source === 'describe' ? temporal.closeEvent : null;
  // A terminate proves that it was asked for only by who asked; the server terminates too, at a history limit for one.
  const asked =
    view.status === 'CANCELED' || (close !== null && close.identity !== null && !isServerIdentity(close.identity));
  return asked && stopsOf(view).every(({ state }) => state === 'confirmed') && openEffects(view).length === 0;
}

/** Completed, and completion, due effects and due deliverables agree. Earlier rules have ruled out every fault. */
export const healthy: Rule = (view) => {
  if (view.status !== 'COMPLETED' || view.contract === null) return null;
  const receipts = view.dueDeliverables.map((due) => ({ due, entry: receiptFor(due, view) }));
  // A deterministic check has no confidence. Of several judgements the least sure one speaks for the run.
  const judgements = receipts
    .flatMap(({ due, entry }) =>
      entry === null || entry.confidence === null
        ? []
        : [{ name: due.name, by: judgeName(entry), confidence: entry.confidence }],
    )
    .sort((a, b) => a.confidence - b.confidence);
  const decisive = [
    statusFact(view),
    ...receipts.flatMap(({ due, entry }) => [
      fact(entry?.receiptId ?? `deliverable:${due.name}`, 'result', entry?.result ?? null),
      fact(`deliverable:${due.name}`, 'subject.digest', entry?.subject?.digest ?? null),
    ]),
    ...judgements.flatMap(({ name, by, confidence }) => [
      fact(`deliverable:${name}`, 'judge', by),
      fact(`deliverable:${name}`, 'confidence', confidence),
    ]),
    ...Object.keys(view.contract.effects).map((name) =>
      fact('contract', `effects.${name}.verified`, verifiedCount(view, name)),
    ),
    ...view.effects.map((effect) => fact(`effect:${effect.operationId}`, 'state', effectState(effect))),
  ];
  const [judged] = judgements;
  if (judged === undefined) {
    return { verdict: 'healthy', reason: 'verified', message: 'Completion, effects and deliverables agree.', decisive };
  }
  const { name, by, confidence } = judged;
  return {
    verdict: 'healthy',
    reason: 'judged',
    message: `Completed; ${name} has no deterministic check and was judged by ${by}, confidence ${confidence}.`,
    decisive,
    confidence: { judged: name, confidence },
  };
};
