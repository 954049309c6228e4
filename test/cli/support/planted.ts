/**
 * A Temporal server and a database with one run for each verdict and one that nobody instrumented; the only worker is killed
 * before anybody looks.
 */
import { Client, Connection } from '@temporalio/client';
import { v7 } from 'uuid';
import { expect } from 'vitest';
import { defineContract } from '../../../receipts/contract.ts';
import { fileDigest } from '../../../receipts/checks/index.ts';
import type { Receipt } from '../../../receipts/envelope.ts';
import { migrate, openPostgresStore } from '../../../receipts/postgres/index.ts';
import type { ReceiptBodies, ReceiptKind } from '../../../receipts/receipt.ts';
import type { ReceiptStore } from '../../../receipts/store.ts';
import { startWorker } from './worker-process.ts';

export const SIX = {
  'run-working': 'working',
  'run-waiting': 'waiting',
  'run-stuck': 'stuck',
  'run-uncertain': 'uncertain',
  'run-false': 'false-success',
  'run-healthy': 'healthy',
};

const MINUTE_MS = 60_000;
const DIGEST = `sha256:${'a'.repeat(64)}` as const;

const contract = defineContract({
  workflowType: 'ordinary',
  milestones: { pages: { fresh: '10m' } },
  effects: { charge: {} },
  deliverables: { report: { destination: 'file', check: fileDigest() } },
});

export interface Place {
  readonly emitter?: string;
  readonly fence?: number;
  readonly sequence?: number;
  readonly receiptId?: string;
}

export interface Planted {
  readonly store: ReceiptStore;
  readonly connection: Connection;
  readonly client: Client;
  /** Starts a run on a queue that nobody serves any more; answers its run id. */
  start(workflowId: string, type?: string): Promise<string>;
  /** Sends one receipt and answers what became of it. */
  emit<K extends ReceiptKind>(
    runId: string,
    workflowId: string,
    kind: K,
    body: ReceiptBodies[K],
    occurredAtMs: number,
    place?: Place,
  ): Promise<string>;
  close(): Promise<void>;
}

/** Migrates the database, and plants nothing yet. */
export async function openPlanted(address: string, databaseUrl: string): Promise<Planted> {
  await migrate(databaseUrl);
  const connection = await Connection.connect({ address });
  const { clusterId } = await connection.workflowService.getClusterInfo({});
  const store = openPostgresStore({ url: databaseUrl, clusterId });
  await store.registerContracts('default', [contract.contract]);
  const client = new Client({ connection });
  return {
    store,
    connection,
    client,
    async start(workflowId, type = 'ordinary') {
      const handle = await client.workflow.start(type, { workflowId, taskQueue: 'work' });
      return handle.firstExecutionRunId;
    },
    async emit(runId, workflowId, kind, body, occurredAtMs, place = {}) {
      const receipt = {
        schemaVersion: 1,
        receiptId: place.receiptId ?? v7(),
        kind,
        clusterId,
        namespace: 'default',
        workflowId,
        runId,
        chainId: runId,
        workflowType: 'ordinary',
        runStartedAtMs: occurredAtMs - 1_000,
        emitter: place.emitter ?? 'a1',
        fence: place.fence ?? occurredAtMs,
        attempt: 1,
        sequence: place.sequence ?? 1,
        missionFingerprint: null,
        occurredAtMs,
        body,
      } as unknown as Receipt;
      const [result] = await store.emit([receipt]);
      return result?.outcome ?? 'nothing';
    },
    async close() {
      await store.close();
      await connection.close();
    },
  };
}

/** One run for each verdict of `SIX`, and `run-bare`; then the only worker is killed. */
export async function plantSix(planted: Planted, address: string): Promise<void> {
  const { client, connection } = planted;
  const start = (workflowId: string, type?: string) => planted.start(workflowId, type);
  const worker = await startWorker(address, 'work');
  const emit: Planted['emit'] = async (...args) => {
    const outcome = await planted.emit(...args);
    expect(outcome).toBe('stored');
    return outcome;
  };
  const finished = async (workflowId: string): Promise<void> => {
    await client.workflow.getHandle(workflowId).signal('finish');
    await client.workflow.getHandle(workflowId).result();
  };
  const now = Date.now();
  const pages = { milestone: 'pages', digest: 'p1' };
  await emit(await start('run-working'), 'run-working', 'progress', pages, now);
  await emit(await start('run-stuck'), 'run-stuck', 'progress', pages, now - 31 * MINUTE_MS);
  const wait = {
    ...{ name: 'approve-refund', owner: 'finance-oncall', deadlineMs: now + 120 * MINUTE_MS },
    ...({ resumeToken: 'wt-1', resumeBy: 'approval', state: 'open' } as const),
  };
  await emit(await start('run-waiting'), 'run-waiting', 'wait', wait, now);
  const charge = { operationId: 'pi_88/charge', name: 'charge', state: 'attempted', inputDigest: DIGEST } as const;
  await emit(await start('run-uncertain'), 'run-uncertain', 'effect', charge, now - 14 * MINUTE_MS);
  await emit(await start('run-healthy'), 'run-healthy', 'deliverable', passingReport, now);
  await emit(await start('run-false'), 'run-false', 'progress', pages, now);
  await Promise.all([finished('run-healthy'), finished('run-false'), start('run-bare', 'sleeps')]);
  await worker.kill();
  for (;;) {
    const count = async (query: string): Promise<number> =>
      Number((await connection.workflowService.countWorkflowExecutions({ namespace: 'default', query })).count);
    if ((await count('ExecutionStatus = "Completed"')) === 2 && (await count('')) === 7) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export const passingReport: ReceiptBodies['deliverable'] = {
  name: 'report',
  destination: 'file',
  check: 'file-digest',
  result: 'pass',
  subject: { digest: DIGEST, sizeBytes: 9 },
};
