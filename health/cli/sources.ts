/**
 * Opens what a command reads from. A source that does not answer is a value: a report then shows what it can and says so.
 * What only the operator can mend (a schema of another version, a refused login at Temporal) is an error.
 */
import { Connection } from '@temporalio/client';
import { HealthError, isHealthError } from '../../receipts/errors.ts';
import { clustersIn, openPostgresStore } from '../../receipts/postgres/index.ts';
import type { ReceiptStore } from '../../receipts/store.ts';
import { classify } from '../classify.ts';
import { temporalError, temporalReader } from '../gather.ts';
import type { Sources, TemporalReader, Unreadable } from '../gather.ts';
import { DEFAULT_POLICY } from '../policy.ts';
import { loadConfigModule } from './config-module.ts';
import type { Configuration } from './configuration.ts';

export interface OpenSources {
  readonly sources: Sources;
  /** One for each source that does not answer. */
  readonly errors: readonly HealthError[];
  readonly close: () => Promise<void>;
}

export interface OpenTemporal {
  readonly reader: TemporalReader;
  readonly connection: Connection;
  readonly clusterId: string;
}

/** @throws HealthError TEMPORAL_UNREACHABLE, NOT_ALLOWED */
export async function openTemporal(configuration: Configuration): Promise<OpenTemporal> {
  const { address, callTimeoutMs: deadlineMs } = configuration;
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect(configuration.connection);
    const reader = temporalReader({ connection, address, deadlineMs });
    return { reader, connection, clusterId: await reader.clusterId() };
  } catch (error) {
    await connection?.close();
    throw temporalError(error, address);
  }
}

/**
 * @throws HealthError SCHEMA_VERSION, NOT_ALLOWED, CONFIG_MISSING; TEMPORAL_UNREACHABLE where nothing else could be shown
 */
export async function openSources(configuration: Configuration): Promise<OpenSources> {
  const errors: HealthError[] = [];
  const policy = (await loadConfigModule(process.env))?.policy ?? DEFAULT_POLICY;
  const temporal = await openTemporal(configuration).catch((error: unknown) => unreachable(error, errors));
  const clusterId = 'clusterId' in temporal ? temporal.clusterId : await clusterOfStore(configuration, errors);
  const store = await openStore(configuration, clusterId, errors);
  const close = async (): Promise<void> => {
    if (store !== null && !('unread' in store)) await store.close();
    if ('connection' in temporal) await temporal.connection.close();
  };
  return {
    sources: {
      clusterId,
      temporal: 'reader' in temporal ? temporal.reader : temporal,
      store,
      policy,
      judge: (document) => classify(document, document.policy, document.nowMs),
      localNowMs: Date.now,
    },
    errors,
    close,
  };
}

function unreachable(error: unknown, errors: HealthError[]): Unreadable {
  if (!isHealthError(error) || error.code !== 'TEMPORAL_UNREACHABLE') throw error;
  errors.push(error);
  return { unread: error.code };
}

/** With Temporal down, the store says whose receipts it holds; one that holds two clusters' cannot say which is meant. */
async function clusterOfStore({ databaseUrl }: Configuration, errors: readonly HealthError[]): Promise<string> {
  const [temporalDown] = errors;
  if (databaseUrl === null) throw temporalDown ?? new HealthError('TEMPORAL_UNREACHABLE', 'Temporal does not answer.');
  const clusters = await clustersIn(databaseUrl).catch((error: unknown) => {
    // Neither source answers: there is nothing to show.
    throw isHealthError(error) && error.code === 'DB_UNREACHABLE' ? (temporalDown ?? error) : error;
  });
  const [only, second] = clusters;
  if (only !== undefined && second === undefined) return only;
  throw (
    temporalDown ??
    new HealthError(
      'TEMPORAL_UNREACHABLE',
      'Temporal does not answer, and the store does not say which cluster is meant.',
    )
  );
}

async function openStore(
  { databaseUrl, namespace, callTimeoutMs: queryTimeoutMs }: Configuration,
  clusterId: string,
  errors: HealthError[],
): Promise<ReceiptStore | Unreadable | null> {
  if (databaseUrl === null) return null;
  // Reading does not depend on the settings that protect what is written: workers refuse such a server, `doctor` names it.
  const store = openPostgresStore({ url: databaseUrl, clusterId, queryTimeoutMs, allowUnsafeSettings: true });
  try {
    // First contact: afterwards the store's clock is the database's.
    await store.readGaps(namespace, store.nowMs());
    return store;
  } catch (error) {
    await store.close();
    if (!isHealthError(error) || error.code !== 'STORE_UNAVAILABLE') throw error;
    const { message, hint, cause } = error;
    const unread = new HealthError('DB_UNREACHABLE', message, { ...(hint === undefined ? {} : { hint }), cause });
    errors.push(unread);
    return { unread: unread.code };
  }
}
