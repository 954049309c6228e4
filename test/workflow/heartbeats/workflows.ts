import { proxyActivities } from '@temporalio/workflow';
import type { HeartbeatActivities } from './activities.ts';

const ask = proxyActivities<HeartbeatActivities>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '2 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
});

export async function converses(way: 'askAdaptively' | 'askAutomatically', port: number): Promise<void> {
  await ask[way](port);
}
