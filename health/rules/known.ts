/** Step 2: is anything known of this run at all, and is it the run that speaks? */
import { fact } from '../view.ts';
import type { Rule } from './rule.ts';

export const unknownRun: Rule = ({ evidence, row }) => {
  if (evidence.temporal.source !== 'not-found' || row !== null) return null;
  if (evidence.unread.some(({ source }) => source === 'store' || source === 'receipts')) return null;
  return {
    verdict: null,
    reason: 'unknown-run',
    message: 'Neither Temporal nor the store knows this run. That is no proof that it never ran.',
    decisive: [
      fact('describe', 'status', 'not-found'),
      fact('store', 'receipts', evidence.storeAsked ? 0 : 'not asked'),
    ],
  };
};

export const continued: Rule = ({ evidence, describe, status }) => {
  const { temporal } = evidence;
  const resetRunId = describe?.resetRunId ?? null;
  if (resetRunId !== null) {
    return {
      verdict: null,
      reason: 'continued',
      message: `A reset put run ${resetRunId} in its place; that run speaks for the chain.`,
      decisive: [fact('describe', 'resetRunId', resetRunId)],
    };
  }
  const successor = temporal.source === 'describe' ? (temporal.closeEvent?.successorRunId ?? null) : null;
  // Where Describe could not be read, the list alone says nothing of the run.
  if (temporal.source === 'unread') return null;
  // A completed cron run has a successor too, and still owes what it promised.
  const replaced =
    status === 'CONTINUED_AS_NEW' || ((status === 'FAILED' || status === 'TIMED_OUT') && successor !== null);
  if (!replaced) return null;
  return {
    verdict: null,
    reason: 'continued',
    message:
      successor === null ? 'Continued as a new run.' : `Continued as run ${successor}; that run speaks for the chain.`,
    decisive: [fact('describe', 'status', status), fact('close-event', 'successorRunId', successor)],
  };
};
