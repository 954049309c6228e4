/** What is said of runs whose code, contract or payloads are not what they were: changed code, two contracts, a codec. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import type { WorkflowBundle } from '@temporalio/worker';
import { temporal } from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { HealthPlugin } from '../../activities/plugin.ts';
import { DEFAULT_POLICY } from '../../health/policy.ts';
import { healthOf } from '../../health/testing/index.ts';
import { fileDigest } from '../../receipts/checks/index.ts';
import { defineContract } from '../../receipts/contract.ts';
import type { DefinedContract } from '../../receipts/contract.ts';
import { createMemoryStore } from '../../receipts/memory-store.ts';
import { migrate, openPostgresStore } from '../../receipts/postgres/index.ts';
import type { ReceiptStore } from '../../receipts/store.ts';
import { healthHere } from '../cli/support/in-process.ts';
import { freshDatabase, testTemporal } from '../support/servers.ts';
import type { FreshDatabase } from '../support/servers.ts';
import { activities, sent } from './faults/activities.ts';
import { quiet, startTestWorker, uniqueName } from './plugin/worker.ts';
import type { RunningTestWorker, TestWorkerOptions } from './plugin/worker.ts';

const { address } = testTemporal();

let database: FreshDatabase;
let store: ReceiptStore;
let released: WorkflowBundle;
let changed: WorkflowBundle;

beforeAll(async () => {
  quiet();
  const bundle = (code: URL): Promise<WorkflowBundle> =>
    bundleWorkflowCode({
      workflowsPath: fileURLToPath(code),
      plugins: [new HealthPlugin({ store: (clusterId) => createMemoryStore({ clusterId }) })],
      logger: new DefaultLogger('ERROR'),
    });
  [released, changed, database] = await Promise.all([
    bundle(new URL('./faults/workflows.ts', import.meta.url)),
    bundle(new URL('./faults/workflows-changed.ts', import.meta.url)),
    freshDatabase(),
  ]);
  await migrate(database.url);
  const connection = await Connection.connect({ address });
  const { clusterId } = await connection.workflowService.getClusterInfo({});
  await connection.close();
  store = openPostgresStore({ url: database.url, clusterId });
});

afterAll(async () => {
  await store.close();
  await database.drop();
});

const contractOf = (owed: Pick<Parameters<typeof defineContract>[0], 'deliverables'>): DefinedContract =>
  defineContract({ workflowType: 'pays', milestones: {}, effects: { send: { due: 'at-least-once' } }, ...owed });
const early = contractOf({ deliverables: {} });
const later = contractOf({ deliverables: { report: { destination: 'file', check: fileDigest() } } });

async function startWorker(
  taskQueue: string,
  workflowBundle: WorkflowBundle,
  contract: DefinedContract,
  more: TestWorkerOptions['worker'] = {},
): Promise<RunningTestWorker> {
  const plugin = new HealthPlugin({
    contracts: [contract],
    store: (clusterId) => openPostgresStore({ url: database.url, clusterId }),
  });
  return await startTestWorker({ address, taskQueue, plugin, worker: { workflowBundle, activities, ...more } });
}

const sends = (workflowId: string): readonly string[] => sent.get(workflowId) ?? [];

/** As the command judges it, with a grace for failing workflow tasks that a test can wait for. */
const judge = (client: Client, workflowId: string) =>
  healthOf({ client, store, workflowId, policy: { ...DEFAULT_POLICY, workflowTaskAttempts: 2 } });

const command = (...args: string[]) =>
  healthHere(args, { TEMPORAL_ADDRESS: address, TEMPORAL_HEALTH_DATABASE_URL: database.url });

describe('code that was changed under an open run', { timeout: 90_000 }, () => {
  it('fails in a replay of stored histories; released all the same, it is stuck and sends nothing again until it is mended', async () => {
    const taskQueue = uniqueName('changed');
    const before = await startWorker(taskQueue, released, early);
    const { workflowId } = await before.start('pays', []);
    await expect.poll(() => sends(workflowId), { timeout: 20_000 }).toEqual(['one']);
    const run = before.client.workflow.getHandle(workflowId);
    await expect.poll(async () => (await run.describe()).raw.pendingActivities).toEqual([]);
    const stored = await run.fetchHistory();
    await before.stop();
    const replay = (workflowBundle: WorkflowBundle): Promise<void> =>
      Worker.runReplayHistory({ workflowBundle }, stored, workflowId);
    await replay(released);
    await expect(replay(changed)).rejects.toMatchObject({ name: 'DeterminismViolationError' });

    const after = await startWorker(taskQueue, changed, early);
    const same = after.client.workflow.getHandle(workflowId);
    await same.signal('go');
    await expect
      .poll(() => judge(after.client, workflowId), { timeout: 40_000 })
      .toMatchObject({ verdict: 'stuck', reason: 'workflow-task-failing' });
    expect(sends(workflowId)).toEqual(['one']);
    await after.stop();

    const mended = await startWorker(taskQueue, released, early);
    await mended.client.workflow.getHandle(workflowId).result();
    expect(sends(workflowId)).toEqual(['one', 'two']);
    expect(await judge(mended.client, workflowId)).toMatchObject({ verdict: 'healthy' });
    await mended.stop();
  });
});

describe('two versions of a worker, each with its contract', { timeout: 90_000 }, () => {
  it('each run is held to the contract it began under, whichever worker takes its tasks', async () => {
    const taskQueue = uniqueName('contracts');
    const older = await startWorker(taskQueue, released, early);
    const old = await older.start('pays', []);
    await expect.poll(() => sends(old.workflowId), { timeout: 20_000 }).toEqual(['one']);
    const newer = await startWorker(taskQueue, released, later);
    await expect.poll(() => newer.worker.getState()).toBe('RUNNING');
    const young = await newer.start('pays', []);
    await expect.poll(() => sends(young.workflowId), { timeout: 20_000 }).toEqual(['one']);
    await older.stop();
    const { client } = newer;
    for (const { workflowId } of [old, young]) {
      await client.workflow.getHandle(workflowId).signal('go');
      await client.workflow.getHandle(workflowId).result();
      expect(sends(workflowId)).toEqual(['one', 'two']);
    }
    const both = async (): Promise<unknown[]> =>
      Promise.all([old, young].map(({ workflowId }) => judge(client, workflowId)));
    const truth = [{ verdict: 'healthy' }, { verdict: 'false-success', reason: 'deliverable-missing' }];
    expect(await both()).toMatchObject(truth);
    // The older one is started again, as in a roll-back that was itself rolled back.
    const back = await startWorker(taskQueue, released, early);
    await expect.poll(() => back.worker.getState()).toBe('RUNNING');
    expect(await both()).toMatchObject(truth);
    await Promise.all([back.stop(), newer.stop()]);

    const report = await command('report', '-o', 'jsonl', '--type', 'pays');
    const rows = report.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { workflowId: string });
    const rowOf = (workflowId: string) => rows.find((row) => row.workflowId === workflowId);
    expect([rowOf(old.workflowId), rowOf(young.workflowId)]).toMatchObject(truth);
  });
});

const { Payload } = temporal.api.common.v1;
type Payloads = Parameters<PayloadCodec['encode']>[0];

/** AES-256-GCM over the whole payload; remembers what it wrote. */
class Cipher implements PayloadCodec {
  readonly written: Buffer[] = [];
  readonly #key = randomBytes(32);

  encode(payloads: Payloads): Promise<Payloads> {
    return Promise.resolve(
      payloads.map((payload) => {
        const nonce = randomBytes(12);
        const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
        const text = Buffer.concat([cipher.update(Payload.encode(payload).finish()), cipher.final()]);
        const data = Buffer.concat([nonce, cipher.getAuthTag(), text]);
        this.written.push(data);
        return { metadata: { encoding: Buffer.from('binary/encrypted') }, data };
      }),
    );
  }

  decode(payloads: Payloads): Promise<Payloads> {
    return Promise.resolve(
      payloads.map(({ data }) => {
        const bytes = Buffer.from(data ?? []);
        const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, 12));
        decipher.setAuthTag(bytes.subarray(12, 28));
        return Payload.decode(Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]));
      }),
    );
  }
}

describe('a namespace whose payloads are encrypted', { timeout: 60_000 }, () => {
  it('is judged without the key: neither what was encrypted nor its cipher text is shown anywhere', async () => {
    const cipher = new Cipher();
    const dataConverter = {
      payloadCodecs: [cipher],
      failureConverterPath: fileURLToPath(new URL('./faults/failure-converter.ts', import.meta.url)),
    };
    const worker = await startWorker(uniqueName('codec'), released, early, { dataConverter });
    onTestFinished(() => worker.stop());
    const client = new Client({ connection: worker.client.connection, dataConverter: { payloadCodecs: [cipher] } });
    const secret = 'pan-4111-1111';
    const workflowId = uniqueName('refuses');
    const { taskQueue } = worker;
    await client.workflow.start('refusesSecretly', { workflowId, taskQueue, args: [secret], memo: { pan: secret } });
    const attempt = async (): Promise<number> => {
      const { raw } = await client.workflow.getHandle(workflowId).describe();
      return raw.pendingActivities?.[0]?.attempt ?? 0;
    };
    await expect.poll(attempt, { timeout: 20_000 }).toBeGreaterThan(DEFAULT_POLICY.retry.maxAttempts);

    const query = `WorkflowId = "${workflowId}"`;
    const said = [
      await command('report', '--all', '-q', query),
      await command('report', '-o', 'jsonl', '-q', query),
      await command('explain', '-w', workflowId),
      await command('explain', '-w', workflowId, '-o', 'json'),
      await command('explain', '-w', workflowId, '--export'),
    ];
    for (const { code, stdout, stderr } of said) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(workflowId);
      const shown = cipher.written.filter((bytes) =>
        ['base64', 'hex', 'utf8', 'latin1'].some((form) =>
          stdout.includes(bytes.toString(form as BufferEncoding).slice(0, 24)),
        ),
      );
      expect(shown).toEqual([]);
      expect(stdout).not.toContain(secret);
    }
    expect(cipher.written.length).toBeGreaterThan(2);
    expect(JSON.parse(said[1]?.stdout ?? '')).toMatchObject({
      verdict: 'stuck',
      reason: 'attempts-spent',
      retry: { failureType: 'CardRefused' },
    });
  });
});
