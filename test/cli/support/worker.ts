/** A worker as a process of its own, so that a test can kill it: `node --import tsx worker.ts ADDRESS QUEUE`. */
import { fileURLToPath } from 'node:url';
import { heartbeat, sleep } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { DefaultLogger } from '@temporalio/worker';

const [address = '', taskQueue = ''] = process.argv.slice(2);

Runtime.install({ logger: new DefaultLogger('ERROR') });
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  taskQueue,
  identity: `worker-of-${taskQueue}`,
  workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)),
  activities: {
    failing: (words: string) => Promise.reject(ApplicationFailure.create({ message: words, type: 'ConnectError' })),
    holding: async () => {
      for (;;) {
        heartbeat();
        await sleep(200);
      }
    },
  },
});
process.stdout.write('ready\n');
await worker.run();
