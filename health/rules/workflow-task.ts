/** Step 5: the workflow's own code fails over and over. The run stays RUNNING and goes nowhere. */
import { fact } from '../view.ts';
import type { Rule } from './rule.ts';

export const workflowTaskFailing: Rule = ({ open, describe, policy }) => {
  const task = describe?.pendingWorkflowTask ?? null;
  if (!open || task === null || task.attempt < policy.workflowTaskAttempts) return null;
  return {
    verdict: 'stuck',
    reason: 'workflow-task-failing',
    message: `The workflow task has failed ${task.attempt - 1} times in a row: the workflow's code cannot go on.`,
    decisive: [fact('workflow-task', 'attempt', task.attempt), fact('workflow-task', 'problem', task.problem)],
  };
};
