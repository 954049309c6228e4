/** An outage of the store holds neither the workflow tasks nor the activity slots of a worker. */
import { beforeAll, describe, expect, it } from 'vitest';
import { HealthPlugin } from '../../activities/plugin.ts';
import { testTemporal } from '../support/servers.ts';
import { switchedStore } from './plugin/store.ts';
import { bundleWith, quiet, startTestWorker } from './plugin/worker.ts';

const { address } = testTemporal();
const WAITS = 20;

beforeAll(quiet);

describe('twenty waits opened in an outage, on a worker with five slots of each kind', () => {
  it('let an unrelated workflow on that worker finish while it lasts, and are stored once when it ends', async () => {
    const store = switchedStore();
    // Down from the start: the worker begins without its store.
    store.isDown = true;
    const plugin = new HealthPlugin({ store: store.open });
    const slots = {
      maxConcurrentWorkflowTaskExecutions: 5,
      maxConcurrentActivityTaskExecutions: 5,
      maxConcurrentLocalActivityExecutions: 5,
    };
    const test = await startTestWorker({
      address,
      plugin,
      worker: { workflowBundle: await bundleWith(plugin), ...slots },
    });
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
    await Promise.all(waiting.map((handle) => handle.signal('go')));
    await Promise.all(waiting.map((handle) => handle.result()));
    for (const handle of waiting) {
      const receipts = await store.receiptsOf(handle.workflowId, handle.firstExecutionRunId);
      expect(receipts.map(({ body }) => 'state' in body && body.state)).toEqual(['open', 'consumed']);
    }
    expect(await store.gaps()).toHaveLength(1);
    await test.stop();
  });
});
