/** The run that is measured: ten activities, one after the other. The same code with and without the plugin. */
import { proxyActivities } from '@temporalio/workflow';
import type { StepActivities } from './overhead-activities.ts';

const { step } = proxyActivities<StepActivities>({ startToCloseTimeout: '30s', heartbeatTimeout: '10s' });

/** Answers how many steps said that they were done. */
export async function tenSteps(steps: number): Promise<number> {
  let done = 0;
  for (let index = 1; index <= steps; index += 1) done += await step(index, steps);
  return done;
}
