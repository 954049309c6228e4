/** A workflow type without a contract: no verdict, counted apart and never green. */
import { fact } from '../view.ts';
import type { Rule } from './rule.ts';

export const notInstrumented: Rule = ({ evidence, contract }) => {
  if (contract !== null) return null;
  return {
    verdict: null,
    reason: 'not-instrumented',
    message: `${evidence.run.workflowType} has no contract: nothing says what progress or success is.`,
    decisive: [fact('contract', 'workflowType', evidence.run.workflowType)],
  };
};
