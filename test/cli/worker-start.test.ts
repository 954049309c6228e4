/**
 * The reference worker and a store that it must not use: it ends at once and says what to do, and never half starts. Where
 * only its log cannot be written it goes on.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { execa } from 'execa';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../receipts/postgres/index.ts';
import { freshDatabase, testTemporal } from '../support/servers.ts';
import type { FreshDatabase } from '../support/servers.ts';
import { cleanEnvironment } from './support/command.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
let folder: string;
let database: FreshDatabase;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'health-worker-'));
  database = await freshDatabase();
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await database.drop();
});

/** A worker that went on would never end: the time limit is the test's, and what it says decides. */
const taskQueue = `worker-start-${process.pid}`;
const command = ['--import', 'tsx', join(root, 'worker.ts')];
const environment = (): Record<string, string> => ({
  ...cleanEnvironment(),
  TEMPORAL_ADDRESS: testTemporal().address,
  TEMPORAL_HEALTH_TASK_QUEUE: taskQueue,
  TEMPORAL_HEALTH_OUTPUT_ROOT: folder,
});
const start = (env: Readonly<Record<string, string>>) =>
  execa(process.execPath, command, {
    cwd: root,
    env: { ...environment(), ...env },
    extendEnv: false,
    reject: false,
    timeout: 60_000,
    all: true,
  });

it('without a database: says which variable is missing', async () => {
  const ended = await start({});
  expect(ended).toMatchObject({
    exitCode: 1,
    all: expect.stringMatching(/^CONFIG_MISSING .*TEMPORAL_HEALTH_DAT/) as string,
  });
});

it('a database without the schema, and one of a later version: refused before anything is connected or bundled', async () => {
  const env = { TEMPORAL_HEALTH_DATABASE_URL: database.url };
  const missing = await start(env);
  expect(missing).toMatchObject({ exitCode: 1, timedOut: false });
  // Nothing else is said: neither the bundle was built nor a task taken.
  expect(missing.all).toMatch(/^SCHEMA_VERSION .*is missing .*Run: temporal-health migrate$/);

  await migrate(database.url);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`insert into temporal_health.migrations (name, run_on) values ('000999_later', now())`);
  await client.end();
  const newer = await start(env);
  expect(newer).toMatchObject({ exitCode: 1, timedOut: false });
  expect(newer.all).toMatch(/^SCHEMA_VERSION .*is newer .*found 999\S* Use the temporal-health that migrated it/);
});

it('with its log on a full disk and the reader of its output gone: goes on, and finishes what it is given', async () => {
  const own = await freshDatabase();
  onTestFinished(() => own.drop());
  await migrate(own.url);
  writeFileSync(join(folder, 'notes.md'), '# Notes\n');
  const env = { ...environment(), TEMPORAL_HEALTH_DATABASE_URL: own.url, TEMPORAL_HEALTH_DOCUMENT_ROOT: folder };
  const worker = spawn(process.execPath, command, {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', openSync('/dev/full', 'w')],
  });
  const gone = once(worker, 'exit');
  onTestFinished(() => void worker.kill('SIGKILL'));
  const { stdout } = worker;
  if (stdout === null) throw new Error('no pipe');
  await Promise.race([once(stdout, 'data'), gone]);
  stdout.destroy();
  const connection = await Connection.connect({ address: testTemporal().address });
  onTestFinished(() => connection.close());
  const workflowId = `unlogged-${process.pid}`;
  const args = [{ document: 'notes.md' }];
  const result = new Client({ connection }).workflow.execute('sourceCheck', { workflowId, taskQueue, args });
  expect(await Promise.race([result, gone])).toMatchObject({ sources: 0 });
  worker.kill('SIGTERM');
  expect(await gone).toEqual([0, null]);
});
