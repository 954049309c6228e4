/** Nothing acknowledged is lost when the worker, Postgres or Temporal is killed with SIGKILL, or Postgres hangs. */
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { childrenOf, signal } from '../../bin/dev/processes.ts';
import { migrate, openPostgresStore } from '../../receipts/postgres/index.ts';
import { freshDatabase, privatePostgres, privateTemporal, testTemporal } from '../support/servers.ts';
import { openRig, writeBundle } from './receipts/rig.ts';
import type { Rig } from './receipts/rig.ts';

const KILLS = 3;
let bundle: string;

beforeAll(async () => {
  bundle = await writeBundle();
});

async function rigOn(address: string, url: string, name: string): Promise<Rig> {
  await migrate(url);
  const rig = await openRig(address, url, bundle, name);
  onTestFinished(() => rig.close());
  return rig;
}

const isAck = (line: string): boolean => line.startsWith('ack');

describe('SIGKILL', { timeout: 180_000 }, () => {
  it('of the worker in the middle of an activity: what it was told is stored is there, and the run finishes', async () => {
    const database = await freshDatabase();
    onTestFinished(() => database.drop());
    const rig = await rigOn(testTemporal().address, database.url, 'kill-worker');
    let worker = await rig.startWorker();
    const handles = [await rig.start(40, 20), await rig.start(40, 20)];
    for (let kill = 0; kill < KILLS; kill++) {
      await rig.said.next(isAck);
      await rig.said.next(isAck);
      await worker.kill();
      worker = await rig.startWorker();
    }
    for (const handle of handles) expect(await handle.result()).toBeGreaterThan(1);
    await worker.stop();
    await rig.expectNothingLost(handles);
  });

  it('of Postgres with all its backends: nothing acknowledged is lost, no body runs twice', async () => {
    const postgres = await privatePostgres();
    onTestFinished(() => postgres.discard());
    const rig = await rigOn(testTemporal().address, postgres.url, 'kill-postgres');
    const worker = await rig.startWorker();
    const handles = [await rig.start(30, 50), await rig.start(30, 50)];
    for (let kill = 0; kill < KILLS; kill++) {
      await rig.said.next(isAck);
      await postgres.kill();
      await postgres.restart();
    }
    for (const handle of handles) expect(await handle.result()).toBe(1);
    for (const handle of handles) expect(rig.said.bodies.get(handle.workflowId)).toEqual([1]);
    await worker.stop();
    await rig.expectNothingLost(handles);
    expect((await rig.gaps()).length).toBeGreaterThan(0);
  });

  it('of Temporal, on its file database: nothing acknowledged is lost, and the runs go on', async () => {
    const temporal = await privateTemporal();
    onTestFinished(() => temporal.discard());
    const database = await freshDatabase();
    onTestFinished(() => database.drop());
    const rig = await rigOn(temporal.address, database.url, 'kill-temporal');
    const worker = await rig.startWorker();
    const handles = [await rig.start(40, 50), await rig.start(40, 50)];
    for (let kill = 0; kill < KILLS; kill++) {
      await rig.said.next(isAck);
      await temporal.kill();
      await temporal.restart();
    }
    for (const handle of handles) expect(await handle.result()).toBeGreaterThanOrEqual(1);
    await worker.stop();
    await rig.expectNothingLost(handles);
  });
});

describe('SIGSTOP', { timeout: 120_000 }, () => {
  it('of Postgres with all its backends: the activities keep beating, nothing is lost or doubled when it goes on', async () => {
    const postgres = await privatePostgres();
    onTestFinished(() => postgres.discard());
    const rig = await rigOn(testTemporal().address, postgres.url, 'hang-postgres');
    const worker = await rig.startWorker();
    const handles = [await rig.start(20, 20), await rig.start(20, 20)];
    await rig.said.next(isAck);
    const family = [postgres.pid(), ...childrenOf(postgres.pid())];
    for (const pid of family) signal(pid, 'SIGSTOP');
    try {
      // Longer than an activity may go without a heartbeat.
      const asking = openPostgresStore({ url: postgres.url, clusterId: 'none', queryTimeoutMs: 4_000 });
      onTestFinished(() => asking.close());
      await expect(asking.readGaps('default', 0)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    } finally {
      for (const pid of family) signal(pid, 'SIGCONT');
    }
    for (const handle of handles) expect(await handle.result()).toBe(1);
    for (const handle of handles) expect(rig.said.bodies.get(handle.workflowId)).toEqual([1]);
    await worker.stop();
    await rig.expectNothingLost(handles);
    expect((await rig.gaps()).length).toBeGreaterThan(0);
  });
});
