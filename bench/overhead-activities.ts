/** One activity in three forms under one name: it says nothing, it says one receipt, it says four. */
import { createHash } from 'node:crypto';
import { receipts } from '../activities/index.ts';

export interface StepActivities {
  step(index: number, of: number): Promise<number>;
}

const digestOf = (index: number): string => `sha256:${createHash('sha256').update(`step ${index}`).digest('hex')}`;

export const RECEIPTS_OF_STEP = { bare: 0, one: 1, four: 4 } as const;
export type StepForm = keyof typeof RECEIPTS_OF_STEP;

export const STEP_FORMS: Readonly<Record<StepForm, StepActivities>> = {
  bare: {
    step(index) {
      digestOf(index);
      return Promise.resolve(1);
    },
  },
  one: {
    async step(index, of) {
      await receipts().progress('steps', { digest: digestOf(index), done: index, of });
      return 1;
    },
  },
  /** As an activity that calls a destination: what must be awaited is awaited before the call and after it. */
  four: {
    async step(index, of) {
      const say = receipts();
      const call = { name: 'charge', key: String(index), inputDigest: digestOf(index) };
      await say.progress('steps', { digest: `${digestOf(index)} begun`, done: index - 1, of });
      await say.effect({ ...call, state: 'attempted' });
      await say.effect({ ...call, state: 'verified', verdict: { by: 'destination', level: 'settled' } });
      await say.progress('steps', { digest: digestOf(index), done: index, of });
      return 1;
    },
  },
};
