import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { checks, rowLocation, sqlVersion } from '../../receipts/checks/index.ts';
import type { SqlVersionOptions } from '../../receipts/checks/index.ts';
import type { CheckFinding, CheckRequest } from '../../receipts/contract.ts';
import { freshDatabase } from '../support/servers.ts';
import type { FreshDatabase } from '../support/servers.ts';

const VARIABLE = 'CHECKED_DATABASE_URL';
let database: FreshDatabase;
let owner: pg.Client;

beforeAll(async () => {
  database = await freshDatabase();
  owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
  await owner.query(`
    create table orders (id bigint, version int, at timestamptz, local timestamp, tag text, share numeric, doc json);
    insert into orders values (7, 3, '2026-03-01T12:00:00.5Z', '2026-03-01 12:00', 'v9', 1.50, '{}'),
      (8, null, 'infinity', null, null, 'NaN', null), (9, 1, null, null, null, null, null), (9, 2, null, null, null, null, null);
    create schema "Odd ""schema";
    create table "Odd ""schema"."drop table orders; --" ("a key" text, "v'1" int);
    insert into "Odd ""schema"."drop table orders; --" values ('it''s; $1', 4);
    create function touched() returns int language sql volatile as 'delete from orders returning 1';
    create view writing as select 7 as id, touched() as version;`);
  vi.stubEnv(VARIABLE, database.url);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await owner.end();
  await database.drop();
});

const ORDERS = { connectionVariable: VARIABLE, table: 'orders', keyColumn: 'id', versionColumn: 'version' };

function found(
  location: string,
  options: Partial<SqlVersionOptions> = {},
  more: Partial<CheckRequest> = {},
): Promise<CheckFinding> {
  const run = { workflowId: 'w', runId: 'r', deliverable: 'row', minimumBytes: 1, options: {} };
  return sqlVersion({ ...ORDERS, ...options }).run({ ...run, location, ...more });
}

describe('a row with its version', () => {
  it.each([
    ['its own version', rowLocation(7, 3), {}],
    ['a later one than promised', rowLocation(7, 2), {}],
    ['exactly the promised one', rowLocation(7, 3), { compare: 'equal' }],
    ['promised by the contract', '7', { version: 3 }],
    ['key and version by the contract', '7', { key: 7, version: '3' }],
  ] as const)('passes: %s', async (_what, location, options) => {
    expect(await found(location, options)).toEqual({ result: 'pass', subject: { version: '3' } });
  });

  it('fails where it is lower, different, missing or null, and says which version is there', async () => {
    expect(await found(rowLocation(7, 4))).toEqual({
      result: 'fail',
      cause: 'version-lower',
      subject: { version: '3' },
    });
    expect(await found(rowLocation(7, 2), { compare: 'equal' })).toMatchObject({
      result: 'fail',
      cause: 'version-differs',
    });
    expect(await found(rowLocation(70, 3))).toEqual({ result: 'fail', cause: 'row-missing' });
    expect(await found(rowLocation(8, 3))).toEqual({ result: 'fail', cause: 'version-null' });
  });

  it('10 is more than 9, for numbers; text has no order that could say so', async () => {
    await owner.query("insert into orders (id, version, tag) values (10, 10, '10')");
    expect(await found(rowLocation(10, 9))).toMatchObject({ result: 'pass' });
    const text = { versionColumn: 'tag' };
    expect(await found(rowLocation(10, '9'), text)).toEqual({ result: 'unread', cause: 'version-not-ordered' });
    expect(await found(rowLocation(10, '10'), { ...text, compare: 'equal' })).toMatchObject({ result: 'pass' });
    // A text that was not promised may hold anything: it is not shown.
    expect(await found(rowLocation(7, 'v8'), { ...text, compare: 'equal' })).toEqual({
      result: 'fail',
      cause: 'version-differs',
    });
    expect(await found(rowLocation(7, '{}'), { versionColumn: 'doc', compare: 'equal' })).toMatchObject({
      result: 'unread',
    });
  });

  it('times are compared as moments, whatever zone they are written in', async () => {
    const at = { versionColumn: 'at' };
    expect(await found(rowLocation(7, '2026-03-01T12:00:00Z'), at)).toMatchObject({ result: 'pass' });
    expect(await found(rowLocation(7, '2026-03-01T14:00:00+02:00'), at)).toMatchObject({ result: 'pass' });
    expect(await found(rowLocation(7, '2026-03-01T13:00:00Z'), at)).toMatchObject({ cause: 'version-lower' });
    const local = { versionColumn: 'local' };
    expect(await found(rowLocation(7, '2026-03-01T12:00:00Z'), local)).toMatchObject({ result: 'pass' });
    expect(await found(rowLocation(7, '2026-03-01'), local)).toMatchObject({ result: 'pass' });
    expect(await found(rowLocation(7, '2026-03-01T12:00:00+02:00'), local)).toEqual({
      result: 'fail',
      cause: 'bad-value',
    });
  });

  it('what is greater than everything is no version, and what changes by the day is no promise', async () => {
    expect(await found(rowLocation(8, '5'), { versionColumn: 'share' })).toMatchObject({ cause: 'version-not-finite' });
    expect(await found(rowLocation(8, '2026-01-01'), { versionColumn: 'at' })).toMatchObject({
      cause: 'version-not-finite',
    });
    for (const promised of ['-infinity', 'yesterday', 'epoch']) {
      expect(await found(rowLocation(7, promised), { versionColumn: 'at' }), promised).toEqual({
        result: 'fail',
        cause: 'bad-value',
      });
    }
  });

  it('two rows under one key: nobody knows which was promised', async () => {
    expect(await found(rowLocation(9, 1))).toEqual({ result: 'unread', cause: 'key-not-unique' });
  });
});

describe('names and values cannot become SQL', () => {
  const odd = {
    ...{ schema: 'Odd "schema', table: 'drop table orders; --', keyColumn: 'a key' },
    versionColumn: "v'1",
  };

  it('odd names are quoted, odd keys are parameters', async () => {
    expect(await found(rowLocation("it's; $1", 4), odd)).toMatchObject({ result: 'pass' });
    const tried = ["7' or '1'='1", '7; drop table orders', '7)--', '7\0'];
    for (const key of tried)
      expect(await found(rowLocation(key, 1)), key).toEqual({ result: 'fail', cause: 'bad-value' });
    expect(await found(rowLocation(7, "1' or true --"))).toEqual({ result: 'fail', cause: 'bad-value' });
    expect(await found(rowLocation('99999999999999999999', 1))).toEqual({ result: 'fail', cause: 'bad-value' });
    expect((await owner.query('select from orders where id = 7')).rowCount).toBe(1);
  });

  it('nothing is written, not even by a view that would', async () => {
    expect(await found(rowLocation(7, 1), { table: 'writing' })).toMatchObject({ result: 'unread' });
    expect((await owner.query('select from orders where id = 7')).rowCount).toBe(1);
  });

  it('a location cannot lower what the contract asks', async () => {
    expect(await found(rowLocation(7, 1), { version: 4 })).toEqual({ result: 'fail', cause: 'other-version' });
    expect(await found('8', { key: 7, version: 3 })).toEqual({ result: 'fail', cause: 'other-destination' });
    expect(await found('7')).toEqual({ result: 'unread', cause: 'nothing-promised' });
    expect(await found('#version=3')).toEqual({ result: 'fail', cause: 'bad-location' });
    expect(await found('7#version=')).toEqual({ result: 'fail', cause: 'bad-location' });
    expect(await found('7#version=%zz')).toEqual({ result: 'fail', cause: 'bad-location' });
  });
});

describe('a table that cannot be read says nothing', () => {
  it('no address, one that is none, nobody there, another database, no such table or column', async () => {
    const at = async (url: string): Promise<CheckFinding> => {
      vi.stubEnv('OTHER_DATABASE_URL', url);
      return found(rowLocation(7, 3), { connectionVariable: 'OTHER_DATABASE_URL' });
    };
    const unread = (cause: string) => ({ result: 'unread', cause });
    expect(await at('')).toEqual(unread('connection-not-configured'));
    expect(await at('mysql://root@127.0.0.1/x')).toEqual(unread('connection-not-configured'));
    expect(await at('postgres://x@127.0.0.1:1/x')).toEqual(unread('connection-refused'));
    const other = new URL(database.url);
    other.pathname = '/no_such_database';
    expect(await at(other.href)).toEqual(unread('database-missing'));
    expect(await found(rowLocation(7, 3), { connectionVariable: 'NEVER_SET' })).toEqual(
      unread('connection-not-configured'),
    );
    expect(await found(rowLocation(7, 3), { table: 'gone' })).toEqual(unread('table-missing'));
    expect(await found(rowLocation(7, 3), { schema: 'gone' })).toEqual(unread('table-missing'));
    expect(await found(rowLocation(7, 3), { versionColumn: 'gone' })).toEqual(unread('column-missing'));
  });

  it('a role without permission, and rows that it may not see', async () => {
    const role = `reader_${database.name}`;
    await owner.query(`create role ${role} login password 'reads'; create table guarded as select 7 as id, 3 as version;
      alter table guarded enable row level security`);
    onTestFinished(async () => {
      await owner.query(`drop owned by ${role}; drop role ${role}`);
    });
    const url = new URL(database.url);
    url.username = role;
    url.password = 'reads';
    vi.stubEnv('READER_DATABASE_URL', url.href);
    const reader = { connectionVariable: 'READER_DATABASE_URL', table: 'guarded' };
    expect(await found(rowLocation(7, 3), reader)).toEqual({ result: 'unread', cause: 'permission' });
    await owner.query(`grant select on guarded to ${role}`);
    // The row is there, and no policy shows it: that must not look like a row that is missing.
    expect(await found(rowLocation(7, 3), reader)).toEqual({ result: 'unread', cause: 'permission' });
    await owner.query('alter table guarded disable row level security');
    expect(await found(rowLocation(7, 3), reader)).toMatchObject({ result: 'pass' });
  });

  it('a locked table, a server that hangs, a check that is stopped', async () => {
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    onTestFinished(() => holder.end());
    await holder.query('create table held as select 7 as id, 3 as version');
    await holder.query('begin; lock table held in access exclusive mode');
    const held = await found(rowLocation(7, 3), { table: 'held', timeoutMs: 300 });
    expect(held.result).toBe('unread');
    expect(['locked', 'timeout']).toContain(held.cause);
    const stop = new AbortController();
    const looking = found(rowLocation(7, 3), { table: 'held' }, { signal: stop.signal });
    await vi.waitFor(async () => {
      const { rowCount } = await owner.query(`select from pg_locks where not granted and relation = 'held'::regclass`);
      expect(rowCount).toBe(1);
    }, 10_000);
    stop.abort();
    expect(await looking).toEqual({ result: 'unread', cause: 'stopped' });

    const silent = createServer(() => undefined);
    await new Promise<void>((ready) => silent.listen(0, '127.0.0.1', ready));
    onTestFinished(() => void silent.close());
    vi.stubEnv('SILENT_DATABASE_URL', `postgres://x@127.0.0.1:${(silent.address() as AddressInfo).port}/x`);
    const options = { connectionVariable: 'SILENT_DATABASE_URL', timeoutMs: 300 };
    expect(await found(rowLocation(7, 3), options)).toEqual({ result: 'unread', cause: 'timeout' });
  });
});

describe('its options', () => {
  it.each([
    [{ table: undefined }, 'table'],
    [{ table: 'x'.repeat(64) }, 'table'],
    [{ table: 'a\0b' }, 'table'],
    [{ keyColumn: '' }, 'keyColumn'],
    [{ versionColumn: 7 }, 'versionColumn'],
    [{ connectionVariable: undefined }, 'connectionVariable'],
    [{ connectionVariable: 'postgres://root@db/x' }, 'connectionVariable'],
    [{ compare: 'greater' }, 'compare'],
    [{ version: Number.NaN }, 'version'],
    [{ key: {} }, 'key'],
    [{ timeoutMs: 0 }, 'timeoutMs'],
    [{ url: 'postgres://root@db/x' }, 'url'],
  ])('%j are refused, and unread where a contract holds them', async (wrong, field) => {
    const options = { ...ORDERS, ...wrong } as unknown as SqlVersionOptions;
    expect(() => sqlVersion(options)).toThrow(expect.objectContaining({ code: 'CONTRACT_INVALID', field }) as Error);
    const request = { workflowId: 'w', runId: 'r', deliverable: 'row', location: rowLocation(7, 3), minimumBytes: 1 };
    expect(await checks['sql-version']!.run({ ...request, options: { ...options } })).toEqual({
      result: 'unread',
      cause: 'bad-options',
    });
  });

  it('are found again by name, as the command does', async () => {
    const { name, options } = sqlVersion(ORDERS);
    const request = { workflowId: 'w', runId: 'r', deliverable: 'row', minimumBytes: 1 };
    expect(await checks[name]!.run({ ...request, location: rowLocation(7, 3), options })).toMatchObject({
      result: 'pass',
    });
    expect(JSON.stringify(options)).not.toContain('postgres://');
  });
});
