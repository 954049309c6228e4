/**
 * The one border at which errors of Postgres and of the network become ours. What goes on from here names a host, a code
 * and a SQL state, never a value: Postgres writes values of the row at fault into its texts, so those stay behind.
 */
import pg from 'pg';
import { HealthError, isHealthError } from '../errors.ts';
import type { ErrorCode } from '../errors.ts';

/** Where a database is, without who may enter: `127.0.0.1:5432/health`. */
export interface DatabaseAddress {
  readonly text: string;
}

/** @throws HealthError CONFIG_MISSING when there is no address, or none that can be read. */
export function addressOf(url: string): DatabaseAddress {
  const hint = 'Set TEMPORAL_HEALTH_DATABASE_URL to an address such as postgres://user@host:5432/database.';
  if (url.trim() === '')
    throw new HealthError('CONFIG_MISSING', 'No address of a Postgres database is given.', { hint });
  try {
    // `pg` would take any text for the name of a database on this machine.
    if (/^postgres(?:ql)?:\/\//.test(url)) {
      const { host, port, database } = new pg.Client({ connectionString: url });
      return { text: `${host}:${String(port)}/${database ?? ''}` };
    }
  } catch {
    // No cause: the parser's error repeats the whole address, with its password.
  }
  throw new HealthError('CONFIG_MISSING', 'The address of the Postgres database cannot be read.', { hint });
}

const SQL_STATE = /^[0-9A-Z]{5}$/;

/** The SQL state of an error that Postgres itself sent. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = error instanceof pg.DatabaseError ? error.code : undefined;
  return code !== undefined && SQL_STATE.test(code) ? code : undefined;
}

const TRY_AGAIN = new Set(['40P01', '40001', '55P03', '53300']);

/** A deadlock, a serialisation failure, a lock that was not to be had or too many connections: over in a moment. */
export function isPassing(error: unknown): boolean {
  return TRY_AGAIN.has(sqlStateOf(error) ?? '');
}

/** The values that were sent are at fault and not the server: the other receipts of a batch may still be stored. */
export function isRefusal(error: unknown): boolean {
  return /^(?:21|22|23|54)/.test(sqlStateOf(error) ?? '');
}

/** A receipt that Postgres refuses by itself although it passed our validation. */
export function refusedBy(error: unknown): HealthError {
  const state = sqlStateOf(error) ?? '';
  const codes: Readonly<Record<string, ErrorCode>> = {
    '22021': 'RECEIPT_TEXT',
    '22P05': 'RECEIPT_TEXT',
    '22003': 'RECEIPT_NUMBER',
    '54000': 'RECEIPT_TOO_LARGE',
  };
  return new HealthError(codes[state] ?? 'RECEIPT_INVALID', `Postgres refused the receipt (SQL state ${state}).`, {
    cause: withoutValues(error, state),
  });
}

/** Postgres's own error without its texts, which may hold values. */
function withoutValues(error: unknown, state: string): Error {
  const where = error instanceof pg.DatabaseError ? [error.table, error.constraint, error.routine] : [];
  const names = where.filter((name) => name !== undefined && name !== '');
  return new Error(`SQL state ${state}${names.length === 0 ? '' : ` (${names.join(', ')})`}`);
}

/**
 * Any error of a statement or a connection as ours. `unreachable` is the code for a server that cannot be asked: the store
 * says STORE_UNAVAILABLE, a command that was given an address DB_UNREACHABLE.
 */
export function failureOf(
  error: unknown,
  address: DatabaseAddress,
  unreachable: 'STORE_UNAVAILABLE' | 'DB_UNREACHABLE' = 'STORE_UNAVAILABLE',
): HealthError {
  if (isHealthError(error)) return error;
  const state = sqlStateOf(error);
  if (state === undefined) {
    const code = (error as { code?: unknown } | null)?.code;
    const why = typeof code === 'string' ? code : isTimeout(error) ? 'timeout' : 'connection lost';
    return new HealthError(unreachable, `Postgres at ${address.text} cannot be reached (${why}).`, {
      cause: error,
      hint: 'Check that it runs and that its address is right.',
    });
  }
  const cause = withoutValues(error, state);
  if (state === '53100') {
    return new HealthError('STORE_FULL', `The disk of Postgres at ${address.text} is full (SQL state 53100).`, {
      cause,
      hint: 'Free space; Postgres may need to be started again. Nothing that was acknowledged is lost.',
    });
  }
  if (/^(?:3F000|42P01|42883|42703|42704)$/.test(state)) {
    return new HealthError('SCHEMA_VERSION', `The schema temporal_health at ${address.text} is missing or not whole.`, {
      cause,
      hint: 'Run: temporal-health migrate',
    });
  }
  const text = `Postgres at ${address.text} ${complaint(state)} (SQL state ${state}).`;
  const mend = MENDED_BY_THE_OPERATOR.find(([states]) => states.test(state));
  if (mend === undefined) return new HealthError(unreachable, text, { cause });
  const [, code, hint] = mend;
  return new HealthError(code, text, { cause, hint });
}

/** What no waiting cures: whoever starts is told at once, instead of taking the store for one that is away. */
const MENDED_BY_THE_OPERATOR: readonly (readonly [states: RegExp, code: ErrorCode, hint: string])[] = [
  [/^28/, 'NOT_ALLOWED', 'Check the user and the password of TEMPORAL_HEALTH_DATABASE_URL.'],
  [/^42501$/, 'NOT_ALLOWED', 'Grant this role what it needs in the schema temporal_health, or use another role.'],
  [/^3D000$/, 'CONFIG_MISSING', 'Create the database, or correct its name in TEMPORAL_HEALTH_DATABASE_URL.'],
];

function isTimeout(error: unknown): boolean {
  return error instanceof Error && /timeout/i.test(error.message);
}

function complaint(state: string): string {
  if (state.startsWith('28')) return 'refused the login';
  if (state === '3D000') return 'has no such database';
  if (state === '42501') return 'does not allow this';
  if (state === '53300') return 'has no connection left';
  if (state === '57014') return 'took too long';
  return 'could not do it';
}
