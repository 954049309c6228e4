/**
 * The store's connections: a pool that opens lazily, a first contact that checks what must hold before anything is
 * written (settings, schema), and the estimate of the database's clock.
 *
 * Every client has a time limit of its own on this side: a server that hangs sends no error, ever.
 */
import pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { HealthError } from '../errors.ts';
import { addressOf, failureOf, isPassing, sqlStateOf } from './failures.ts';
import type { DatabaseAddress } from './failures.ts';
import { requireSchema } from './schema-version.ts';

export interface ConnectionOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly queryTimeoutMs: number;
  readonly allowUnsafeSettings: boolean;
}

/** How often a statement that met a deadlock, a busy lock or no free connection is sent again. */
const TRIES = 6;
const PAUSE_MS = 20;
/** How long a server may take to hear a farewell; one that hangs never does. */
const FAREWELL_MS = 2_000;

const INT8_OID = pg.types.builtins.INT8;
/** Counts and epoch ms are far below 2^53, so `bigint` columns may be numbers. */
const types = new pg.TypeOverrides();
types.setTypeParser(INT8_OID, Number);

/** The database's clock: its newest answer and the monotonic time since then; this machine's until the first answer. */
class DatabaseClock {
  #answer: { readonly atMs: number; readonly heardAt: number } | null = null;
  #newestMs = 0;

  hear(atMs: number): void {
    this.#answer = { atMs, heardAt: performance.now() };
  }

  nowMs(): number {
    const answer = this.#answer;
    const estimate = answer === null ? Date.now() : Math.floor(answer.atMs + performance.now() - answer.heardAt);
    // Before the first answer this machine's clock may run ahead; that must not hold the database's back afterwards.
    if (answer === null) return estimate;
    this.#newestMs = Math.max(this.#newestMs, estimate);
    return this.#newestMs;
  }
}

export class Connection {
  readonly address: DatabaseAddress;
  readonly clock = new DatabaseClock();
  readonly #options: ConnectionOptions;
  readonly #pool: pg.Pool;
  readonly #clients = new Set<pg.PoolClient>();
  #firstContact: Promise<void> | null = null;

  constructor(options: ConnectionOptions) {
    this.address = addressOf(options.url);
    this.#options = options;
    this.#pool = new pg.Pool({
      connectionString: options.url,
      max: options.poolSize,
      connectionTimeoutMillis: options.queryTimeoutMs,
      query_timeout: options.queryTimeoutMs,
      // So that a statement whose client has given up does not hold its locks on the server.
      statement_timeout: options.queryTimeoutMs,
      keepAlive: true,
      application_name: 'temporal-health',
      types,
    });
    // An idle connection that breaks is replaced at the next use; nobody waits for it.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => this.#clients.add(client));
    this.#pool.on('remove', (client) => this.#clients.delete(client));
  }

  /** Runs one statement; retries what passes by itself. Throws what `pg` throws: the caller maps it. */
  async run<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<Row[]> {
    this.#firstContact ??= this.#check();
    await this.#firstContact.catch((error: unknown) => {
      this.#firstContact = null;
      throw error;
    });
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#once<Row>(query);
      } catch (error) {
        if (!isPassing(error) || tries >= TRIES) throw error;
        await delay(Math.random() * PAUSE_MS * tries);
      }
    }
  }

  /** As `run`, with every error mapped to ours. */
  async ask<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<Row[]> {
    try {
      return await this.run<Row>(query);
    } catch (error) {
      throw failureOf(error, this.address);
    }
  }

  async #once<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<Row[]> {
    const client = await this.#pool.connect();
    // An error on a connection in use reaches its query; without a listener it would end the process as well.
    const ignore = (): void => undefined;
    client.on('error', ignore);
    let broken = true;
    try {
      const { rows } = await client.query<Row>(query);
      broken = false;
      return rows;
    } catch (error) {
      // The server answered, so the connection is in order. After a time limit the answer may still come: it is closed.
      broken = sqlStateOf(error) === undefined;
      throw error;
    } finally {
      client.off('error', ignore);
      client.release(broken);
    }
  }

  async #check(): Promise<void> {
    const { allowUnsafeSettings } = this.#options;
    const [server] = await this.#once<{ unsafe: string[]; now_ms: number }>({
      text: `select
          array(select s.name from pg_settings as s
            where s.name in ('fsync', 'full_page_writes', 'synchronous_commit') and s.setting = 'off'
            order by s.name) as unsafe,
          floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms`,
    });
    const unsafe = server?.unsafe ?? [];
    if (unsafe.length > 0 && !allowUnsafeSettings) {
      throw new HealthError(
        'STORE_SETTINGS',
        `Postgres at ${this.address.text} may lose what it has acknowledged: ${unsafe.join(', ')} is off.`,
        { hint: 'Turn it on, or allow unsafe settings for this store if its receipts may be lost.' },
      );
    }
    await requireSchema((text) => this.#once({ text }), this.address);
    if (server !== undefined) this.clock.hear(server.now_ms);
  }

  /** Takes leave of the server. One that hangs is hung up on: an open socket would keep the process from ending. */
  async close(): Promise<void> {
    await this.#pool.end();
    const hangUp = (): void => {
      for (const client of this.#clients) client.connection.stream.destroy();
    };
    setTimeout(hangUp, FAREWELL_MS).unref();
  }
}
