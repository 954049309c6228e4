/**
 * Records the histories of `histories/agents/`: the reference workflows with the plugin, their activities replaced by ones
 * that only answer. `npx tsx test/replay/record-agents.ts`, once for a release; keep the old files, they are what open runs
 * look like.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { HealthPlugin } from '../../activities/plugin.ts';
import { createMemoryStore } from '../../receipts/memory-store.ts';
import { privateTemporal } from '../support/private-servers.ts';

const folder = fileURLToPath(new URL('./histories/agents/', import.meta.url));
const taskQueue = 'replay';
const SECTIONS_DONE = 3;
const temporal = await privateTemporal();
const connection = await NativeConnection.connect({ address: temporal.address });
const document = { name: 'a.md', readFrom: 'file', place: { kind: 'file', path: 'a.md' }, digest: 'd', sizeBytes: 1 };
const worker = await Worker.create({
  connection,
  taskQueue,
  identity: 'recorded-worker',
  workflowsPath: fileURLToPath(new URL('../../workflows/agents/index.ts', import.meta.url)),
  plugins: [new HealthPlugin({ store: (clusterId) => createMemoryStore({ clusterId }) })],
  shutdownForceTime: '1 second',
  activities: {
    openSourceDocument: () => Promise.resolve({ ...document, headings: 1, links: 150, sources: 150 }),
    checkSources: () => Promise.resolve({ checked: 100 }),
    writeSourceReport: () => Promise.resolve({ sources: 150 }),
    // The first sections are written, the next one is under way.
    writeSection: (section: number) => (section < SECTIONS_DONE ? Promise.resolve() : new Promise(() => undefined)),
    prepareRequest: () => Promise.resolve({ subjectDigest: `sha256:${'a'.repeat(64)}` }),
    keepDecision: () => Promise.resolve(),
    checkAndDeliver: () => Promise.resolve(),
  },
});
const clientConnection = await Connection.connect({ address: temporal.address });
const client = new Client({ connection: clientConnection, identity: 'recorder' });

function keep(workflowId: string, name: string): void {
  const show = ['workflow', 'show', '-w', workflowId, '-o', 'json', '--address', temporal.address];
  const history: unknown = JSON.parse(execFileSync(temporal.cli, show, { encoding: 'utf8' }));
  writeFileSync(`${folder}${name}.json`, `${JSON.stringify(history, null, 1)}\n`);
}

/** Until so many activities have completed, and with them the workflow task that follows. */
async function completed(workflowId: string, count: number): Promise<void> {
  for (;;) {
    const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
    const done = events?.filter((event) => event.activityTaskCompletedEventAttributes).length ?? 0;
    if (done >= count && !events?.at(-1)?.activityTaskCompletedEventAttributes) return;
  }
}

mkdirSync(folder, { recursive: true });
await worker.runUntil(async () => {
  const start = (type: string, args: unknown[]): Promise<unknown> =>
    client.workflow.start(type, { workflowId: `replay-${type}`, taskQueue, args });
  await start('sourceCheck', [{ document: 'a.md' }]);
  await client.workflow.getHandle('replay-sourceCheck').result();
  keep('replay-sourceCheck', 'sourceCheck');
  await start('healthyAgent', [{}]);
  await client.workflow.getHandle('replay-healthyAgent').result();
  keep('replay-healthyAgent', 'healthyAgent');
  await start('workingAgent', []);
  await completed('replay-workingAgent', SECTIONS_DONE);
  keep('replay-workingAgent', 'workingAgent');
  await client.workflow.getHandle('replay-workingAgent').terminate('recorded');
  const waiting = client.workflow.getHandle('replay-waitingAgent');
  await start('waitingAgent', []);
  await completed('replay-waitingAgent', 1);
  await waiting.query('__stack_trace');
  keep('replay-waitingAgent', 'waitingAgent');
  await waiting.signal('approve', { by: 'ann@example.org' });
  await waiting.result();
  keep('replay-waitingAgent', 'waitingAgent-1');
});
await clientConnection.close();
await connection.close();
await temporal.discard();
