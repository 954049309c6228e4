/**
 * A heartbeat that comes from a timer says that a process lives, not that anything is done: it must not hide a call that
 * hangs. Real server, and a remote service in a process of its own.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HealthPlugin } from '../../activities/plugin.ts';
import { DEFAULT_POLICY } from '../../health/policy.ts';
import { healthOf, memoryStore } from '../../health/testing/index.ts';
import type { Judgement } from '../../health/judgement.ts';
import { defineContract } from '../../receipts/contract.ts';
import type { ReceiptStore } from '../../receipts/store.ts';
import { testTemporal } from '../support/servers.ts';
import { activities } from './heartbeats/activities.ts';
import { quiet, startTestWorker } from './plugin/worker.ts';
import type { RunningTestWorker } from './plugin/worker.ts';

const FRESH_MS = 4_000;
/** Two heartbeats at least: what hangs has had time to look alive. */
const policy = { ...DEFAULT_POLICY, milestoneFreshMs: FRESH_MS, startupGraceMs: FRESH_MS };

let store: ReceiptStore;
let test: RunningTestWorker;
const remotes: ChildProcess[] = [];

beforeAll(async () => {
  quiet();
  const conversation = defineContract({ workflowType: 'converses', milestones: { turns: { fresh: FRESH_MS } } });
  const plugin = new HealthPlugin({
    store: (clusterId) => (store = memoryStore({ clusterId })),
    contracts: [conversation],
  });
  const workflowsPath = fileURLToPath(new URL('./heartbeats/workflows.ts', import.meta.url));
  const address = testTemporal().address;
  test = await startTestWorker({ address, plugin, worker: { workflowsPath, activities } });
});

afterAll(async () => {
  await test.stop();
  for (const remote of remotes) remote.kill('SIGKILL');
});

/** Starts a service that answers so many questions of each connection, and gives its port. */
async function startRemote(answers: number): Promise<number> {
  const program = fileURLToPath(new URL('./heartbeats/remote.ts', import.meta.url));
  const remote = spawn(process.execPath, ['--import', 'tsx', program, String(answers)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  remotes.push(remote);
  const [port] = (await once(remote.stdout, 'data')) as [Buffer];
  return Number(port.toString());
}

type Handle = WorkflowHandleWithFirstExecutionRunId;

const health = ({ workflowId }: Handle): Promise<Judgement> =>
  healthOf({ client: test.client, store, workflowId, policy });

const factOf = ({ decisive }: Judgement, field: string): number =>
  Number(decisive.find((fact) => fact.field === field)?.value);

async function activityOf(handle: Handle): Promise<{ attempt: number | null | undefined; beatAtMs: number }> {
  const { raw } = await handle.describe();
  const { attempt, lastHeartbeatTime } = raw.pendingActivities?.[0] ?? {};
  return { attempt, beatAtMs: Number(lastHeartbeatTime?.seconds ?? 0) * 1_000 };
}

async function end(handle: Handle): Promise<void> {
  await handle.cancel();
  await handle.result().catch(() => undefined);
}

describe.each(['askAdaptively', 'askAutomatically'])('%s', (way) => {
  it('a call that hangs after some turns is stuck, however fresh its heartbeat', async () => {
    const handle = await test.start('converses', [way, await startRemote(3)]);
    await expect.poll(async () => (await health(handle)).verdict, { timeout: 40_000 }).toBe('stuck');
    const judgement = await health(handle);
    expect(judgement).toMatchObject({ verdict: 'stuck', reason: 'milestone-stale' });
    // It beat after its last milestone, and lately: nothing but the milestone told.
    expect(factOf(judgement, 'lastHeartbeatAtMs')).toBeGreaterThan(factOf(judgement, 'changedAtMs'));
    // And it goes on beating for as long as it hangs, in its first attempt: Temporal sees nothing wrong.
    const { beatAtMs } = await activityOf(handle);
    await expect.poll(async () => (await activityOf(handle)).beatAtMs, { timeout: 20_000 }).toBeGreaterThan(beatAtMs);
    expect((await activityOf(handle)).attempt).toBe(1);
    expect(await health(handle)).toMatchObject({ verdict: 'stuck', reason: 'milestone-stale' });
    await end(handle);
  });

  it('a call that hangs before its first turn is silent', async () => {
    const handle = await test.start('converses', [way, await startRemote(0)]);
    await expect.poll(async () => (await health(handle)).verdict, { timeout: 40_000 }).toBe('stuck');
    const judgement = await health(handle);
    expect(judgement).toMatchObject({ reason: 'silent' });
    expect(factOf(judgement, 'lastHeartbeatAtMs')).toBeGreaterThan(0);
    await end(handle);
  });

  it('one whose turns are answered is working, also long after its first milestone went stale', async () => {
    const handle = await test.start('converses', [way, await startRemote(Infinity)]);
    await expect.poll(async () => (await health(handle)).reason, { timeout: 40_000 }).toBe('milestone-fresh');
    const first = factOf(await health(handle), 'changedAtMs');
    await expect
      .poll(async () => factOf(await health(handle), 'changedAtMs'), { timeout: 40_000 })
      .toBeGreaterThan(first + FRESH_MS);
    expect(await health(handle)).toMatchObject({ verdict: 'working', reason: 'milestone-fresh' });
    await end(handle);
  });
});
