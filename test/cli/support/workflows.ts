/** Runs in every state that Temporal knows, each as small as it can be. None of them knows of this project. */
import {
  condition,
  continueAsNew,
  proxyActivities,
  setHandler,
  sleep,
  defineSignal,
  startChild,
} from '@temporalio/workflow';

interface Activities {
  failing: (words: string) => Promise<void>;
  holding: () => Promise<void>;
}

const finish = defineSignal('finish');

/** Stays open until it is told to finish. */
export async function ordinary(): Promise<string> {
  let done = false;
  setHandler(finish, () => {
    done = true;
  });
  await condition(() => done);
  return 'done';
}

/** An activity that fails over and over, as Temporal retries by default. */
export async function retries(words: string, intervalMs = 10): Promise<void> {
  const { failing } = proxyActivities<Activities>({
    startToCloseTimeout: '1m',
    retry: { initialInterval: intervalMs, backoffCoefficient: 1 },
  });
  await failing(words);
}

/** An activity that is held, so that it can be paused while it waits for its next attempt. */
export async function holds(): Promise<void> {
  const { holding } = proxyActivities<Activities>({ startToCloseTimeout: '1m', heartbeatTimeout: '20s' });
  await holding();
}

/** An activity on a queue that nobody serves. */
export async function unserved(taskQueue: string): Promise<void> {
  const { holding } = proxyActivities<Activities>({ taskQueue, startToCloseTimeout: '1m' });
  await holding();
}

export async function failsAtOnce(): Promise<void> {
  const { failing } = proxyActivities<Activities>({ startToCloseTimeout: '1m', retry: { maximumAttempts: 1 } });
  await failing('no luck');
}

export async function sleeps(): Promise<void> {
  await sleep('1 day');
}

/** A fault in the workflow's own code: the run stays RUNNING and its workflow task fails over and over. */
export async function broken(): Promise<void> {
  await sleep(1);
  throw new TypeError('this code cannot go on');
}

export async function renews(generation = 0): Promise<void> {
  if (generation === 0) await continueAsNew<typeof renews>(1);
  await sleep('1 day');
}

export async function parent(child: string): Promise<void> {
  const handle = await startChild(sleeps, { workflowId: child });
  await handle.result();
}
