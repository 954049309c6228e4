/** Says on stdout what the store has acknowledged, in the moment it is known: what a test holds the store to. */
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { receipts } from '../../../activities/index.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

export const activities = {
  /** @returns the attempt whose body ran to its end */
  async speak(rounds: number, pauseMs: number): Promise<number> {
    const { info } = Context.current();
    const workflowId = info.workflowExecution?.workflowId ?? '';
    const recorder = receipts();
    say(`body ${workflowId} ${info.attempt}`);
    for (let round = 0; round < rounds; round++) {
      Context.current().heartbeat(round);
      const noted = await recorder.progress('rounds', { digest: `${info.attempt}-${round}`, done: round, of: rounds });
      const stated = await recorder.effect({ name: 'send', key: `${round}`, state: 'unknown' });
      say(`ack ${workflowId} ${stated.receiptId}`);
      if (round % 5 === 0) {
        await recorder.flush();
        if (noted.recorded) say(`ack ${workflowId} ${noted.receiptId}`);
      }
      await delay(pauseMs);
    }
    return info.attempt;
  },
};

export type ChaosActivities = typeof activities;
