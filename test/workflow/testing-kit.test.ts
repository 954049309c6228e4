/** What `temporal-health/testing` says of real runs on a real server, with the store in memory. */
import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HealthPlugin } from '../../activities/plugin.ts';
import { healthOf, memoryStore, verdictMatchers } from '../../health/testing/index.ts';
import type { Judgement } from '../../health/judgement.ts';
import type { ReceiptStore } from '../../receipts/store.ts';
import { testTemporal } from '../support/servers.ts';
import { bundleWith, contractOf, quiet, startTestWorker } from './plugin/worker.ts';
import type { RunningTestWorker } from './plugin/worker.ts';

let store: ReceiptStore;
let test: RunningTestWorker;

beforeAll(async () => {
  quiet();
  const plugin = new HealthPlugin({
    store: (clusterId) => (store = memoryStore({ clusterId })),
    contracts: [contractOf('waitsForGo'), contractOf('saysAllFour')],
  });
  test = await startTestWorker({
    address: testTemporal().address,
    plugin,
    worker: { workflowBundle: await bundleWith(plugin) },
  });
});
afterAll(() => test.stop());

const health = ({
  workflowId,
  firstExecutionRunId: runId,
}: WorkflowHandleWithFirstExecutionRunId): Promise<Judgement> =>
  healthOf({ client: test.client, store, workflowId, runId });

it('follows a run from waiting to a success that is only claimed', async () => {
  const handle = await test.start('waitsForGo', []);
  await expect.poll(async () => (await health(handle)).verdict, { timeout: 20_000 }).toBe('waiting');
  await handle.signal('go');
  await handle.result();
  const judgement = await health(handle);
  expect(verdictMatchers.toHaveVerdict(judgement, 'false-success', 'deliverable-missing').message()).toMatch(
    /anything but/,
  );
  const newest = await healthOf({ client: test.client, store, workflowId: handle.workflowId });
  expect(newest).toMatchObject({ runId: handle.firstExecutionRunId, verdict: 'false-success' });
});

it('says healthy of a run that kept its promise, and that it knows nothing of one that never was', async () => {
  const handle = await test.start('saysAllFour', ['one']);
  await handle.result();
  expect(await health(handle)).toMatchObject({ verdict: 'healthy' });
  expect(await healthOf({ client: test.client, store, workflowId: 'never-was' })).toMatchObject({
    verdict: null,
    reason: 'unknown-run',
  });
});
