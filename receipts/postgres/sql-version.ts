/**
 * One row of somebody else's table: whether it is there, and whether its version holds what was promised.
 *
 * Read-only, with a time limit on both sides, identifiers quoted and values as parameters. Postgres compares, by the
 * column's own type; which types have an order that means "newer" is decided here. Nothing the database says leaves this
 * file but SQL states as words and the version itself.
 */
import pg from 'pg';
import { addressOf, sqlStateOf } from './failures.ts';

export interface RowQuestion {
  readonly url: string;
  readonly schema: string;
  readonly table: string;
  readonly keyColumn: string;
  readonly key: string;
  readonly versionColumn: string;
  readonly version: string;
  /** `at-least`: the promised version or a later one. */
  readonly compare: 'at-least' | 'equal';
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export type RowAnswer =
  | { readonly kind: 'row'; readonly holds: boolean; readonly version: string | null }
  | { readonly kind: 'no-row' }
  /** The question has no meaning in this table, e.g. a promised version that its column cannot hold. */
  | { readonly kind: 'fault'; readonly cause: 'bad-value' | 'version-null' | 'version-not-finite' }
  | { readonly kind: 'unread'; readonly cause: string };

interface Row {
  readonly standby: boolean;
  readonly found: boolean | null;
  readonly version: string | null;
  readonly type: string | null;
  readonly holds: boolean | null;
}

/** Where a later version is the greater one. Text is not: '10' sorts before '9', and each database sorts differently. */
const ORDERED: ReadonlySet<string> = new Set([
  ...['smallint', 'integer', 'bigint', 'numeric', 'real', 'double precision'],
  ...['date', 'timestamp without time zone', 'timestamp with time zone', 'xid8', 'pg_lsn'],
]);

/** Postgres holds these to be greater than every number and every moment. */
const NOT_FINITE = /^-?(?:nan|infinity)$/i;
const WITH_OFFSET = /:\d{2}(?:\.\d+)?\s*(?:[+-]\d|[A-Za-z]{2})/;
/** `now`, `yesterday` or `-infinity` would promise something else each day, or nothing. */
const PLAIN_VALUE = /^[+-]?[.\dA-F]/;

/** A plain word for each SQL state that says why the table could not be read. */
const UNREAD_STATES: readonly (readonly [RegExp, string])[] = [
  [/^(?:28|42501)/, 'permission'],
  [/^(?:3D000)/, 'database-missing'],
  [/^(?:3F000|42P01)/, 'table-missing'],
  [/^42703/, 'column-missing'],
  [/^42883/, 'version-not-comparable'],
  [/^57014/, 'timeout'],
  [/^55P03/, 'locked'],
  [/^53/, 'server-full'],
];
const VALUE_STATES = /^22/;

/** Resolves however it ends. */
export async function readRowVersion(question: RowQuestion): Promise<RowAnswer> {
  try {
    addressOf(question.url);
  } catch {
    return { kind: 'unread', cause: 'connection-not-configured' };
  }
  const { url, timeoutMs, signal } = question;
  if (signal?.aborted === true) return { kind: 'unread', cause: 'stopped' };
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    application_name: 'temporal-health check',
  });
  // A connection that breaks is reported by the query that needed it; without a listener it would end the process.
  client.on('error', () => undefined);
  const hasStopped = (): boolean => signal?.aborted === true;
  const stop = (): void => {
    void client.end().catch(() => undefined);
  };
  signal?.addEventListener('abort', stop, { once: true });
  try {
    await client.connect();
    return answerOf(await ask(client, question), question);
  } catch (error) {
    return hasStopped() ? { kind: 'unread', cause: 'stopped' } : failureOf(error);
  } finally {
    signal?.removeEventListener('abort', stop);
    // A server that hangs does not say goodbye either.
    void client.end().catch(() => undefined);
  }
}

async function ask(client: pg.Client, question: RowQuestion): Promise<readonly Row[]> {
  const { schema, table, keyColumn, versionColumn, key, version, compare, timeoutMs } = question;
  const limit = String(Math.floor(timeoutMs));
  // With row security on, a row that this role may not see would look like one that is missing.
  await client.query(
    `begin read only; set local statement_timeout = ${limit}; set local lock_timeout = ${limit};
     set local row_security = off; set local timezone = 'UTC'; set local datestyle = 'ISO, YMD';
     set local extra_float_digits = 1`,
  );
  const held = `t.${pg.escapeIdentifier(versionColumn)}`;
  const { rows } = await client.query<Row>({
    text: `select pg_is_in_recovery() as standby, r.found, r.version, r.type, r.holds
      from (select 1) as one left join lateral (
        select true as found, ${held}::text as version, pg_typeof(${held})::text as type,
          ${held} ${compare === 'equal' ? '=' : '>='} $2 as holds
        from ${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(table)} as t
        where t.${pg.escapeIdentifier(keyColumn)} = $1
        limit 2) as r on true`,
    values: [key, version],
  });
  return rows;
}

function answerOf(rows: readonly Row[], { compare, version: promised }: RowQuestion): RowAnswer {
  const [row, second] = rows;
  if (second !== undefined) return { kind: 'unread', cause: 'key-not-unique' };
  if (row?.found !== true) return behind(row, { kind: 'no-row' });
  const { version, type } = row;
  const isOrdered = ORDERED.has(type ?? '');
  if (compare === 'at-least' && !isOrdered) return { kind: 'unread', cause: 'version-not-ordered' };
  if (isOrdered && !PLAIN_VALUE.test(promised)) return { kind: 'fault', cause: 'bad-value' };
  if (version === null) return behind(row, { kind: 'fault', cause: 'version-null' });
  if (isOrdered && NOT_FINITE.test(version)) return { kind: 'fault', cause: 'version-not-finite' };
  // Such a column has no zone, and Postgres would drop the one that was promised.
  if (type === 'timestamp without time zone' && WITH_OFFSET.test(promised))
    return { kind: 'fault', cause: 'bad-value' };
  const holds = row.holds === true;
  // A text that was not the promised one may be anything, also something that a receipt must not hold.
  return behind(row, { kind: 'row', holds, version: isOrdered || holds ? version : null });
}

/** A standby may only not know it yet: what it lacks says nothing. */
function behind(row: Row | undefined, answer: RowAnswer): RowAnswer {
  const isThere = answer.kind === 'row' && answer.holds;
  return row?.standby === true && !isThere ? { kind: 'unread', cause: 'standby' } : answer;
}

function failureOf(error: unknown): RowAnswer {
  const state = sqlStateOf(error);
  if (state !== undefined) {
    if (VALUE_STATES.test(state)) return { kind: 'fault', cause: 'bad-value' };
    return { kind: 'unread', cause: UNREAD_STATES.find(([pattern]) => pattern.test(state))?.[1] ?? 'database-error' };
  }
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return { kind: 'unread', cause: 'name-not-found' };
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return { kind: 'unread', cause: 'connection-refused' };
  const isTimeout = error instanceof Error && /timeout/i.test(error.message);
  return { kind: 'unread', cause: isTimeout ? 'timeout' : 'connection-lost' };
}
