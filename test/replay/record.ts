/**
 * Records the histories of `histories/` with a worker that has no plugin: `npx tsx test/replay/record.ts`. Run it once for
 * a release of the SDK that is to be supported, and keep the old files: they are what open runs look like.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { privateTemporal } from '../support/private-servers.ts';

const folder = fileURLToPath(new URL('./histories/', import.meta.url));
const root = fileURLToPath(new URL('../../', import.meta.url));
const taskQueue = 'replay';
const temporal = await privateTemporal();

async function record(
  client: Client,
  name: string,
  args: unknown[],
  during: (handle: WorkflowHandle) => Promise<void>,
) {
  const workflowId = `replay-${name}`;
  const handle = await client.workflow.start(name, { workflowId, taskQueue, args });
  await during(handle);
  // Each run of a chain is a history of its own: the first and the last.
  const runs = new Set([handle.firstExecutionRunId, (await client.workflow.getHandle(workflowId).describe()).runId]);
  let index = 0;
  for (const runId of runs) {
    const show = ['workflow', 'show', '-w', workflowId, '-r', runId, '-o', 'json', '--address', temporal.address];
    const history: unknown = JSON.parse(execFileSync(temporal.cli, show, { encoding: 'utf8' }));
    const file = `${name}${index === 0 ? '' : `-${index}`}.json`;
    // Stack traces name the files of the machine that recorded them; where it kept its checkout is nobody's business.
    writeFileSync(`${folder}${file}`, `${JSON.stringify(history, null, 1).replaceAll(root, '')}\n`);
    index += 1;
  }
}

const connection = await NativeConnection.connect({ address: temporal.address });
const worker = await Worker.create({
  connection,
  taskQueue,
  identity: 'bare-worker',
  workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)),
  activities: {
    work: (step: string) => Promise.resolve(`done ${step}`),
    fail: () => Promise.reject(ApplicationFailure.retryable('on purpose')),
  },
});
mkdirSync(folder, { recursive: true });
await worker.runUntil(async () => {
  const clientConnection = await Connection.connect({ address: temporal.address });
  const client = new Client({ connection: clientConnection, identity: 'recorder' });
  const toTheEnd = async (handle: WorkflowHandle): Promise<void> => {
    await handle.result().catch(() => undefined);
  };
  await record(client, 'randomIds', [], toTheEnd);
  await record(client, 'parallelAndPatched', [], toTheEnd);
  await record(client, 'continued', [2], toTheEnd);
  await record(client, 'failing', [], toTheEnd);
  await record(client, 'answers', [], async (handle) => {
    await handle.executeUpdate('add', { args: [2] });
    await handle.query('count');
    await handle.signal('go');
    await toTheEnd(handle);
  });
  await record(client, 'cancelledInTheMiddle', [], async (handle) => {
    await handle.query('__stack_trace');
    await handle.cancel();
    await toTheEnd(handle);
  });
  await record(client, 'stillOpen', [], async (handle) => {
    let isDone = false;
    while (!isDone) {
      const { events } = await handle.fetchHistory();
      isDone = events?.some((event) => Boolean(event.activityTaskCompletedEventAttributes)) === true;
    }
    await handle.query('__stack_trace');
  });
  await clientConnection.close();
});
await connection.close();
await temporal.discard();
