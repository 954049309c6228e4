/** A place for the reference worker in a test: its own database, folders and task queue on the servers of the run. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { startSideWorker } from '../../bin/dev/demo/children.ts';
import type { SideWorker } from '../../bin/dev/demo/children.ts';
import { openJudge } from '../../bin/dev/demo/judging.ts';
import type { RunJudge } from '../../bin/dev/demo/judging.ts';
import { migrate } from '../../receipts/postgres/index.ts';
import { freshDatabase, testTemporal } from '../support/servers.ts';

export interface AgentsPlace {
  readonly client: Client;
  readonly taskQueue: string;
  readonly env: NodeJS.ProcessEnv;
  readonly documentRoot: string;
  readonly outputRoot: string;
  readonly judge: RunJudge;
  /** Starts the reference worker as a process of its own. */
  startWorker(more?: NodeJS.ProcessEnv): Promise<SideWorker>;
  readOutput(name: string): string;
  close(): Promise<void>;
}

export async function agentsPlace(name: string): Promise<AgentsPlace> {
  const { address, namespace } = testTemporal();
  const database = await freshDatabase();
  await migrate(database.url);
  const folder = mkdtempSync(join(tmpdir(), `temporal-health-${name}-`));
  const documentRoot = mkdtempSync(join(folder, 'documents-'));
  const outputRoot = mkdtempSync(join(folder, 'output-'));
  const connection = await Connection.connect({ address });
  const judge = await openJudge({ address, namespace, databaseUrl: database.url });
  const taskQueue = `${name}-${randomBytes(4).toString('hex')}`;
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    TEMPORAL_HEALTH_DATABASE_URL: database.url,
    TEMPORAL_HEALTH_TASK_QUEUE: taskQueue,
    TEMPORAL_HEALTH_DOCUMENT_ROOT: documentRoot,
    TEMPORAL_HEALTH_OUTPUT_ROOT: outputRoot,
  };
  let workers = 0;
  return {
    client: new Client({ connection, namespace }),
    ...{ taskQueue, env, documentRoot, outputRoot, judge },
    startWorker: (more = {}) => startSideWorker({ ...env, ...more }, join(folder, `worker-${(workers += 1)}.log`)),
    readOutput: (file) => readFileSync(join(outputRoot, file), 'utf8'),
    async close() {
      await judge.close();
      await connection.close();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
