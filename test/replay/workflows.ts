/** Ordinary workflows that know nothing of the plugin: their histories were recorded without it and must replay with it. */
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  executeChild,
  isCancellation,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  sleep,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';

const options = { startToCloseTimeout: '20s', retry: { maximumAttempts: 2, initialInterval: '50ms' } } as const;
type Activities = { work(step: string): Promise<string>; fail(): Promise<void> };
const { work, fail } = proxyActivities<Activities>(options);
const local = proxyLocalActivities<Activities>(options);

const go = defineSignal('go');

/** Ids made of Temporal's random numbers: a layer that drew from them would change every one. */
export async function randomIds(): Promise<string[]> {
  const first = uuid4();
  await work(first);
  const second = uuid4();
  await executeChild(child, { workflowId: `child-${second}`, args: [Math.random()] });
  return [first, second];
}

export async function child(seed: number): Promise<number> {
  await local.work(String(seed));
  return seed;
}

export async function parallelAndPatched(): Promise<string[]> {
  const steps = patched('wider') ? ['a', 'b', 'c'] : ['a'];
  const results = await Promise.all(steps.map((step) => work(step)));
  await fail().catch(() => undefined);
  await sleep(10);
  return results;
}

export async function continued(left: number): Promise<string> {
  await work(`left-${left}`);
  if (left > 0) await continueAsNew<typeof continued>(left - 1);
  return workflowInfo().firstExecutionRunId;
}

export async function answers(): Promise<string> {
  let gone = false;
  let count = 0;
  setHandler(defineQuery<number>('count'), () => count);
  setHandler(defineUpdate<number, [number]>('add'), async (by) => {
    await work('add');
    return (count += by);
  });
  setHandler(go, () => {
    gone = true;
  });
  await condition(() => gone);
  return 'gone';
}

export async function cancelledInTheMiddle(): Promise<string> {
  try {
    await sleep('1 hour');
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() => work('clean-up'));
    throw error;
  }
  return 'never';
}

export async function failing(): Promise<void> {
  await work('before');
  throw ApplicationFailure.nonRetryable('on purpose');
}

export async function stillOpen(): Promise<void> {
  await work('before');
  let gone = false;
  setHandler(go, () => {
    gone = true;
  });
  await condition(() => gone);
}
