/** What activities and workflows record, and what becomes of it while the store is away. */
import { randomUUID } from 'node:crypto';
import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HealthPlugin } from '../../activities/plugin.ts';
import type { StoredReceipt } from '../../receipts/envelope.ts';
import { testTemporal } from '../support/servers.ts';
import { bodies, outage } from './plugin/activities.ts';
import { switchedStore } from './plugin/store.ts';
import { bundleWith, contractOf, quiet, startTestWorker } from './plugin/worker.ts';
import type { RunningTestWorker } from './plugin/worker.ts';

const { address } = testTemporal();
const store = switchedStore();
let test: RunningTestWorker;
let bare: RunningTestWorker;

beforeAll(async () => {
  quiet();
  const inspected = { milestones: { inspected: { activityTypes: ['inspectPage'] } } };
  const plugin = new HealthPlugin({
    store: store.open,
    contracts: [contractOf('inspects', inspected), contractOf('deliversBriefly'), contractOf('saysAllFour')],
    workerId: 'worker-under-test',
  });
  const workflowBundle = await bundleWith(plugin);
  test = await startTestWorker({ address, plugin, worker: { workflowBundle } });
  bare = await startTestWorker({ address, worker: { workflowBundle: await bundleWith(null) } });
});
afterAll(async () => {
  await test.stop();
  await bare.stop();
});
beforeEach(() => {
  store.isDown = false;
});

const receiptsOf = (handle: WorkflowHandleWithFirstExecutionRunId): Promise<readonly StoredReceipt[]> =>
  store.receiptsOf(handle.workflowId, handle.firstExecutionRunId);

async function failureType(handle: WorkflowHandleWithFirstExecutionRunId): Promise<unknown> {
  try {
    return await handle.result();
  } catch (error) {
    let at: unknown = error;
    while (at instanceof Error && at.cause !== undefined) at = at.cause;
    return (at as { type?: string }).type;
  }
}

describe('recording', () => {
  it('takes the result of an activity type that the contract names for a milestone, without touching it', async () => {
    const handle = await test.start('inspects', []);
    expect(await handle.result()).toEqual({ status: 200 });
    expect(await receiptsOf(handle)).toMatchObject([{ kind: 'progress', body: { milestone: 'inspected' } }]);
  });

  it('answers a bad note of a workflow with a value and leaves no hole in the sequence', async () => {
    const handle = await test.start('recordsBadly', []);
    const [bad, good] = (await handle.result()) as unknown[];
    expect(bad).toMatchObject({ recorded: false, error: { code: 'RECEIPT_INVALID' } });
    expect(good).toEqual({ recorded: true });
    expect(await receiptsOf(handle)).toMatchObject([{ emitter: 'workflow', sequence: 1, body: { digest: 'd' } }]);
  });

  it('refuses an incomplete wait of a workflow for good', async () => {
    const handle = await test.start('waitsWithoutOwner', []);
    expect(await failureType(handle)).toBe('WAIT_INCOMPLETE');
    expect(await receiptsOf(handle)).toEqual([]);
  });

  it('records a wait of a workflow as open and as consumed, under one token and one deadline', async () => {
    const handle = await test.start('waitsForGo', []);
    await expect.poll(async () => (await receiptsOf(handle)).length, { timeout: 20_000 }).toBe(1);
    await handle.signal('go');
    await handle.result();
    const [open, consumed] = await receiptsOf(handle);
    expect(open).toMatchObject({ sequence: 1, body: { state: 'open', owner: 'ann', resumeBy: 'signal' } });
    expect(consumed).toMatchObject({ sequence: 2, body: { ...open!.body, state: 'consumed' } });
    expect(open!.receiptId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(open!.fence).toBe(open!.runStartedAtMs);
  });

  it('still withdraws the wait of a cancelled workflow', async () => {
    const handle = await test.start('withdrawsWhenCancelled', []);
    await expect.poll(async () => (await receiptsOf(handle)).length, { timeout: 20_000 }).toBe(1);
    await handle.cancel();
    await expect(handle.result()).rejects.toThrow();
    expect((await receiptsOf(handle)).map(({ body }) => 'state' in body && body.state)).toEqual(['open', 'withdrawn']);
  });

  it('lets a retry go on from the last milestone that is stored, whatever its heartbeat told the server', async () => {
    const handle = await test.start('goesOn', []);
    expect(await handle.result()).toBe('after nothing by attempt 1, 1 done');
    expect((await receiptsOf(handle)).map(({ body }) => 'digest' in body && body.digest)).toEqual([
      'after nothing',
      'after after nothing',
    ]);
  });

  it('beats by its milestones, so that a cancellation arrives and the server shows the progress', async () => {
    const handle = await test.start('stepsUntilCancelled', []);
    const beats = async (): Promise<unknown> => {
      const { raw } = await handle.describe();
      const [payload] = raw.pendingActivities?.[0]?.heartbeatDetails?.payloads ?? [];
      return payload?.data && JSON.parse(Buffer.from(payload.data).toString());
    };
    await expect.poll(beats, { timeout: 30_000 }).toMatchObject({
      'temporal-health/progress': { milestone: 'steps', delta: { done: expect.any(Number) as number } },
    });
    await handle.cancel();
    await expect(handle.result()).rejects.toThrow();
    expect((await handle.describe()).status.name).toBe('CANCELLED');
  });

  it('costs no event without a helper, one for each receipt with one, and at most 300 bytes an activity', async () => {
    const cost = async (worker: RunningTestWorker, type: string): Promise<{ events: number; bytes: number }> => {
      const id = `${type}-${randomUUID()}`;
      const handle = await worker.client.workflow.start(type, { workflowId: id, taskQueue: worker.taskQueue });
      await handle.result();
      const { historyLength, historySize } = await handle.describe();
      return { events: historyLength, bytes: historySize ?? 0 };
    };
    const [withPlugin, without] = [await cost(test, 'tenSteps'), await cost(bare, 'tenPlainSteps')];
    expect(withPlugin.events).toBe(without.events);
    expect((withPlugin.bytes - without.bytes) / 10).toBeLessThanOrEqual(300);
    const waiting = await test.start('waitsForGo', []);
    await waiting.signal('go');
    await waiting.result();
    const { events } = await waiting.fetchHistory();
    expect(events?.filter((event) => Boolean(event.markerRecordedEventAttributes))).toHaveLength(2);
  });
});

describe('while the store is away', () => {
  it('holds a result until its receipts are stored and does not run the body again', async () => {
    store.isDown = true;
    const handle = await test.start('saysAllFour', ['held']);
    await expect.poll(() => bodies.get(handle.workflowId)).toBe(1);
    store.isDown = false;
    await handle.result();
    expect(bodies.get(handle.workflowId)).toBe(1);
    expect((await receiptsOf(handle)).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
    const [gap] = await store.gaps();
    expect(gap).toMatchObject({ workerId: 'worker-under-test', namespace: 'default' });
    expect(gap!.untilMs).toBeGreaterThanOrEqual(gap!.fromMs);
  });

  it('lets notes give way when the attempt is nearly over, and stores them when it is back', async () => {
    store.isDown = true;
    const handle = await test.start('saysBriefly', ['given way']);
    await handle.result();
    expect(bodies.get(handle.workflowId)).toBe(1);
    expect(await receiptsOf(handle)).toEqual([]);
    store.isDown = false;
    await expect.poll(async () => (await receiptsOf(handle)).length, { timeout: 10_000 }).toBe(1);
  });

  it('fails an attempt whose deliverable cannot be stored, retryably and under its code', async () => {
    store.isDown = true;
    const handle = await test.start('deliversBriefly', []);
    expect(await failureType(handle)).toBe('WORK_DONE_UNRECORDED');
    expect(bodies.get(handle.workflowId)).toBe(2);
  });

  it('says that the work was done where an activity did not wait for its receipt', async () => {
    store.isDown = true;
    const handle = await test.start('asksWithoutWaiting', []);
    expect(await failureType(handle)).toBe('WORK_DONE_UNRECORDED');
  });

  it('sends a note that could not be written with the next one, and in its order', { timeout: 120_000 }, async () => {
    const handle = await test.start('waitsThenSays', []);
    await expect.poll(async () => (await receiptsOf(handle)).length, { timeout: 20_000 }).toBe(1);
    store.isDown = true;
    outage.end = () => {
      store.isDown = false;
    };
    await handle.signal('go');
    expect(await handle.result()).toEqual({ recorded: false, code: 'STORE_UNAVAILABLE', then: { recorded: true } });
    const recorded = (await receiptsOf(handle)).filter(({ emitter }) => emitter === 'workflow');
    expect(recorded.map(({ kind, sequence }) => [kind, sequence])).toEqual([
      ['wait', 1],
      ['progress', 2],
      ['progress', 3],
    ]);
  });
});
