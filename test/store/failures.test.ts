import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { addressOf, failureOf, isPassing, isRefusal, refusedBy } from '../../receipts/postgres/failures.ts';

const address = addressOf('postgres://health:hunter2@db.example:6543/receipts');

/** As Postgres sends one: its texts repeat the values of the row at fault. */
function sent(code: string): pg.DatabaseError {
  const error = new pg.DatabaseError('value "hunter2" is wrong', 1, 'error');
  return Object.assign(error, { code, detail: 'Failing row contains (hunter2).', where: 'hunter2', table: 'receipts' });
}

const shown = (error: Error): string => JSON.stringify([error.message, error, String(error.cause)]);

describe('a failure of Postgres', () => {
  it.each([
    ['53100', 'STORE_FULL', /disk.*full/],
    ['57P01', 'STORE_UNAVAILABLE', /57P01/],
    ['57014', 'STORE_UNAVAILABLE', /took too long/],
    ['53300', 'STORE_UNAVAILABLE', /no connection left/],
    ['40P01', 'STORE_UNAVAILABLE', /40P01/],
    ['28P01', 'NOT_ALLOWED', /refused the login/],
    ['28000', 'NOT_ALLOWED', /refused the login/],
    ['3D000', 'CONFIG_MISSING', /no such database/],
    ['42501', 'NOT_ALLOWED', /does not allow/],
    ['42P01', 'SCHEMA_VERSION', /missing or not whole/],
  ])('%s is %s, with the host and no values', (state, code, message) => {
    const failure = failureOf(sent(state), address);
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) as string });
    expect(failure.message).toContain('db.example:6543');
    expect(shown(failure)).not.toContain('hunter2');
  });

  it('that is no answer at all says why, and keeps the cause', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    expect(failureOf(refused, address)).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: 'Postgres at db.example:6543/receipts cannot be reached (ECONNREFUSED).',
      cause: refused,
    });
    expect(failureOf(new Error('Query read timeout'), address, 'DB_UNREACHABLE')).toMatchObject({
      code: 'DB_UNREACHABLE',
      message: expect.stringContaining('(timeout)') as string,
    });
    expect(failureOf(null, address).message).toContain('connection lost');
  });

  it('that is ours already stays as it is', () => {
    const ours = failureOf(sent('53100'), address);
    expect(failureOf(ours, address)).toBe(ours);
  });

  it.each([
    ['22P05', 'RECEIPT_TEXT'],
    ['22003', 'RECEIPT_NUMBER'],
    ['54000', 'RECEIPT_TOO_LARGE'],
    ['22P02', 'RECEIPT_INVALID'],
  ])('%s is the fault of one receipt: %s', (state, code) => {
    expect(isRefusal(sent(state))).toBe(true);
    const refusal = refusedBy(sent(state));
    expect(refusal.code).toBe(code);
    expect(shown(refusal)).not.toContain('hunter2');
  });

  it('tells what passes by itself from what does not', () => {
    expect(['40P01', '40001', '55P03', '53300'].map((state) => isPassing(sent(state)))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect([sent('53100'), sent('22P02'), new Error('lost'), null].map(isPassing)).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect([sent('53100'), new Error('lost'), null].map(isRefusal)).toEqual([false, false, false]);
  });
});
