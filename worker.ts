/**
 * The reference worker: composes configuration, store, plugin, workflows and activities, and decides nothing.
 *
 * Temporal is found as the Temporal CLI finds it (TEMPORAL_* and its configuration file). Of ours:
 *   TEMPORAL_HEALTH_DATABASE_URL    the store; needed
 *   TEMPORAL_HEALTH_TASK_QUEUE      `temporal-health` where absent
 *   TEMPORAL_HEALTH_DOCUMENT_ROOT, TEMPORAL_HEALTH_OUTPUT_ROOT, TEMPORAL_HEALTH_ALLOWED_HOSTS
 *                                   see activities/agents/settings.ts
 *
 * Says `worker ready` on stdout when it takes work. SIGTERM and SIGINT let it finish what it can within seconds.
 */
import { extname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { agentSettings } from './activities/agents/settings.ts';
import { sixCasesActivities } from './activities/agents/six-cases/activities.ts';
import { sixCasesContracts } from './activities/agents/six-cases/contracts.ts';
import { sourceCheckActivities } from './activities/agents/source-check/activities.ts';
import { sourceCheckContract } from './activities/agents/source-check/contract.ts';
import { HealthPlugin } from './activities/plugin.ts';
import { OUTPUT_ROOT_VARIABLE } from './receipts/checks/options.ts';
import { HealthError, isHealthError } from './receipts/errors.ts';
import { openPostgresStore } from './receipts/postgres/index.ts';

async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const url = env['TEMPORAL_HEALTH_DATABASE_URL'];
  if (url === undefined || url === '') {
    throw new HealthError('CONFIG_MISSING', 'TEMPORAL_HEALTH_DATABASE_URL is not set: receipts would go nowhere.', {
      field: 'TEMPORAL_HEALTH_DATABASE_URL',
      hint: 'Set it to a PostgreSQL address and run "temporal-health migrate" once, or use ./temporal-dev.sh.',
    });
  }
  await refuseUnfitStore(url);
  const settings = agentSettings(env, process.cwd());
  // The checks look below the same root as the activities write to.
  env[OUTPUT_ROOT_VARIABLE] = settings.outputRoot;
  Runtime.install({ logger: new DefaultLogger('INFO') });
  const { namespace = 'default', connectionOptions } = loadClientConnectConfig({});
  const connection = await NativeConnection.connect(connectionOptions);
  try {
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue: env['TEMPORAL_HEALTH_TASK_QUEUE'] || 'temporal-health',
      workflowsPath: fileURLToPath(new URL(`./workflows/agents/index${extname(import.meta.url)}`, import.meta.url)),
      activities: { ...sourceCheckActivities(settings), ...sixCasesActivities(settings.outputRoot) },
      plugins: [
        new HealthPlugin({
          store: (clusterId) => openPostgresStore({ clusterId, url }),
          contracts: [sourceCheckContract, ...sixCasesContracts],
        }),
      ],
      shutdownGraceTime: '1 second',
      shutdownForceTime: '10 seconds',
    });
    const running = worker.run();
    await Promise.all([running, sayReady(worker, running)]);
  } finally {
    // A worker that never ran still holds its connection: then closing fails, and why it never ran is what matters.
    await connection.close().catch(() => undefined);
  }
}

/**
 * What only the operator can mend (schema, settings, address) is said before anything is connected or bundled. A store that
 * is away is no reason: the worker starts without it.
 * @throws HealthError SCHEMA_VERSION, STORE_SETTINGS, CONFIG_MISSING
 */
async function refuseUnfitStore(url: string): Promise<void> {
  const store = openPostgresStore({ clusterId: 'not asked yet', url, poolSize: 1, queryTimeoutMs: 5_000 });
  try {
    // First contact: any read makes it.
    await store.readGaps('default', store.nowMs());
  } catch (error) {
    if (!isHealthError(error) || error.code !== 'STORE_UNAVAILABLE') throw error;
  } finally {
    await store.close();
  }
}

/** The store is opened before the first poll: only then is there anything to say. */
async function sayReady(worker: Worker, running: Promise<void>): Promise<void> {
  const failed = running.then(
    () => true,
    () => true,
  );
  while (worker.getState() === 'INITIALIZED' && !(await Promise.race([failed, delay(50, false)])));
  if (worker.getState() === 'RUNNING') process.stdout.write('worker ready\n');
}

/** A full disk or a log reader that went away costs log lines, never the worker: it may hold activities. */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

try {
  await main(process.env);
} catch (error) {
  const { code = 'WORKER_FAILED', message, hint = '' } = error as Partial<HealthError> & Error;
  process.stderr.write(`${code} ${message} ${hint}\n`);
  process.exit(1); // What is left of a worker that never ran would keep the process alive.
}
