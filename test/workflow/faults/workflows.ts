/** A run of two sends with a signal between them, as it was released first. */
import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { FaultActivities } from './activities.ts';

export const { send, refuse } = proxyActivities<FaultActivities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '100ms', backoffCoefficient: 1 },
});

export const go = defineSignal('go');

export async function pays(): Promise<void> {
  let gone = false;
  setHandler(go, () => {
    gone = true;
  });
  await send('one');
  await condition(() => gone);
  await send('two');
}

export async function refusesSecretly(secret: string): Promise<void> {
  await refuse(secret);
}
