/** Step 3: sources that contradict each other. Neither is rounded away. */
import type { Fact } from '../judgement.ts';
import { fact } from '../view.ts';
import type { View } from '../view.ts';
import type { Rule } from './rule.ts';

/** Milestones and effects of after the close, clocks' difference allowed for. A deliverable may be checked again later. */
export function workAfterCloseFacts(view: View): readonly Fact[] {
  if (view.open || view.closedAtMs === null) return [];
  const limitMs = view.closedAtMs + view.policy.skewMs;
  const milestones = view.milestones
    .filter(({ latestAtMs }) => latestAtMs > limitMs)
    .map((milestone) => fact(milestone.latestReceiptId, 'recordedAtMs', milestone.latestAtMs));
  const effects = view.effects.flatMap(({ attempted }) =>
    attempted !== null && attempted.atMs > limitMs ? [fact(attempted.receiptId, 'recordedAtMs', attempted.atMs)] : [],
  );
  return [...milestones, ...effects];
}

export const workAfterClose: Rule = (view) => {
  const facts = workAfterCloseFacts(view);
  if (facts.length === 0) return null;
  return {
    verdict: 'uncertain',
    reason: 'work-after-close',
    message: 'Work went on after Temporal closed the run.',
    decisive: [fact('describe', 'closedAtMs', view.closedAtMs), ...facts],
  };
};

/**
 * Described otherwise than its close event says, or as open although the store has evidence of a later run of the chain. The
 * list is no such source: it lags.
 */
export const sourcesDisagree: Rule = (view) => {
  const { evidence, describe, closeEvent: close, row } = view;
  if (describe === null) return null;
  if (close !== null && (view.open || close.status !== describe.status)) {
    return {
      verdict: 'uncertain',
      reason: 'sources-disagree',
      message: `Temporal describes the run as ${describe.status}, and its last event says ${close.status}.`,
      decisive: [fact('describe', 'status', describe.status), fact('close-event', 'status', close.status)],
    };
  }
  if (!view.open || row === null) return null;
  if (row.runId === evidence.run.runId || row.runStartedAtMs <= describe.startedAtMs + view.policy.skewMs) return null;
  return {
    verdict: 'uncertain',
    reason: 'sources-disagree',
    message: `Temporal describes run ${evidence.run.runId} as open; the store has receipts of the later run ${row.runId}.`,
    decisive: [fact('describe', 'status', describe.status), fact('store', 'runId', row.runId)],
  };
};

/** The store knows the run and Temporal does not: past its retention, or another cluster. */
export const runNotFound: Rule = ({ evidence, row }) => {
  if (evidence.temporal.source !== 'not-found' || row === null) return null;
  return {
    verdict: 'uncertain',
    reason: 'run-not-found',
    message: 'The store has receipts of this run, and Temporal does not know it.',
    decisive: [fact('describe', 'status', 'not-found'), fact('store', 'receiptCount', row.receiptCount)],
  };
};
