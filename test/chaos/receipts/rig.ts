/** A worker process with what it said, and the check that nothing it was told is stored has gone. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { expect } from 'vitest';
import { HealthPlugin } from '../../../activities/plugin.ts';
import { createMemoryStore } from '../../../receipts/memory-store.ts';
import { openPostgresStore } from '../../../receipts/postgres/index.ts';
import type { OutageGap, ReceiptStore } from '../../../receipts/store.ts';
import { serverFolder } from '../../support/private-servers.ts';

const workflowsPath = fileURLToPath(new URL('./workflows.ts', import.meta.url));
const workerPath = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** The bundle as a file, so that a killed worker is back within a second. */
export async function writeBundle(): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    plugins: [new HealthPlugin({ store: (clusterId) => createMemoryStore({ clusterId }) })],
    logger: new DefaultLogger('ERROR'),
  });
  const path = join(serverFolder('bundle'), 'bundle.js');
  writeFileSync(path, code);
  return path;
}

export interface Acknowledgements {
  /** Receipt ids by workflow id. */
  readonly receipts: Map<string, Set<string>>;
  /** Attempts whose body began, by workflow id. */
  readonly bodies: Map<string, number[]>;
  /** Resolves at the next line that the predicate takes. */
  next(takes: (line: string) => boolean): Promise<void>;
  count(): number;
}

export interface WorkerProcess {
  kill(): Promise<void>;
  /** In order: SIGTERM, which flushes and closes the store. */
  stop(): Promise<void>;
}

export interface Rig {
  readonly said: Acknowledgements;
  readonly client: Client;
  startWorker(): Promise<WorkerProcess>;
  start(rounds: number, pauseMs: number): Promise<WorkflowHandleWithFirstExecutionRunId>;
  /** Every acknowledged receipt of these runs is in the store, and no hole is left in their order. */
  expectNothingLost(handles: readonly WorkflowHandleWithFirstExecutionRunId[]): Promise<void>;
  gaps(): Promise<readonly OutageGap[]>;
  close(): Promise<void>;
}

export async function openRig(address: string, url: string, bundle: string, name: string): Promise<Rig> {
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  const taskQueue = `${name}-${process.pid}-${Date.now()}`;
  const { clusterId } = await connection.workflowService.getClusterInfo({});
  const store = openPostgresStore({ url, clusterId });
  const said = acknowledgements();
  const children = new Set<ChildProcess>();
  let runs = 0;
  return {
    said: said.view,
    client,
    startWorker: () => startWorker([address, url, taskQueue, bundle], said.take, children),
    start(rounds, pauseMs) {
      const workflowId = `${taskQueue}-${++runs}`;
      return client.workflow.start('speaks', { workflowId, taskQueue, args: [rounds, pauseMs] });
    },
    async expectNothingLost(handles) {
      for (const handle of handles) await expectWhole(store, handle, said.view.receipts.get(handle.workflowId));
    },
    gaps: () => store.readGaps('default', 0),
    async close() {
      for (const child of children) child.kill('SIGKILL');
      await store.close();
      await connection.close();
    },
  };
}

async function expectWhole(
  store: ReceiptStore,
  { workflowId, firstExecutionRunId: chainId }: WorkflowHandleWithFirstExecutionRunId,
  acknowledged = new Set<string>(),
): Promise<void> {
  const chain = { namespace: 'default', workflowId, chainId };
  const stored = new Set((await store.readReceipts(chain, 10_000)).map(({ receiptId }) => receiptId));
  expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
  expect(acknowledged.size).toBeGreaterThan(0);
  const row = await store.readChain({ namespace: 'default', workflowId });
  expect(row?.state.emitterGaps).toEqual({});
  expect(Object.values(row?.state.missions ?? {})).toMatchObject([{ waits: {} }]);
}

function acknowledgements(): { view: Acknowledgements; take: (line: string) => void } {
  const receipts = new Map<string, Set<string>>();
  const bodies = new Map<string, number[]>();
  const listeners = new Set<(line: string) => void>();
  let count = 0;
  return {
    take(line) {
      const [word, workflowId = '', value = ''] = line.split(' ');
      if (word === 'ack') {
        count += 1;
        receipts.set(workflowId, (receipts.get(workflowId) ?? new Set()).add(value));
      }
      if (word === 'body') bodies.set(workflowId, [...(bodies.get(workflowId) ?? []), Number(value)]);
      for (const listen of [...listeners]) listen(line);
    },
    view: {
      receipts,
      bodies,
      count: () => count,
      next: (takes) =>
        new Promise((resolve) => {
          const listen = (line: string): void => {
            if (!takes(line)) return;
            listeners.delete(listen);
            resolve();
          };
          listeners.add(listen);
        }),
    },
  };
}

async function startWorker(
  args: readonly string[],
  take: (line: string) => void,
  children: Set<ChildProcess>,
): Promise<WorkerProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', workerPath, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  const exit = once(child, 'exit');
  const ready = new Promise<void>((resolve, reject) => {
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => {
      if (line === 'ready') resolve();
      else take(line);
    });
    void exit.then(() => {
      reject(new Error('the worker process ended before it was ready'));
    });
  });
  await ready;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exit;
    children.delete(child);
  };
  return { kill: () => end('SIGKILL'), stop: () => end('SIGTERM') };
}
