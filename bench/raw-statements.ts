/**
 * What the store is compared with: the emit statement called by hand, and the same rows put down with no state at all.
 * Both take lists, of one or of many receipts.
 */
import { hash } from 'node:crypto';
import pg from 'pg';
import { canonicalJson } from '../receipts/digest.ts';
import type { Receipt } from '../receipts/envelope.ts';

const COLUMNS: readonly { readonly name: string; readonly type: string; readonly of: (receipt: Receipt) => unknown }[] =
  [
    { name: 'receipt_id', type: 'uuid', of: (receipt) => receipt.receiptId },
    { name: 'kind', type: 'text', of: (receipt) => receipt.kind },
    { name: 'namespace', type: 'text', of: (receipt) => receipt.namespace },
    { name: 'workflow_id', type: 'text', of: (receipt) => receipt.workflowId },
    { name: 'run_id', type: 'text', of: (receipt) => receipt.runId },
    { name: 'chain_id', type: 'text', of: (receipt) => receipt.chainId },
    { name: 'workflow_type', type: 'text', of: (receipt) => receipt.workflowType },
    { name: 'run_started_at_ms', type: 'bigint', of: (receipt) => receipt.runStartedAtMs },
    { name: 'emitter', type: 'text', of: (receipt) => receipt.emitter },
    { name: 'activity_type', type: 'text', of: (receipt) => receipt.activityType ?? null },
    { name: 'fence', type: 'bigint', of: (receipt) => receipt.fence },
    { name: 'attempt', type: 'integer', of: (receipt) => receipt.attempt },
    { name: 'sequence', type: 'integer', of: (receipt) => receipt.sequence },
    { name: 'mission_fingerprint', type: 'text', of: (receipt) => receipt.missionFingerprint },
    { name: 'schema_version', type: 'smallint', of: (receipt) => receipt.schemaVersion },
    { name: 'sanitised', type: 'boolean', of: (receipt) => receipt.sanitised === true },
    { name: 'occurred_at_ms', type: 'bigint', of: (receipt) => receipt.occurredAtMs },
  ];
const NAMES = [...COLUMNS.map(({ name }) => name), 'body_digest', 'body'].join(', ');
const PARAMETERS = [...COLUMNS.map(({ type }) => type), 'bytea', 'jsonb']
  .map((type, at) => `$${at + 2}::${type}[]`)
  .join(', ');

function valuesOf(clusterId: string, receipts: readonly Receipt[]): unknown[] {
  const bodies = receipts.map((receipt) => canonicalJson(receipt.body));
  const digests = receipts.map(({ kind }, at) => hash('sha256', `${kind}\n${bodies[at] ?? ''}`, 'buffer'));
  return [clusterId, ...COLUMNS.map(({ of }) => receipts.map(of)), digests, bodies];
}

/** Receipts and all their state, by the product's own statement: how many of them it says are stored. */
export async function emitByHand(
  client: pg.ClientBase,
  clusterId: string,
  receipts: readonly Receipt[],
): Promise<number> {
  const { rows } = await client.query<{ stored: number }>({
    name: 'bench_emit',
    text: `select cardinality(array_positions(outcomes, 'stored')) as stored from temporal_health.emit($1, ${PARAMETERS})`,
    values: valuesOf(clusterId, receipts),
  });
  return rows[0]?.stored ?? 0;
}

/** A table with the columns and the indexes of `receipts`, and nothing else that would have to be kept up to date. */
export const BARE_TABLE = `
  create table bare_receipts (like temporal_health.receipts including defaults including constraints);
  alter table bare_receipts add primary key (receipt_id);
  create index on bare_receipts (chain_id, recorded_at_ms);`;

export async function insertBare(
  client: pg.ClientBase,
  clusterId: string,
  receipts: readonly Receipt[],
): Promise<number> {
  const { rowCount } = await client.query({
    name: 'bench_insert',
    text: `insert into bare_receipts (${NAMES}, cluster_id, recorded_at_ms)
           select g.*, $1, floor(extract(epoch from now()) * 1000)::bigint from unnest(${PARAMETERS}) as g`,
    values: valuesOf(clusterId, receipts),
  });
  return rowCount ?? 0;
}

export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, query_timeout: 60_000 });
  await client.connect();
  return client;
}

export function poolOf(url: string, size: number): pg.Pool {
  return new pg.Pool({ connectionString: url, max: size, min: size, query_timeout: 60_000 });
}
