/**
 * The Postgres store. Map: `connection.ts` (pool, first contact, clock) · `emit.ts` with `segments.ts` (the one write
 * path) · `rows.ts` (rows to types) · `failures.ts` (errors, mapped once) · `sql/` (tables and the emit statement).
 */
import type pg from 'pg';
import { digestJson } from '../digest.ts';
import type { Contract } from '../contract.ts';
import type { Receipt, StoredReceipt, StoredRefusal } from '../envelope.ts';
import { HealthError } from '../errors.ts';
import type { ChainRow } from '../state.ts';
import type {
  ChainPage,
  ChainReference,
  EmitOutcome,
  JudgementRecord,
  Observation,
  OutageGap,
  ReceiptStore,
  RunReference,
} from '../store.ts';
import { Connection } from './connection.ts';
import { emit } from './emit.ts';
import { CHAIN_COLUMNS, chainRow, judgement, observation, outageGap, storedReceipt, storedRefusal } from './rows.ts';
import type { ChainRecord, GapRecord, JudgementRow, ObservationRecord, ReceiptRecord, RefusalRecord } from './rows.ts';

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`. Its schema must have been migrated. */
  readonly url: string;
  /** Temporal's cluster id: the store refuses receipts of another one. */
  readonly clusterId: string;
  /** The most connections at once; 4 where absent (two lanes of the group commit, two for reading). */
  readonly poolSize?: number;
  /** After how many ms a connection or statement that gives no answer counts as failed; 10 s where absent. */
  readonly queryTimeoutMs?: number;
  /** Use a server with fsync, full_page_writes or synchronous_commit off, which may lose what it acknowledged. */
  readonly allowUnsafeSettings?: boolean;
}

/**
 * Opens a store without touching the network, so that a worker starts while Postgres is down. The server's settings and
 * schema are checked at first contact: until they are right, every call rejects with STORE_SETTINGS or SCHEMA_VERSION.
 * @throws HealthError CONFIG_MISSING when the address cannot be read.
 */
export function openPostgresStore(options: PostgresStoreOptions): ReceiptStore {
  const { url, clusterId, poolSize = 4, queryTimeoutMs = 10_000, allowUnsafeSettings = false } = options;
  return new PostgresStore(clusterId, new Connection({ url, poolSize, queryTimeoutMs, allowUnsafeSettings }));
}

class PostgresStore implements ReceiptStore {
  readonly clusterId: string;
  readonly #connection: Connection;

  constructor(clusterId: string, connection: Connection) {
    this.clusterId = clusterId;
    this.#connection = connection;
  }

  nowMs(): number {
    return this.#connection.clock.nowMs();
  }

  emit(receipts: readonly Receipt[]): Promise<readonly EmitOutcome[]> {
    return emit(this.#connection, this.clusterId, receipts);
  }

  #ask<Row extends pg.QueryResultRow>(name: string, text: string, values: readonly unknown[]): Promise<Row[]> {
    return this.#connection.ask<Row>({ name: `temporal_health_${name}`, text, values: [...values] });
  }

  async registerContracts(namespace: string, contracts: readonly Contract[]): Promise<readonly string[]> {
    const digests = contracts.map((contract) => digestJson(contract));
    await this.#ask(
      'register_contracts',
      `insert into temporal_health.contracts (cluster_id, namespace, workflow_type, digest, registered_at_ms, contract)
       select $1, $2, g.workflow_type, g.digest, temporal_health.epoch_ms(now()), g.contract
       from unnest($3::text[], $4::text[], $5::jsonb[]) with ordinality as g (workflow_type, digest, contract, place)
       order by g.place
       on conflict (cluster_id, namespace, workflow_type, digest) do nothing`,
      [
        this.clusterId,
        namespace,
        contracts.map(({ workflowType }) => workflowType),
        digests,
        contracts.map((contract) => JSON.stringify(contract)),
      ],
    );
    return digests;
  }

  async readContract(
    namespace: string,
    workflowType: string,
    digest: string | null,
  ): Promise<{ contract: Contract; digest: string } | null> {
    const [found] = await this.#ask<{ contract: Contract; digest: string }>(
      'read_contract',
      `select k.contract, k.digest from temporal_health.contracts as k
       where k.cluster_id = $1 and k.namespace = $2 and k.workflow_type = $3 and ($4::text is null or k.digest = $4)
       order by k.registration desc
       limit 1`,
      [this.clusterId, namespace, workflowType, digest],
    );
    return found ?? null;
  }

  async readChain(run: RunReference): Promise<ChainRow | null> {
    const [found] = await this.#ask<ChainRecord>(
      'read_chain',
      `select ${CHAIN_COLUMNS} from temporal_health.chains as c
       where c.cluster_id = $1 and c.namespace = $2 and c.workflow_id = $3
         and ($4::text is null or c.chain_id = $4 or exists (
           select from temporal_health.emitters as e
           where e.cluster_id = $1 and e.namespace = $2 and e.workflow_id = $3 and e.chain_id = c.chain_id
             and e.run_id = $4))
       order by c.run_started_at_ms desc, c.chain_id desc
       limit 1`,
      [this.clusterId, run.namespace, run.workflowId, run.runId ?? null],
    );
    return found === undefined ? null : chainRow(found);
  }

  async listChains(query: {
    namespace: string;
    limit: number;
    cursor?: string;
    changedSinceMs?: number;
  }): Promise<ChainPage> {
    const { namespace, limit, cursor, changedSinceMs = 0 } = query;
    const [workflowId, chainId] = cursor === undefined ? ['', ''] : readCursor(cursor);
    const records = await this.#ask<ChainRecord>(
      'list_chains',
      `select ${CHAIN_COLUMNS} from temporal_health.chains as c
       where c.cluster_id = $1 and c.namespace = $2 and (c.workflow_id, c.chain_id) > ($3, $4)
         and c.last_receipt_at_ms >= $5
       order by c.workflow_id, c.chain_id
       limit $6`,
      [this.clusterId, namespace, workflowId, chainId, changedSinceMs, limit + 1],
    );
    const rows = records.slice(0, limit).map(chainRow);
    const last = rows.at(-1);
    return { rows, cursor: records.length > limit && last !== undefined ? writeCursor(last) : null };
  }

  async readReceipts(chain: ChainReference, limit: number, untilMs?: number): Promise<readonly StoredReceipt[]> {
    const records = await this.#ask<ReceiptRecord>(
      'read_receipts',
      `select r.* from temporal_health.receipts as r
       where r.chain_id = $4 and r.cluster_id = $1 and r.namespace = $2 and r.workflow_id = $3
         and ($6::bigint is null or r.recorded_at_ms <= $6)
       order by r.recorded_at_ms, r.fence, r.attempt, r.sequence, r.receipt_id
       limit $5`,
      [...this.#keyOf(chain), limit, untilMs ?? null],
    );
    return records.map(storedReceipt);
  }

  async readReceipt(receiptId: string): Promise<StoredReceipt | null> {
    const [found] = await this.#ask<ReceiptRecord>(
      'read_receipt',
      'select r.* from temporal_health.receipts as r where r.receipt_id = $2 and r.cluster_id = $1',
      [this.clusterId, receiptId],
    );
    return found === undefined ? null : storedReceipt(found);
  }

  async readRefusals(chain: ChainReference, untilMs?: number): Promise<readonly StoredRefusal[]> {
    const records = await this.#ask<RefusalRecord>(
      'read_refusals',
      `select r.* from temporal_health.refusals as r
       where r.cluster_id = $1 and r.namespace = $2 and r.workflow_id = $3 and r.chain_id = $4
         and ($5::bigint is null or r.recorded_at_ms <= $5)
       order by r.recorded_at_ms, r.fence, r.attempt, r.sequence`,
      [...this.#keyOf(chain), untilMs ?? null],
    );
    return records.map(storedRefusal);
  }

  async recordObservation(one: Observation): Promise<void> {
    await this.#ask(
      'record_observation',
      `insert into temporal_health.observations
         (cluster_id, namespace, workflow_id, chain_id, run_id, observed_at_ms, closed, temporal)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [...this.#keyOf(one), one.runId, one.observedAtMs, one.closed, JSON.stringify(one.temporal)],
    );
  }

  #keyOf(chain: ChainReference): readonly string[] {
    return [this.clusterId, chain.namespace, chain.workflowId, chain.chainId];
  }

  async readObservation(chain: ChainReference, closedOnly: boolean, untilMs?: number): Promise<Observation | null> {
    const [found] = await this.#ask<ObservationRecord>(
      'read_observation',
      `select * from temporal_health.observations as o
       where o.cluster_id = $1 and o.namespace = $2 and o.workflow_id = $3 and o.chain_id = $4 and (o.closed or not $5)
         and ($6::bigint is null or o.observed_at_ms <= $6)
       order by o.observed_at_ms desc, o.observation desc
       limit 1`,
      [...this.#keyOf(chain), closedOnly, untilMs ?? null],
    );
    return found === undefined ? null : observation(found);
  }

  async recordJudgement(one: JudgementRecord): Promise<boolean> {
    const [answer] = await this.#ask<{ appended: boolean }>(
      'record_judgement',
      'select temporal_health.record_judgement($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) as appended',
      [
        ...this.#keyOf(one),
        one.runId,
        one.evidenceVersion,
        one.ruleVersion,
        one.judgedAtMs,
        one.verdict,
        one.reason,
        JSON.stringify(one.judgement),
      ],
    );
    return answer?.appended === true;
  }

  async readJudgement(chain: ChainReference, untilMs?: number): Promise<JudgementRecord | null> {
    const [found] = await this.#ask<JudgementRow>(
      'read_judgement',
      `select * from temporal_health.judgements as j
       where j.cluster_id = $1 and j.namespace = $2 and j.workflow_id = $3 and j.chain_id = $4
         and ($5::bigint is null or j.judged_at_ms <= $5)
       order by j.place desc
       limit 1`,
      [...this.#keyOf(chain), untilMs ?? null],
    );
    return found === undefined ? null : judgement(found);
  }

  async recordGap(gap: OutageGap): Promise<void> {
    await this.#ask(
      'record_gap',
      `insert into temporal_health.gaps as g (cluster_id, namespace, worker_id, from_ms, until_ms)
       values ($1, $2, $3, $4, $5)
       on conflict (cluster_id, namespace, worker_id, from_ms) do update
       set until_ms = greatest(g.until_ms, excluded.until_ms)`,
      [this.clusterId, gap.namespace, gap.workerId, gap.fromMs, gap.untilMs],
    );
  }

  async readGaps(namespace: string, sinceMs: number): Promise<readonly OutageGap[]> {
    const records = await this.#ask<GapRecord>(
      'read_gaps',
      `select * from temporal_health.gaps as g
       where g.cluster_id = $1 and g.namespace = $2 and (g.until_ms is null or g.until_ms > $3)
       order by g.from_ms, g.worker_id`,
      [this.clusterId, namespace, sinceMs],
    );
    return records.map(outageGap);
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}

function writeCursor({ workflowId, chainId }: ChainRow): string {
  return Buffer.from(JSON.stringify([workflowId, chainId])).toString('base64url');
}

/** @throws HealthError INPUT_INVALID for text that no page gave. */
function readCursor(cursor: string): readonly [workflowId: string, chainId: string] {
  try {
    const [workflowId, chainId] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof workflowId === 'string' && typeof chainId === 'string') return [workflowId, chainId];
  } catch {
    // Not a cursor of ours: refused below, with the same words as any other text that is none.
  }
  throw new HealthError('INPUT_INVALID', 'The cursor is not one that a page gave.', { field: 'cursor' });
}
