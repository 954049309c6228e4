/**
 * The servers a test may use. Shared ones are started once for a run by the global setups that vitest.config.ts gives to
 * the projects that need them; private ones (`privatePostgres`) may be killed.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import './global-postgres.ts';
import './global-temporal.ts';

export { privatePostgres, privateTemporal } from './private-servers.ts';
export type { PrivatePostgres, PrivateTemporal } from './private-servers.ts';

/**
 * The Temporal development server that all test files of a run share, and the CLI it came from. Use task queues and
 * workflow ids of your own: others run beside you in the namespace `default`.
 */
export const testTemporal = (): { address: string; cli: string; namespace: string } => ({
  address: inject('temporalAddress'),
  cli: inject('temporalCli'),
  namespace: 'default',
});

/** The PostgreSQL 18 that all test files of a run share: never stop it, never change its settings. */
export const testPostgres = (): { url: string } => ({ url: inject('postgresUrl') });

export interface FreshDatabase {
  url: string;
  name: string;
  /** Ends whoever is still connected, and removes it. */
  drop(): Promise<void>;
}

async function onServer(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: testPostgres().url, query_timeout: 60_000 });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** An empty database of one test file (or test) on the shared server; `template` copies another one instead. */
export async function freshDatabase(options: { template?: string } = {}): Promise<FreshDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const from = options.template === undefined ? '' : ` template ${pg.escapeIdentifier(options.template)}`;
  await onServer(`create database ${name}${from}`);
  const url = new URL(testPostgres().url);
  url.pathname = `/${name}`;
  return { url: url.toString(), name, drop: () => onServer(`drop database if exists ${name} with (force)`) };
}
