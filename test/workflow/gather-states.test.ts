/** What Temporal says of a run in each of its states, as evidence. Real server, real worker. */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOpen } from '../../health/temporal.ts';
import { gatherRun, temporalReader } from '../../health/gather.ts';
import type { Sources } from '../../health/gather.ts';
import type { Description, EvidenceDocument } from '../../health/evidence.ts';
import { parseEvidence } from '../../health/parse.ts';
import { DEFAULT_POLICY } from '../../health/policy.ts';
import { startWorker } from '../cli/support/worker-process.ts';
import type { WorkerProcess } from '../cli/support/worker-process.ts';
import { testTemporal } from '../support/servers.ts';

const { address, namespace } = testTemporal();
const taskQueue = `states-${randomUUID()}`;
let connection: Connection;
let client: Client;
let worker: WorkerProcess;
let sources: Sources;

beforeAll(async () => {
  connection = await Connection.connect({ address });
  client = new Client({ connection });
  const temporal = temporalReader({ connection, address, deadlineMs: 10_000 });
  const clusterId = await temporal.clusterId();
  sources = { clusterId, temporal, store: null, policy: DEFAULT_POLICY, judge: null, localNowMs: Date.now };
  worker = await startWorker(address, taskQueue);
});

afterAll(async () => {
  await worker.kill();
  await connection.close();
});

async function start(workflowType: string, args: unknown[] = [], options: object = {}): Promise<string> {
  const workflowId = `${workflowType}-${randomUUID()}`;
  await client.workflow.start(workflowType, { workflowId, taskQueue, args, ...options });
  return workflowId;
}

async function gather(workflowId: string, runId?: string): Promise<EvidenceDocument> {
  const reference = { namespace, workflowId, ...(runId === undefined ? {} : { runId }) };
  const { document } = await gatherRun(reference, sources);
  // Whatever is gathered is a document that `classify` takes.
  expect(parseEvidence(JSON.parse(JSON.stringify(document)))).toEqual(document);
  return document;
}

type Described = Extract<EvidenceDocument['temporal'], { source: 'describe' }>;

function described({ temporal }: EvidenceDocument): Described {
  if (temporal.source !== 'describe') throw new Error(`not described: ${temporal.source}`);
  return temporal;
}

/** Asks until the run is as wanted; the test's own time limit ends it. */
async function until(workflowId: string, wanted: (describe: Description) => boolean): Promise<Described> {
  for (;;) {
    const found = described(await gather(workflowId));
    if (wanted(found.describe)) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const closed = (workflowId: string): Promise<Described> => until(workflowId, ({ status }) => !isOpen(status));

describe('gathering a run from a real server', () => {
  it('running: no close event, no unset time taken for a real one', async () => {
    const found = await until(await start('sleeps'), ({ pendingWorkflowTask }) => pendingWorkflowTask === null);
    expect(found.describe).toMatchObject({ status: 'RUNNING', closedAtMs: null, expiresAtMs: null, taskQueue });
    expect(found.closeEvent).toBeNull();
    expect(found.taskQueues).toEqual([]);
    expect(Math.abs(found.describe.startedAtMs - Date.now())).toBeLessThan(60_000);
  });

  it('retrying: attempt, failure type and next try, and the words only beside the document', async () => {
    const workflowId = await start('retries', ['connect ECONNREFUSED', 60_000]);
    const found = await until(
      workflowId,
      ({ pendingActivities }) => (pendingActivities[0]?.nextAttemptAtMs ?? null) !== null,
    );
    expect(found.describe.pendingActivities[0]).toMatchObject({
      activityType: 'failing',
      state: 'SCHEDULED',
      attempt: 2,
      maximumAttempts: 0,
      lastStartedAtMs: null,
      expiresAtMs: null,
      lastFailure: { type: 'ConnectError', nonRetryable: false },
      lastWorkerIdentity: `worker-of-${taskQueue}`,
      taskQueue,
      paused: null,
    });
    const { nextAttemptAtMs, lastAttemptEndedAtMs } = found.describe.pendingActivities[0] ?? {};
    expect(Math.round(((nextAttemptAtMs ?? 0) - (lastAttemptEndedAtMs ?? 0)) / 1_000)).toBe(60);
    expect(found.taskQueues).toEqual([]);
    const { document, failureTexts } = await gatherRun({ namespace, workflowId }, sources);
    expect(Object.values(failureTexts)).toEqual(['connect ECONNREFUSED']);
    expect(JSON.stringify(document)).not.toContain('ECONNREFUSED');
  });

  it('heartbeating: the time of the heartbeat and its timeout', async () => {
    const found = await until(
      await start('holds'),
      ({ pendingActivities }) => (pendingActivities[0]?.lastHeartbeatAtMs ?? null) !== null,
    );
    const [activity] = found.describe.pendingActivities;
    expect(activity).toMatchObject({ state: 'STARTED', heartbeatTimeoutMs: 20_000 });
    expect(activity?.lastHeartbeatAtMs).toBeGreaterThanOrEqual(activity?.lastStartedAtMs ?? Infinity);
  });

  it('completed', async () => {
    const workflowId = await start('ordinary');
    await client.workflow.getHandle(workflowId).signal('finish');
    const found = await closed(workflowId);
    expect(found.describe.status).toBe('COMPLETED');
    expect(found.closeEvent).toMatchObject({ status: 'COMPLETED', failure: null, successorRunId: null });
  });

  it('failed: the failure under its wrappers', async () => {
    const found = await closed(await start('failsAtOnce'));
    expect(found.closeEvent).toMatchObject({ status: 'FAILED', failure: { type: 'ConnectError' } });
  });

  it('canceled: who asked', async () => {
    const workflowId = await start('sleeps');
    await client.workflow.getHandle(workflowId).cancel();
    const found = await closed(workflowId);
    expect(found.closeEvent?.status).toBe('CANCELED');
    expect(found.closeEvent?.identity).toBe(client.options.identity);
  });

  it('terminated: who and why, as escaped text', async () => {
    const workflowId = await start('sleeps');
    await client.workflow.getHandle(workflowId).terminate('bad\u001b[31m luck');
    const found = await closed(workflowId);
    expect(found.closeEvent).toMatchObject({ status: 'TERMINATED', reason: 'bad\\x1b[31m luck' });
    expect(found.closeEvent?.identity).toBe(client.options.identity);
  });

  it('timed out', async () => {
    const found = await closed(await start('sleeps', [], { workflowRunTimeout: '1s' }));
    expect(found.closeEvent?.status).toBe('TIMED_OUT');
    expect(found.describe.expiresAtMs).toBe(found.describe.startedAtMs + 1_000);
  });

  it('continued as new: the successor, and one chain', async () => {
    const workflowId = `renews-${randomUUID()}`;
    const { firstExecutionRunId: first } = await client.workflow.start('renews', { workflowId, taskQueue, args: [] });
    for (;;) {
      const { run } = await gather(workflowId);
      if (run.runId !== first) {
        expect(run.chainId).toBe(first);
        const old = described(await gather(workflowId, first));
        expect(old.describe.status).toBe('CONTINUED_AS_NEW');
        expect(old.closeEvent?.successorRunId).toBe(run.runId);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });

  it('reset: the old run names the new one, and both are of one chain', async () => {
    const workflowId = await start('sleeps');
    await until(workflowId, ({ pendingWorkflowTask }) => pendingWorkflowTask === null);
    const before = (await gather(workflowId)).run;
    const execution = { workflowId, runId: before.runId };
    const { history } = await connection.workflowService.getWorkflowExecutionHistory({ namespace, execution });
    const finished = history?.events?.find((event) => event.workflowTaskCompletedEventAttributes)?.eventId;
    const { runId } = await connection.workflowService.resetWorkflowExecution({
      namespace,
      workflowExecution: execution,
      reason: 'test',
      workflowTaskFinishEventId: finished ?? null,
      requestId: randomUUID(),
    });
    const old = described(await gather(workflowId, before.runId));
    expect(old.describe).toMatchObject({ status: 'TERMINATED', resetRunId: runId });
    expect(old.closeEvent?.identity).toBe('history-resetter');
    const now = await gather(workflowId);
    expect(now.run).toMatchObject({ runId, chainId: before.chainId });
    expect(described(now).describe.status).toBe('RUNNING');
  });

  it('workflow paused: by whom and why', async () => {
    const workflowId = await start('sleeps');
    const { runId } = (await gather(workflowId)).run;
    await connection.workflowService.pauseWorkflowExecution({
      namespace,
      workflowId,
      runId,
      identity: 'ann',
      reason: 'maintenance',
      requestId: randomUUID(),
    });
    const found = await until(workflowId, ({ status }) => status === 'PAUSED');
    expect(found.describe.paused).toMatchObject({ by: 'ann', reason: 'maintenance' });
    expect(found.describe.paused?.sinceMs).toBeGreaterThan(0);
  });

  it('activity paused: it waits for no poller', async () => {
    const workflowId = await start('retries', ['again', 60_000]);
    await until(workflowId, ({ pendingActivities }) => (pendingActivities[0]?.nextAttemptAtMs ?? null) !== null);
    const { runId } = (await gather(workflowId)).run;
    await connection.workflowService.pauseActivity({
      namespace,
      execution: { workflowId, runId },
      id: '1',
      identity: 'ann',
      reason: 'look at it',
    });
    const found = await until(workflowId, ({ pendingActivities }) => (pendingActivities[0]?.paused ?? null) !== null);
    expect(found.describe.pendingActivities[0]?.paused).toMatchObject({ by: 'ann', reason: 'look at it' });
    expect(found.taskQueues).toEqual([]);
  });

  it('failing workflow task: its attempts', async () => {
    const found = await until(
      await start('broken'),
      ({ pendingWorkflowTask }) => (pendingWorkflowTask?.attempt ?? 0) > 1,
    );
    expect(found.describe.status).toBe('RUNNING');
    expect(found.describe.pendingActivities).toEqual([]);
  });

  it('no worker, for the workflow and for an activity: nobody polls the queue', async () => {
    const nobody = `nobody-${randomUUID()}`;
    const asleep = await start('sleeps', [], { taskQueue: nobody });
    const found = await until(asleep, ({ pendingWorkflowTask }) => pendingWorkflowTask !== null);
    expect(found.describe.pendingWorkflowTask).toMatchObject({ started: false, attempt: 1 });
    expect(found.taskQueues).toMatchObject([{ name: nobody, kind: 'workflow', lastPollAtMs: null, backlogCount: 1 }]);
    const waiting = await until(
      await start('unserved', [nobody]),
      ({ pendingActivities }) => pendingActivities.length > 0,
    );
    expect(waiting.taskQueues).toMatchObject([{ name: nobody, kind: 'activity', lastPollAtMs: null }]);
  });

  it('a served queue has a poller', async () => {
    if ('unread' in sources.temporal) throw new Error('no reader');
    const queue = await sources.temporal.taskQueue(namespace, { name: taskQueue, kind: 'workflow' });
    expect(Date.now() - (queue.lastPollAtMs ?? 0)).toBeLessThan(120_000);
  });

  it('a child and its parent: the child is named, and judged where somebody judges', async () => {
    const child = `child-${randomUUID()}`;
    const workflowId = await start('parent', [child]);
    await until(workflowId, ({ pendingChildren }) => pendingChildren.length > 0);
    expect((await gather(workflowId)).children).toEqual([
      { workflowId: child, runId: expect.any(String) as string, verdict: null, reason: null },
    ]);
    const judge = (): never => ({ verdict: 'waiting', reason: 'wait' }) as never;
    const { document } = await gatherRun({ namespace, workflowId }, { ...sources, judge });
    expect(document.children).toMatchObject([{ workflowId: child, verdict: 'waiting', reason: 'wait' }]);
  });

  it('a cron run is a chain of its own', async () => {
    const workflowId = await start('failsAtOnce', [], { cronSchedule: '@every 1s' });
    const first = (await gather(workflowId)).run;
    for (;;) {
      const { run } = await gather(workflowId);
      if (run.runId !== first.runId) {
        expect(run.chainId).toBe(run.runId);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await client.workflow.getHandle(workflowId).terminate();
  });

  it('an unknown run is not found, and a missing namespace is a mistake', async () => {
    const { document } = await gatherRun({ namespace, workflowId: `no-${randomUUID()}` }, sources);
    expect(document.temporal.source).toBe('not-found');
    await expect(gatherRun({ namespace: 'nowhere', workflowId: 'x' }, sources)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});
