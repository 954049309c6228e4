/** One run of many receipts, by an activity that may be killed at any of them. */
import { proxyActivities } from '@temporalio/workflow';
import { openWait, recordProgress } from '../../../workflows/index.ts';
import type { ChaosActivities } from './activities.ts';

const activities = proxyActivities<ChaosActivities>({
  startToCloseTimeout: '60s',
  heartbeatTimeout: '2s',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '200ms', maximumInterval: '500ms' },
});

export async function speaks(rounds: number, pauseMs: number): Promise<number> {
  const wait = await openWait({ name: 'turn', owner: 'ann', deadline: '1 hour', resumeBy: 'workflow' });
  const bodies = await activities.speak(rounds, pauseMs);
  await wait.consumed();
  await recordProgress({ milestone: 'rounds', digest: `${rounds}` });
  return bodies;
}
