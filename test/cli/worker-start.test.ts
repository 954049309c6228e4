/** The reference worker and a store that it must not use: it ends at once and says what to do, and never half starts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
const start = (env: Readonly<Record<string, string>>) =>
  execa(process.execPath, ['--import', 'tsx', join(root, 'worker.ts')], {
    cwd: root,
    env: {
      ...cleanEnvironment(),
      TEMPORAL_ADDRESS: testTemporal().address,
      TEMPORAL_HEALTH_TASK_QUEUE: `worker-start-${process.pid}`,
      TEMPORAL_HEALTH_OUTPUT_ROOT: folder,
      ...env,
    },
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
