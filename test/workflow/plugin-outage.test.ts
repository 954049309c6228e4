/** An outage of the store holds neither the workflow tasks nor the activity slots of a worker. */
import type { WorkflowBundle } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { HealthPlugin } from '../../activities/plugin.ts';
import { testTemporal } from '../support/servers.ts';
import { switchedStore } from './plugin/store.ts';
import { bundleWith, quiet, startTestWorker } from './plugin/worker.ts';

const { address } = testTemporal();
const WAITS = 20;

let workflowBundle: WorkflowBundle;
beforeAll(async () => {
  quiet();
  workflowBundle = await bundleWith(new HealthPlugin({ store: switchedStore().open }));
});

describe('twenty waits opened in an outage, on a worker with five slots of each kind', { timeout: 180_000 }, () => {
  it.each(['down', 'hung'])(
    'let unrelated workflows finish while it lasts and are stored once after it: %s',
    async (how) => {
      const store = switchedStore();
      // Down from the start: the worker begins without its store.
      store.isDown = how === 'down';
      const plugin = new HealthPlugin({ store: store.open });
      const slots = {
        maxConcurrentWorkflowTaskExecutions: 5,
        maxConcurrentActivityTaskExecutions: 5,
        maxConcurrentLocalActivityExecutions: 5,
      };
      const test = await startTestWorker({
        address,
        plugin,
        worker: { workflowBundle, ...slots },
      });
      if (how === 'hung') {
        await expect.poll(() => test.worker.getState(), { timeout: 20_000 }).toBe('RUNNING');
        store.isHung = true;
      }
      const waiting = await Promise.all(Array.from({ length: WAITS }, () => test.start('waitsForGo', [])));
      const recording = async (): Promise<number> => {
        const described = await Promise.all(waiting.map((handle) => handle.describe()));
        return described.filter(({ raw }) => (raw.pendingActivities ?? []).length === 1).length;
      };
      // Each is seen in Describe as what it waits for.
      await expect.poll(recording, { timeout: 30_000 }).toBe(WAITS);
      const unrelated = [await test.start('sleepsTenTimes', []), await test.start('inspects', [])];
      expect(await Promise.all(unrelated.map((handle) => handle.result()))).toEqual(['slept', { status: 200 }]);
      expect(await recording()).toBe(WAITS);

      store.isDown = false;
      store.isHung = false;
      await Promise.all(waiting.map((handle) => handle.signal('go')));
      await Promise.all(waiting.map((handle) => handle.result()));
      for (const handle of waiting) {
        const receipts = await store.receiptsOf(handle.workflowId, handle.firstExecutionRunId);
        expect(receipts.map(({ body }) => 'state' in body && body.state)).toEqual(['open', 'consumed']);
      }
      expect((await store.gaps()).length).toBeGreaterThan(0);
      await test.stop();
    },
  );
});
