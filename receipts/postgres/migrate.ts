/**
 * Brings the schema `temporal_health` to the version of this code: the SQL files in their order, in one transaction, under
 * an advisory lock for which a second migrator waits. Forward only. Each file's checksum is kept, so that a file which was
 * changed after it was applied is noticed.
 *
 * Killed half-way, it leaves the version that was there.
 */
import pg from 'pg';
import type { RunnerOption } from 'node-pg-migrate';
import { HealthError } from '../errors.ts';
import { addressOf, failureOf } from './failures.ts';
import {
  compareSchema,
  OLDEST_POSTGRES,
  readApplied,
  readMigrationFiles,
  schemaRefusal,
  SQL_FOLDER,
} from './schema-version.ts';
import type { MigrationFile, SchemaStatus } from './schema-version.ts';

export type { SchemaState, SchemaStatus } from './schema-version.ts';

export interface MigrateOptions {
  /** Another folder of SQL files, for tests. */
  readonly folder?: string;
}

export interface MigrationReport {
  /** The version the database had, and has now. */
  readonly from: number;
  readonly to: number;
  /** Names of the files that were applied. */
  readonly applied: readonly string[];
}

/** Names this project's migrations among all advisory locks of a database. */
const LOCK = 7_245_001_118;
const CONNECT_TIMEOUT_MS = 10_000;
/** A migration may rewrite a large table, or wait for another migrator that does. */
const MIGRATION_TIMEOUT_MS = 30 * 60_000;

async function withClient<T>(url: string, timeoutMs: number, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const address = addressOf(url);
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: timeoutMs,
    application_name: 'temporal-health migrate',
  });
  client.on('error', () => undefined); // A lost connection fails the statement that waits for it.
  try {
    await client.connect();
    return await work(client);
  } catch (error) {
    throw failureOf(error, address, 'DB_UNREACHABLE');
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * What a database has, and what it would need. Changes nothing.
 * @throws HealthError DB_UNREACHABLE, CONFIG_MISSING
 */
export async function schemaStatus(url: string, options: MigrateOptions = {}): Promise<SchemaStatus> {
  return await withClient(url, CONNECT_TIMEOUT_MS, async (client) =>
    compareSchema(readMigrationFiles(options.folder), await readApplied(asking(client))),
  );
}

/**
 * Applies the files that are missing; any number at once are safe, and one does the work.
 * @throws HealthError SCHEMA_VERSION when the database is newer, or was made by other files; DB_UNREACHABLE
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<MigrationReport> {
  const folder = options.folder ?? SQL_FOLDER;
  const address = addressOf(url);
  return await withClient(url, MIGRATION_TIMEOUT_MS, async (client) => {
    await requirePostgres(client);
    // Taken before the look at what is there; the library takes it once more in the same session, which is free.
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    const files = readMigrationFiles(folder);
    const before = compareSchema(files, await readApplied(asking(client)));
    const refusal = schemaRefusal(before, address);
    if (refusal !== null && before.state !== 'missing' && before.state !== 'older') throw refusal;
    if (before.pending.length > 0) {
      // Loaded when it is needed: a worker that only opens a store does not pay for it.
      const { runner } = await import('node-pg-migrate');
      await runner(runnerOptions(client, folder, files));
    }
    return { from: before.have, to: before.need, applied: before.pending };
  });
}

/** Rows of a text query. */
function asking(client: pg.Client): (text: string) => Promise<unknown[]> {
  return async (text) => (await client.query<pg.QueryResultRow>(text)).rows;
}

async function requirePostgres(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number }>(
    `select current_setting('server_version_num')::integer / 10000 as version`,
  );
  const version = rows[0]?.version ?? 0;
  if (version < OLDEST_POSTGRES) {
    throw new HealthError(
      'SCHEMA_VERSION',
      `temporal-health needs PostgreSQL ${String(OLDEST_POSTGRES)} or later; this server is ${String(version)}.`,
    );
  }
  // A migrator that was killed must not keep its lock until its statement ends: the server looks whether it is there.
  // Some systems cannot look; there the lock is kept that long.
  await client.query(
    `do $$ begin set client_connection_check_interval = '500ms'; exception when others then null; end $$`,
  );
}

function runnerOptions(client: pg.Client, folder: string, files: readonly MigrationFile[]): RunnerOption {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  return {
    dbClient: client,
    dir: folder,
    direction: 'up',
    migrationsSchema: 'temporal_health',
    createMigrationsSchema: true,
    migrationsTable: 'migrations',
    singleTransaction: true,
    lockValue: LOCK,
    advisoryLockMode: 'wait',
    logger: silent,
    migrationLoaderStrategies: [
      {
        extensions: ['.sql'],
        loader: (paths) =>
          Promise.resolve(
            paths.flatMap((path) => {
              const file = byPath.get(path);
              return file === undefined ? [] : [{ id: path, filePaths: [path], actions: actionsOf(file) }];
            }),
          ),
      },
    ],
  };
}

function actionsOf({ name, text, sha256 }: MigrationFile): {
  up: (builder: { sql: (text: string) => void }) => void;
  down: false;
} {
  return {
    up: (builder) => {
      builder.sql(text);
      builder.sql(
        `insert into temporal_health.migration_checksums (name, sha256)
         values (${pg.escapeLiteral(name)}, ${pg.escapeLiteral(sha256)});`,
      );
    },
    down: false,
  };
}
