/** A worker in a process of its own, to be killed. Says `ready` when it polls. */
import { setTimeout as delay } from 'node:timers/promises';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { HealthPlugin } from '../../../activities/plugin.ts';
import { openPostgresStore } from '../../../receipts/postgres/index.ts';
import { activities } from './activities.ts';

const [address = '', url = '', taskQueue = '', codePath = ''] = process.argv.slice(2);

Runtime.install({ logger: new DefaultLogger('ERROR') });
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  taskQueue,
  workflowBundle: { codePath },
  activities,
  // The next worker takes a killed one's workflow tasks over this soon.
  stickyQueueScheduleToStartTimeout: '1s',
  plugins: [new HealthPlugin({ store: (clusterId) => openPostgresStore({ clusterId, url, queryTimeoutMs: 2_000 }) })],
});
const running = worker.run();
running.catch(() => undefined);
// A store that must not be used ends the worker before it polls.
while (worker.getState() === 'INITIALIZED') await Promise.race([delay(20), running]);
process.stdout.write('ready\n');
await running;
