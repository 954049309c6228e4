/** Whose receipt it is: the same chain over retry, continue-as-new, reset and workflow retry; never over a cron. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { WorkflowHandle } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { HealthPlugin } from '../../activities/plugin.ts';
import { digestJson } from '../../receipts/digest.ts';
import { migrate, openPostgresStore } from '../../receipts/postgres/index.ts';
import type { StoredReceipt } from '../../receipts/envelope.ts';
import type { ReceiptStore } from '../../receipts/store.ts';
import { freshDatabase, testTemporal } from '../support/servers.ts';
import type { FreshDatabase } from '../support/servers.ts';
import { contractOf, quiet, startTestWorker, uniqueName } from './plugin/worker.ts';
import type { RunningTestWorker } from './plugin/worker.ts';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type Long = HistoryEvent['eventId'];

let database: FreshDatabase;
let store: ReceiptStore;
let test: RunningTestWorker;

beforeAll(async () => {
  quiet();
  database = await freshDatabase();
  await migrate(database.url);
  const plugin = new HealthPlugin({
    store: (clusterId) => (store = openPostgresStore({ clusterId, url: database.url })),
    contracts: [contractOf('saysAllFour')],
  });
  test = await startTestWorker({ address: testTemporal().address, plugin });
});
afterAll(async () => {
  await test.stop();
  await database.drop();
});

async function receiptsOf(workflowId: string, chainId: string): Promise<readonly StoredReceipt[]> {
  return store.readReceipts({ namespace: 'default', workflowId, chainId }, 1000);
}

const start: RunningTestWorker['start'] = (...args) => test.start(...args);

describe('identity', () => {
  it('gives the four receipts of an activity the run, the chain, the emitter and an order without holes', async () => {
    const handle = await start('saysAllFour', ['s1']);
    await handle.result();
    const receipts = await receiptsOf(handle.workflowId, handle.firstExecutionRunId);
    expect(receipts.map(({ kind, sequence }) => [kind, sequence])).toEqual([
      ['progress', 1],
      ['wait', 2],
      ['effect', 3],
      ['effect', 4],
      ['deliverable', 5],
    ]);
    for (const receipt of receipts) {
      expect(receipt).toMatchObject({
        clusterId: store.clusterId,
        namespace: 'default',
        workflowId: handle.workflowId,
        runId: handle.firstExecutionRunId,
        chainId: handle.firstExecutionRunId,
        workflowType: 'saysAllFour',
        emitter: '1',
        activityType: 'sayAllFour',
        attempt: 1,
        missionFingerprint: digestJson({ workflowType: 'saysAllFour', args: ['s1'] }),
      });
    }
  });

  it('keeps chain and mission over an activity retry and orders the attempts by their schedule time', async () => {
    const handle = await start('saysOnSecondAttempt', []);
    await handle.result();
    const receipts = await receiptsOf(handle.workflowId, handle.firstExecutionRunId);
    expect(receipts.map(({ attempt, sequence, emitter }) => [attempt, sequence, emitter])).toEqual([
      [1, 1, '1'],
      [2, 1, '1'],
    ]);
    expect(receipts[1]!.fence).toBeGreaterThan(receipts[0]!.fence);
  });

  it('keeps chain and mission over continue-as-new, with later starts for later runs', async () => {
    const handle = await start('continues', [2]);
    await handle.result();
    const receipts = await receiptsOf(handle.workflowId, handle.firstExecutionRunId);
    expect(new Set(receipts.map(({ runId }) => runId)).size).toBe(3);
    const fingerprint = digestJson({ workflowType: 'continues', args: [2] });
    expect(receipts.map(({ missionFingerprint }) => missionFingerprint)).toEqual([
      fingerprint,
      fingerprint,
      fingerprint,
    ]);
    const starts = receipts.map(({ runStartedAtMs }) => runStartedAtMs);
    expect(starts).toEqual([...new Set(starts)].sort((a, b) => a - b));
    const chain = await store.readChain({ namespace: 'default', workflowId: handle.workflowId });
    expect(chain).toMatchObject({ receiptCount: 3, runId: receipts[2]!.runId, chainId: handle.firstExecutionRunId });
  });

  it('keeps chain and mission over a workflow retry', async () => {
    const handle = await start('failsTheFirstRun', [], { retry: { maximumAttempts: 2, initialInterval: '100ms' } });
    await handle.result();
    const receipts = await receiptsOf(handle.workflowId, handle.firstExecutionRunId);
    expect(receipts).toHaveLength(2);
    expect(new Set(receipts.map(({ runId }) => runId)).size).toBe(2);
    expect(new Set(receipts.map(({ missionFingerprint }) => missionFingerprint)).size).toBe(1);
  });

  async function resetTo(handle: WorkflowHandle, eventId: Long | null | undefined): Promise<void> {
    await test.client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: handle.workflowId },
      reason: 'test',
      requestId: uniqueName('reset'),
      workflowTaskFinishEventId: eventId ?? null,
    });
    const after = test.client.workflow.getHandle(handle.workflowId);
    await after.signal('go');
    await after.result();
  }

  const completedTaskAfter = async (handle: WorkflowHandle, isIt: (event: HistoryEvent) => boolean) => {
    const { events } = await handle.fetchHistory();
    const at = events?.findIndex(isIt) ?? -1;
    const task = events?.slice(at).find((event) => Boolean(event.workflowTaskCompletedEventAttributes));
    if (at < 0 || task === undefined) throw new Error('not there yet');
    return task.eventId;
  };

  it('keeps chain and mission over a reset, whose run begins later and counts its own receipts from 1', async () => {
    const handle = await start('saysBeforeAndAfterGo', []);
    const chain = handle.firstExecutionRunId;
    const task = await vi.waitFor(
      () => completedTaskAfter(handle, (event) => Boolean(event.timerFiredEventAttributes)),
      {
        timeout: 20_000,
      },
    );
    await resetTo(handle, task);
    const receipts = await receiptsOf(handle.workflowId, chain);
    const newRun = receipts.filter(({ runId }) => runId !== chain);
    expect(newRun.map(({ emitter, sequence }) => [emitter, sequence])).toEqual([
      ['3', 1],
      ['workflow', 1],
    ]);
    expect(newRun[0]!.runStartedAtMs).toBeGreaterThan(receipts[0]!.runStartedAtMs);
    expect(new Set(receipts.map(({ missionFingerprint }) => missionFingerprint)).size).toBe(1);
    const row = await store.readChain({ namespace: 'default', workflowId: handle.workflowId });
    expect(row).toMatchObject({ runId: newRun[0]!.runId, state: { emitterGaps: {}, late: { count: 0 } } });
  });

  it('keeps chain and mission over a reset to the very first task', async () => {
    const handle = await start('saysBeforeAndAfterGo', []);
    const chain = handle.firstExecutionRunId;
    const task = await vi.waitFor(() => completedTaskAfter(handle, () => true), { timeout: 20_000 });
    await vi.waitFor(() => completedTaskAfter(handle, (event) => Boolean(event.timerFiredEventAttributes)), {
      timeout: 20_000,
    });
    await resetTo(handle, task);
    const receipts = await receiptsOf(handle.workflowId, chain);
    const newRun = receipts.filter(({ runId }) => runId !== chain);
    expect(newRun.map(({ emitter, sequence }) => [emitter, sequence])).toEqual([
      ['1', 1],
      ['workflow', 1],
      ['3', 1],
      ['workflow', 2],
    ]);
    for (const { runStartedAtMs } of newRun) expect(runStartedAtMs).toBeGreaterThan(receipts[0]!.runStartedAtMs);
    expect(new Set(newRun.map(({ runStartedAtMs }) => runStartedAtMs)).size).toBe(1);
  });

  it('makes every run of a cron a chain of its own', async () => {
    const handle = await start('says', ['tick'], { cronSchedule: '@every 1s' });
    const runIds = await vi.waitFor(
      async () => {
        const page = await store.listChains({ namespace: 'default', limit: 1000 });
        const runs = page.rows.filter(({ workflowId }) => workflowId === handle.workflowId);
        expect(runs.length).toBeGreaterThanOrEqual(2);
        return runs;
      },
      { timeout: 20_000 },
    );
    await handle.terminate();
    for (const row of runIds) expect(row).toMatchObject({ chainId: row.runId, receiptCount: 1 });
    expect(new Set(runIds.map(({ missionFingerprint }) => missionFingerprint)).size).toBe(1);
  });

  it('reaches local activities too', async () => {
    const handle = await start('saysLocally', ['s']);
    await handle.result();
    const [receipt] = await receiptsOf(handle.workflowId, handle.firstExecutionRunId);
    expect(receipt).toMatchObject({ activityType: 'say', sequence: 1, attempt: 1 });
  });
});
