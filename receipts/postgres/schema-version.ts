/** Which schema this code knows, which one a database has, and what to say when they differ. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HealthError } from '../errors.ts';
import type { DatabaseAddress } from './failures.ts';

/** The SQL files of this version, in their order. */
export const SQL_FOLDER = fileURLToPath(new URL('./sql', import.meta.url));

/** PostgreSQL's oldest version that the SQL is written for. */
export const OLDEST_POSTGRES = 14;

export interface MigrationFile {
  /** The number before the file's name: the schema's version once it is applied. */
  readonly version: number;
  /** Without the ending, as the database remembers it. */
  readonly name: string;
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
}

export function readMigrationFiles(folder: string = SQL_FOLDER): readonly MigrationFile[] {
  const names = readdirSync(folder)
    .filter((name) => /^\d{6}_.+\.sql$/.test(name))
    .sort();
  return names.map((name) => {
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8');
    const sha256 = createHash('sha256').update(text).digest('hex');
    return { version: Number.parseInt(name, 10), name: name.replace(/\.sql$/, ''), path, text, sha256 };
  });
}

export interface AppliedMigration {
  readonly name: string;
  readonly sha256: string | null;
}

type Ask = (text: string) => Promise<unknown[]>;

/** What the database says was applied, oldest first; nothing when the schema is not there. */
export async function readApplied(ask: Ask): Promise<readonly AppliedMigration[]> {
  const [found] = (await ask(
    `select to_regclass('temporal_health.migrations') is not null as started,
       to_regclass('temporal_health.migration_checksums') is not null as summed`,
  )) as { started: boolean; summed: boolean }[];
  if (found?.started !== true) return [];
  return (await ask(
    found.summed
      ? `select m.name, c.sha256 from temporal_health.migrations as m
           left join temporal_health.migration_checksums as c using (name) order by m.name`
      : 'select m.name, null as sha256 from temporal_health.migrations as m order by m.name',
  )) as AppliedMigration[];
}

export type SchemaState = 'missing' | 'older' | 'current' | 'newer' | 'changed';

export interface SchemaStatus {
  readonly state: SchemaState;
  /** The version this code needs. */
  readonly need: number;
  /** The version the database has; 0 when it has none. */
  readonly have: number;
  /** Names of the files that `migrate` would apply. */
  readonly pending: readonly string[];
  /** Names of files that differ from what was applied: a released file must never change. */
  readonly changed: readonly string[];
}

export function compareSchema(files: readonly MigrationFile[], applied: readonly AppliedMigration[]): SchemaStatus {
  const need = files.at(-1)?.version ?? 0;
  const have = Math.max(0, ...applied.map(({ name }) => Number.parseInt(name, 10)));
  const byName = new Map(files.map((file) => [file.name, file]));
  const pending = files.filter(({ name }) => !applied.some((one) => one.name === name)).map(({ name }) => name);
  const changed = applied
    .filter(({ name, sha256 }) => {
      const file = byName.get(name);
      return file === undefined ? Number.parseInt(name, 10) <= need : sha256 !== null && sha256 !== file.sha256;
    })
    .map(({ name }) => name);
  const state: SchemaState =
    have > need
      ? 'newer'
      : changed.length > 0
        ? 'changed'
        : applied.length === 0
          ? 'missing'
          : pending.length > 0
            ? 'older'
            : 'current';
  return { state, need, have, pending, changed };
}

/** The refusal for a schema that this code must not write to; null where it may. */
export function schemaRefusal(status: SchemaStatus, address: DatabaseAddress): HealthError | null {
  const { state, need, have, changed } = status;
  const versions = `needed ${String(need)}, found ${String(have)}`;
  switch (state) {
    case 'current':
      return null;
    case 'newer':
      return new HealthError(
        'SCHEMA_VERSION',
        `The schema at ${address.text} is newer than this temporal-health (${versions}).`,
        { hint: 'Use the temporal-health that migrated it, or a later one.' },
      );
    case 'changed':
      return new HealthError(
        'SCHEMA_VERSION',
        `The schema at ${address.text} was made by other files than this temporal-health has: ${changed.join(', ')}.`,
        { hint: 'A released file never changes. Use a released version, or a fresh database.' },
      );
    case 'missing':
    case 'older':
      return new HealthError(
        'SCHEMA_VERSION',
        `The schema at ${address.text} is ${state === 'missing' ? 'missing' : 'too old'} (${versions}).`,
        { hint: 'Run: temporal-health migrate' },
      );
  }
}

/** @throws HealthError SCHEMA_VERSION unless the database has exactly the schema of this code. */
export async function requireSchema(ask: Ask, address: DatabaseAddress): Promise<void> {
  const refusal = schemaRefusal(compareSchema(readMigrationFiles(), await readApplied(ask)), address);
  if (refusal !== null) throw refusal;
}
