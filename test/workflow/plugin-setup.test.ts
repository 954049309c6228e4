/** Setting the plugin up: given twice, prebuilt bundles, workers without it, what the bundle holds, a clean stop. */
import { WorkflowFailedError } from '@temporalio/client';
import type { WorkflowBundle } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { receipts } from '../../activities/index.ts';
import { HealthPlugin } from '../../activities/plugin.ts';
import { digestJson } from '../../receipts/digest.ts';
import { HealthError } from '../../receipts/errors.ts';
import { createMemoryStore } from '../../receipts/memory-store.ts';
import { testTemporal } from '../support/servers.ts';
import { switchedStore } from './plugin/store.ts';
import { bundleWith, contractOf, quiet, startTestWorker, uniqueName } from './plugin/worker.ts';

const { address } = testTemporal();
const memoryPlugin = (): HealthPlugin => new HealthPlugin({ store: (clusterId) => createMemoryStore({ clusterId }) });

let workflowBundle: WorkflowBundle;
let bareBundle: WorkflowBundle;

beforeAll(async () => {
  quiet();
  workflowBundle = await bundleWith(memoryPlugin());
  bareBundle = await bundleWith(null);
});

async function codeOf(failing: Promise<unknown>): Promise<unknown> {
  const error = await failing.then(
    () => new Error('did not fail'),
    (reason: unknown) => reason,
  );
  return error instanceof WorkflowFailedError
    ? (error.cause as { type?: string }).type
    : ((error as { code?: string }).code ?? error);
}

describe('set-up', () => {
  it('records each receipt once when the connection and the worker were given the same plugin', async () => {
    const store = switchedStore();
    const plugin = new HealthPlugin({ store: store.open });
    const test = await startTestWorker({ address, plugin, onConnection: true, worker: { workflowBundle } });
    const handle = await test.start('says', ['once']);
    await handle.result();
    expect(await store.receiptsOf(handle.workflowId, handle.firstExecutionRunId)).toHaveLength(1);
    await test.stop();
    expect(store).toMatchObject({ opened: 1, closed: 1 });
  });

  it('refuses two different plugins on one worker', async () => {
    const worker = { workflowBundle, plugins: [memoryPlugin(), memoryPlugin()] };
    expect(await codeOf(startTestWorker({ address, worker }))).toBe('PLUGIN_TWICE');
  });

  it('refuses to run with a prebuilt bundle that was built without it', async () => {
    const test = await startTestWorker({ address, plugin: memoryPlugin(), worker: { workflowBundle: bareBundle } });
    expect(await codeOf(test.running)).toBe('PLUGIN_MISSING');
    await test.stop().catch(() => undefined);
  });

  it('fails a workflow that records on a worker without the plugin, at once and for good', async () => {
    const test = await startTestWorker({ address, worker: { workflowBundle } });
    const bare = await startTestWorker({ address, worker: { workflowBundle: bareBundle } });
    for (const worker of [test, bare]) {
      expect(await codeOf((await worker.start('recordsBadly', [])).result())).toBe('PLUGIN_MISSING');
      expect(await codeOf((await worker.start('waitsForGo', [])).result())).toBe('PLUGIN_MISSING');
    }
    await test.stop();
    await bare.stop();
  });

  it('takes over a run that a worker without it began', async () => {
    const taskQueue = uniqueName('crossing');
    const before = await startTestWorker({ address, taskQueue, worker: { workflowBundle: bareBundle } });
    const handle = await before.start('sleepsBetweenPages', []);
    await expect.poll(() => handle.query('pages'), { timeout: 20_000 }).toBe(1);
    await before.stop();
    const store = switchedStore();
    const plugin = new HealthPlugin({ store: store.open, contracts: [contractOf('sleepsBetweenPages', pages)] });
    const after = await startTestWorker({ address, taskQueue, plugin, worker: { workflowBundle } });
    const same = after.client.workflow.getHandle(handle.workflowId);
    await same.signal('go');
    expect(await same.result()).toBe(2);
    const recorded = await store.receiptsOf(handle.workflowId, handle.firstExecutionRunId);
    expect(recorded).toMatchObject([{ emitter: '2', body: { milestone: 'pages' } }]);
    await after.stop();
  });

  it('knows the chain and the mission of an activity that a worker without it scheduled', async () => {
    const taskQueue = uniqueName('unheaded');
    const bareWorker = { workflowBundle: bareBundle, activities: {} };
    const before = await startTestWorker({ address, taskQueue, worker: bareWorker });
    const handle = await before.start('says', ['step'], { taskQueue });
    await expect.poll(async () => (await handle.describe()).raw.pendingActivities?.length, { timeout: 20_000 }).toBe(1);
    const store = switchedStore();
    const plugin = new HealthPlugin({ store: store.open });
    const after = await startTestWorker({ address, taskQueue, plugin, worker: { workflowBundle } });
    await handle.result();
    const chainId = handle.firstExecutionRunId;
    const [receipt] = await store.receiptsOf(handle.workflowId, chainId);
    const missionFingerprint = digestJson({ workflowType: 'says', args: ['step'] });
    expect(receipt).toMatchObject({ runId: chainId, chainId, missionFingerprint, emitter: '1' });
    await after.stop();
    await before.stop();
  });

  it('does not make a worker for workflows alone take the activity tasks of its queue', async () => {
    const test = await startTestWorker({ address, plugin: memoryPlugin(), worker: { workflowBundle, activities: {} } });
    expect(test.worker.options).toMatchObject({ enableNonLocalActivities: false });
    await test.stop();
  });

  it('refuses to start on a store that must not be used, and closes it', async () => {
    let isClosed = false;
    const plugin = new HealthPlugin({
      store: (clusterId) => ({
        ...createMemoryStore({ clusterId }),
        clusterId,
        registerContracts: () => Promise.reject(new HealthError('STORE_SETTINGS', 'fsync is off')),
        close() {
          isClosed = true;
          return Promise.resolve();
        },
      }),
    });
    const test = await startTestWorker({ address, plugin, worker: { workflowBundle } });
    expect(await codeOf(test.running)).toBe('STORE_SETTINGS');
    expect(isClosed).toBe(true);
    await test.stop().catch(() => undefined);
  });

  it('refuses a store that was opened for another cluster', async () => {
    const plugin = new HealthPlugin({ store: () => createMemoryStore({ clusterId: 'another' }) });
    const test = await startTestWorker({ address, plugin, worker: { workflowBundle } });
    expect(await codeOf(test.running)).toBe('CLUSTER_MISMATCH');
    await test.stop().catch(() => undefined);
  });

  it('says what to do where there is no activity', () => {
    expect(() => receipts()).toThrow(expect.objectContaining({ code: 'NO_ACTIVITY_CONTEXT' }) as Error);
  });

  it('puts neither a database, nor a schema library, nor a module of Node into the sandbox', () => {
    const modules = [...workflowBundle.code.matchAll(/"(\.\/[^"\n]+\.(?:[cm]?[jt]s))"/g)].map(([, path]) => path ?? '');
    expect(modules.some((path) => path.includes('workflows/interceptors'))).toBe(true);
    expect(modules.filter((path) => /node_modules\/(pg|zod|uuid)|^\.\/activities|postgres/.test(path))).toEqual([]);
    expect(workflowBundle.code).not.toMatch(/require\("node:/);
  });
});

const pages = { milestones: { pages: { activityTypes: ['inspectPage'] } } };
