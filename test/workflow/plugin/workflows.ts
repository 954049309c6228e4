/** Workflows of the plugin's tests: each shows one thing that an identity or a receipt must survive. */
import {
  ApplicationFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { openWait, recordProgress, recordWait } from '../../../workflows/index.ts';
import type { WorkflowProgressAnswer } from '../../../workflows/index.ts';
import type { PluginActivities } from './activities.ts';

const activities = proxyActivities<PluginActivities>({
  startToCloseTimeout: '30s',
  heartbeatTimeout: '10s',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '100ms', maximumInterval: '200ms' },
});
const local = proxyLocalActivities<PluginActivities>({ startToCloseTimeout: '10s' });

/** Attempts of three seconds: an outage outlasts them. */
const brief = proxyActivities<PluginActivities>({
  startToCloseTimeout: '3s',
  retry: { initialInterval: '100ms', maximumAttempts: 2 },
});

export const go = defineSignal('go');

export async function saysBriefly(step: string): Promise<void> {
  await brief.say(step);
}

export async function deliversBriefly(): Promise<void> {
  await brief.deliver();
}

export async function asksWithoutWaiting(): Promise<void> {
  await brief.forgetToAwait();
}

export async function says(step: string): Promise<void> {
  await activities.say(step);
}

export async function goesOn(): Promise<string> {
  return activities.goesOn();
}

export async function stepsUntilCancelled(): Promise<void> {
  await activities.stepsUntilCancelled();
}

export async function saysAllFour(step: string): Promise<void> {
  await activities.sayAllFour(step);
}

export async function saysLocally(step: string): Promise<void> {
  await local.say(step);
}

export async function saysOnSecondAttempt(): Promise<void> {
  await activities.failOnce();
}

export async function continues(left: number): Promise<void> {
  await activities.say(`left-${left}`);
  if (left > 0) await continueAsNew<typeof continues>(left - 1);
}

export async function saysBeforeAndAfterGo(): Promise<void> {
  let gone = false;
  setHandler(go, () => {
    gone = true;
  });
  await activities.say('before');
  await recordProgress({ milestone: 'workflow', digest: 'before' });
  // A workflow task of its own after the receipt: a reset to it keeps the receipt in the past.
  await sleep(10);
  await condition(() => gone);
  await activities.say('after');
  await recordProgress({ milestone: 'workflow', digest: 'after' });
}

export async function failsTheFirstRun(): Promise<void> {
  const { attempt } = workflowInfo();
  await activities.say(`run-attempt-${attempt}`);
  if (attempt === 1) throw ApplicationFailure.retryable('the first run of the chain fails');
}

export async function waitsForGo(deadline = '1 hour'): Promise<void> {
  let gone = false;
  setHandler(go, () => {
    gone = true;
  });
  const wait = await openWait({ name: 'go', owner: 'ann', deadline, resumeBy: 'signal' });
  await condition(() => gone);
  await wait.consumed();
}

export async function withdrawsWhenCancelled(): Promise<void> {
  const wait = await openWait({ name: 'go', owner: 'ann', deadline: '1 hour', resumeBy: 'signal' });
  try {
    await condition(() => false);
  } finally {
    await wait.withdrawn();
  }
}

export async function recordsBadly(): Promise<WorkflowProgressAnswer[]> {
  const bad = await recordProgress({ milestone: 'm', digest: '' });
  const good = await recordProgress({ milestone: 'm', digest: 'd' });
  return [bad, good];
}

export async function waitsWithoutOwner(): Promise<void> {
  const wait = { name: 'w', deadline: '1 hour', resumeToken: 't', resumeBy: 'signal' };
  await recordWait(wait as unknown as Parameters<typeof recordWait>[0]);
}

export async function sleepsTenTimes(): Promise<string> {
  for (let turn = 0; turn < 10; turn++) await sleep(20);
  return 'slept';
}

export async function tenSteps(): Promise<void> {
  for (let step = 0; step < 10; step++) await activities.say(`step-${step}`);
}

export async function tenPlainSteps(): Promise<void> {
  for (let step = 0; step < 10; step++) await activities.plain(`step-${step}`);
}

/** Two notes around the end of an outage: the first travels with the second. */
export async function waitsThenSays(): Promise<unknown> {
  let gone = false;
  setHandler(go, () => {
    gone = true;
  });
  await openWait({ name: 'go', owner: 'ann', deadline: '1 hour', resumeBy: 'signal' });
  await condition(() => gone);
  const answer = await recordProgress({ milestone: 'workflow', digest: 'in the outage' });
  await activities.endOutage();
  const then = await recordProgress({ milestone: 'workflow', digest: 'after it' });
  return { recorded: answer.recorded, code: answer.recorded ? null : answer.error.code, then };
}

export async function inspects(): Promise<unknown> {
  return activities.inspectPage();
}

export async function sleepsBetweenPages(): Promise<number> {
  let pages = 0;
  let gone = false;
  setHandler(defineQuery<number>('pages'), () => pages);
  setHandler(go, () => {
    gone = true;
  });
  await activities.inspectPage();
  pages += 1;
  await condition(() => gone);
  await activities.inspectPage();
  return (pages += 1);
}
