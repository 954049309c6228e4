/** A worker with the plugin on the shared Temporal, on a task queue of its own, for as long as a test needs it. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { WorkerOptions, WorkflowBundle } from '@temporalio/worker';
import type { HealthPlugin } from '../../../activities/plugin.ts';
import { defineContract } from '../../../receipts/contract.ts';
import type { DefinedContract } from '../../../receipts/contract.ts';
import { activities } from './activities.ts';

export const workflowsPath = fileURLToPath(new URL('./workflows.ts', import.meta.url));

/** Everything a test's log would say is noise unless the test asks for it. */
export function quiet(): void {
  Runtime.install({ logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} } });
}

const reportCheck = {
  name: 'always-there',
  options: {},
  run: () => Promise.resolve({ result: 'pass' as const, subject: { sizeBytes: 10 } }),
};

export const contractOf = (workflowType: string, more: object = {}): DefinedContract =>
  defineContract({
    workflowType,
    milestones: { steps: { fresh: '10m' } },
    effects: { charge: { due: 'any', levels: ['settled'] } },
    deliverables: { report: { destination: 'file', check: reportCheck } },
    ...more,
  });

export const uniqueName = (name: string): string => `${name}-${randomBytes(4).toString('hex')}`;

/** The plugin given to a bundle, as a program with a prebuilt bundle does; built once for a test file. */
export async function bundleWith(plugin: HealthPlugin | null): Promise<WorkflowBundle> {
  return bundleWorkflowCode({
    workflowsPath,
    plugins: plugin === null ? [] : [plugin],
    logger: new DefaultLogger('ERROR'),
  });
}

export interface RunningTestWorker {
  readonly client: Client;
  readonly taskQueue: string;
  readonly worker: Worker;
  /** Settles when the worker has stopped, with what ended it. */
  readonly running: Promise<void>;
  stop(): Promise<void>;
  readonly start: (
    workflowType: string,
    args: unknown[],
    options?: object,
  ) => Promise<WorkflowHandleWithFirstExecutionRunId>;
}

export interface TestWorkerOptions {
  readonly address: string;
  readonly plugin?: HealthPlugin;
  readonly worker?: Partial<WorkerOptions>;
  /** Gives the plugin to the connection, too. */
  readonly onConnection?: boolean;
  readonly taskQueue?: string;
}

export async function startTestWorker(options: TestWorkerOptions): Promise<RunningTestWorker> {
  const { address, plugin } = options;
  const plugins = plugin === undefined ? [] : [plugin];
  const connection = await NativeConnection.connect({
    address,
    ...(options.onConnection === true ? { plugins } : {}),
  });
  const taskQueue = options.taskQueue ?? uniqueName('queue');
  const worker = await Worker.create({
    connection,
    namespace: 'default',
    taskQueue,
    activities,
    ...('workflowBundle' in (options.worker ?? {}) ? {} : { workflowsPath }),
    plugins,
    ...options.worker,
  });
  const running = worker.run();
  // A worker that fails to start must fail the test and not the process.
  running.catch(() => undefined);
  const clientConnection = await Connection.connect({ address });
  const client = new Client({ connection: clientConnection });
  return {
    client,
    taskQueue,
    worker,
    running,
    start: (workflowType, args, more = {}) =>
      client.workflow.start(workflowType, { workflowId: uniqueName(workflowType), taskQueue, args, ...more }),
    async stop() {
      // A worker that is still opening its store cannot be told to stop yet.
      await Promise.race([running.catch(() => undefined), untilRunning(worker)]);
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await running.finally(async () => {
        await clientConnection.close();
        await connection.close();
      });
    },
  };
}

async function untilRunning(worker: Worker): Promise<void> {
  while (worker.getState() === 'INITIALIZED') await delay(20);
}
