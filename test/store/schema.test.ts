import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { migrate, openPostgresStore, schemaStatus } from '../../receipts/postgres/index.ts';
import { readMigrationFiles, SQL_FOLDER } from '../../receipts/postgres/schema-version.ts';
import type { ReceiptStore } from '../../receipts/store.ts';
import { freshDatabase } from '../support/servers.ts';
import type { FreshDatabase } from '../support/servers.ts';
import { Emitter, someRun } from './given-receipts.ts';
import { dumpSchema } from './schema-dump.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const names = readMigrationFiles().map(({ name }) => name);
const newest = readMigrationFiles().at(-1)!.version;

let database: FreshDatabase;
beforeEach(async () => {
  database = await freshDatabase();
});
afterEach(() => database.drop());

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: database.url, query_timeout: 60_000 });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** A folder with the first of our files, and others where they are given. */
function folderOf(first: number, others: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'temporal-health-sql-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  for (const name of readdirSync(SQL_FOLDER).sort().slice(0, first)) cpSync(join(SQL_FOLDER, name), join(folder, name));
  for (const [name, text] of Object.entries(others)) writeFileSync(join(folder, name), text);
  return folder;
}

function openStore(): ReceiptStore {
  const store = openPostgresStore({ url: database.url, clusterId: 'c1' });
  onTestFinished(() => store.close());
  return store;
}

const emitOne = (store: ReceiptStore) => store.emit([new Emitter(someRun('c1')).progress()]);

describe('migrating', () => {
  it('makes the schema that is written down in schema.sql', async () => {
    await migrate(database.url);
    await expect(await dumpSchema(database.url)).toMatchFileSnapshot('../../receipts/postgres/schema.sql');
  });

  it('applies every file once, and nothing the second time', async () => {
    expect(await schemaStatus(database.url)).toMatchObject({ state: 'missing', have: 0, need: newest, pending: names });
    expect(await migrate(database.url)).toEqual({ from: 0, to: newest, applied: names });
    expect(await migrate(database.url)).toEqual({ from: newest, to: newest, applied: [] });
    expect(await schemaStatus(database.url)).toEqual({
      state: 'current',
      have: newest,
      need: newest,
      pending: [],
      changed: [],
    });
  });

  it('is safe with eight migrators at once: one does the work, the others wait for it', async () => {
    const reports = await Promise.all(Array.from({ length: 8 }, () => migrate(database.url)));
    const lengths = reports.map(({ applied }) => applied.length).sort((a, b) => a - b);
    expect(lengths).toEqual([0, 0, 0, 0, 0, 0, 0, names.length]);
    expect((await schemaStatus(database.url)).state).toBe('current');
  });

  it('rolls back what a killed migrator had begun, and lets the next one in', async () => {
    const folder = folderOf(1, { '000002_slow.sql': 'create table temporal_health.half (); select pg_sleep(600);' });
    const program = `
      const { migrate } = await import(${JSON.stringify(pathToFileURL(join(root, 'receipts/postgres/migrate.ts')).href)});
      await migrate(${JSON.stringify(database.url)}, { folder: ${JSON.stringify(folder)} });`;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      cwd: root,
      stdio: 'inherit',
    });
    const gone = once(child, 'exit');
    await vi.waitFor(
      async () => {
        const sleeping = `select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`;
        expect(await query(sleeping)).toHaveLength(1);
      },
      { timeout: 50_000, interval: 50 },
    );
    child.kill('SIGKILL');
    await gone;
    expect(await migrate(database.url)).toMatchObject({ from: 0, applied: names });
    expect(await query(`select to_regclass('temporal_health.half') as half`)).toEqual([{ half: null }]);
  });

  it('leaves everything as it was when a file fails', async () => {
    const folder = folderOf(1, { '000002_wrong.sql': 'create table temporal_health.half (); select 1 / 0;' });
    await expect(migrate(database.url, { folder })).rejects.toMatchObject({ name: 'HealthError' });
    expect(await schemaStatus(database.url)).toMatchObject({ state: 'missing', have: 0 });
  });
});

describe('a schema of another version', () => {
  it('is refused when it is newer, by the migrator and by the store', async () => {
    await migrate(database.url);
    await query(`insert into temporal_health.migrations (name, run_on) values ('000099_future', now())`);
    const refusal = {
      code: 'SCHEMA_VERSION',
      message: expect.stringMatching(new RegExp(`newer.*needed ${String(newest)}, found 99`)) as string,
    };
    await expect(migrate(database.url)).rejects.toMatchObject(refusal);
    await expect(emitOne(openStore())).rejects.toMatchObject(refusal);
    expect((await schemaStatus(database.url)).state).toBe('newer');
  });

  it('is refused by the store when it is older or missing, until it is migrated', async () => {
    const store = openStore();
    const hint = 'Run: temporal-health migrate';
    await expect(emitOne(store)).rejects.toMatchObject({ code: 'SCHEMA_VERSION', hint });
    await migrate(database.url, { folder: folderOf(2) });
    await expect(emitOne(store)).rejects.toMatchObject({
      code: 'SCHEMA_VERSION',
      hint,
      message: expect.stringContaining(`needed ${String(newest)}, found 2`) as string,
    });
    await migrate(database.url);
    expect(await emitOne(store)).toMatchObject([{ outcome: 'stored' }]);
  });

  it('is refused when a file was changed after it was applied', async () => {
    await migrate(database.url, { folder: folderOf(2) });
    const changed = { [`${names[1]!}.sql`]: 'select 1;' };
    const refusal = { code: 'SCHEMA_VERSION', message: expect.stringContaining(names[1]!) as string };
    await expect(migrate(database.url, { folder: folderOf(3, changed) })).rejects.toMatchObject(refusal);
    const renamed = folderOf(1, { '000002_other.sql': 'select 1;' });
    await expect(migrate(database.url, { folder: renamed })).rejects.toMatchObject(refusal);
  });
});

describe('an address', () => {
  it('that nobody answers is named without its password', async () => {
    const refusal = (await migrate('postgres://health:hunter2@127.0.0.1:1/db').catch(
      (error: unknown) => error,
    )) as Error;
    expect(refusal).toMatchObject({
      code: 'DB_UNREACHABLE',
      message: expect.stringContaining('127.0.0.1:1') as string,
    });
    expect(JSON.stringify([refusal.message, refusal, String(refusal.cause)])).not.toContain('hunter2');
  });

  it('that is none is refused before anything is asked', async () => {
    for (const url of ['', 'not an address hunter2:@:/']) {
      expect(() => openPostgresStore({ url, clusterId: 'c1' })).toThrow(
        expect.objectContaining({ code: 'CONFIG_MISSING' }) as Error,
      );
    }
    await expect(Promise.resolve().then(() => schemaStatus(''))).rejects.toMatchObject({ code: 'CONFIG_MISSING' });
  });
});
