/** Activities whose calls of the outside are counted. */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { receipts } from '../../../activities/index.ts';

/** What was sent, by workflow id. */
export const sent = new Map<string, string[]>();

export const activities = {
  async send(key: string): Promise<void> {
    const { workflowExecution } = activityInfo();
    const id = workflowExecution?.workflowId ?? '';
    const say = receipts();
    await say.effect({ name: 'send', key, state: 'attempted' });
    sent.set(id, [...(sent.get(id) ?? []), key]);
    await say.effect({ name: 'send', key, state: 'verified', verdict: { by: 'destination' } });
  },

  async refuse(secret: string): Promise<void> {
    await receipts().progress('tries', { digest: 'first', done: 1 });
    throw ApplicationFailure.create({ type: 'CardRefused', message: `refused: ${secret}`, details: [secret] });
  },
};

export type FaultActivities = typeof activities;
