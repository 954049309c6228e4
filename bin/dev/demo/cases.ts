/** The six cases and the source check: what runs, where, and what it must be judged to be. */
import type { Reason, Verdict } from '../../../health/verdict.ts';

export interface DemonstrationCase {
  readonly name: Verdict | 'source-check';
  readonly workflowType: string;
  /** `side`: the worker that is killed. */
  readonly worker: 'main' | 'side';
  readonly verdict: Verdict;
  readonly reasons: readonly Reason[];
  /** All that Temporal by itself can say. */
  readonly temporalStatus: 'RUNNING' | 'COMPLETED';
}

export const SIX_CASES: readonly DemonstrationCase[] = [
  {
    name: 'working',
    workflowType: 'workingAgent',
    worker: 'main',
    verdict: 'working',
    reasons: ['milestone-fresh'],
    temporalStatus: 'RUNNING',
  },
  {
    name: 'waiting',
    workflowType: 'waitingAgent',
    worker: 'main',
    verdict: 'waiting',
    reasons: ['wait'],
    temporalStatus: 'RUNNING',
  },
  {
    name: 'stuck',
    workflowType: 'stuckAgent',
    worker: 'main',
    verdict: 'stuck',
    reasons: ['loop', 'milestone-stale'],
    temporalStatus: 'RUNNING',
  },
  {
    name: 'uncertain',
    workflowType: 'uncertainAgent',
    worker: 'side',
    verdict: 'uncertain',
    reasons: ['effect-unsettled'],
    temporalStatus: 'RUNNING',
  },
  {
    name: 'false-success',
    workflowType: 'falseSuccessAgent',
    worker: 'main',
    verdict: 'false-success',
    reasons: ['deliverable-missing'],
    temporalStatus: 'COMPLETED',
  },
  {
    name: 'healthy',
    workflowType: 'healthyAgent',
    worker: 'main',
    verdict: 'healthy',
    reasons: ['verified'],
    temporalStatus: 'COMPLETED',
  },
];

export const SOURCE_CHECK_CASE: DemonstrationCase = {
  name: 'source-check',
  workflowType: 'sourceCheck',
  worker: 'side',
  verdict: 'healthy',
  reasons: ['verified'],
  temporalStatus: 'COMPLETED',
};
