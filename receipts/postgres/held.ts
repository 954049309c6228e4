/** What a database holds, for a command that was given nothing but its address. */
import pg from 'pg';
import { addressOf, failureOf } from './failures.ts';

const TIMEOUT_MS = 10_000;

async function ask<Row extends pg.QueryResultRow>(url: string, text: string, values: unknown[]): Promise<Row[]> {
  const address = addressOf(url);
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
    application_name: 'temporal-health',
  });
  client.on('error', () => undefined); // A lost connection fails the statement that waits for it.
  try {
    await client.connect();
    return (await client.query<Row>(text, values)).rows;
  } catch (error) {
    throw failureOf(error, address, 'DB_UNREACHABLE');
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Ids of the clusters that have chains or contracts here, at most `limit`: needed only while Temporal cannot be asked for
 * its own id.
 * @throws HealthError DB_UNREACHABLE, SCHEMA_VERSION, CONFIG_MISSING
 */
export async function clustersIn(url: string, limit = 10): Promise<readonly string[]> {
  // One step of the key at a time: a plain `distinct` would read every chain.
  const rows = await ask<{ cluster_id: string }>(
    url,
    `with recursive found as (
       (select cluster_id from temporal_health.chains order by cluster_id limit 1)
       union all
       select (select c.cluster_id from temporal_health.chains as c
               where c.cluster_id > f.cluster_id order by c.cluster_id limit 1)
       from found as f where f.cluster_id is not null
     )
     select cluster_id from (
       select cluster_id from found union select cluster_id from temporal_health.contracts
     ) as every where cluster_id is not null order by cluster_id limit $1`,
    [limit],
  );
  return rows.map(({ cluster_id }) => cluster_id);
}

/**
 * Workflow types with a registered contract.
 * @throws HealthError DB_UNREACHABLE, SCHEMA_VERSION, CONFIG_MISSING
 */
export async function registeredTypes(url: string, clusterId: string, namespace: string): Promise<readonly string[]> {
  const rows = await ask<{ workflow_type: string }>(
    url,
    `select distinct workflow_type from temporal_health.contracts
     where cluster_id = $1 and namespace = $2 order by workflow_type`,
    [clusterId, namespace],
  );
  return rows.map(({ workflow_type }) => workflow_type);
}
