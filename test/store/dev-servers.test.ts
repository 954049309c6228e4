import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freshDatabase, privatePostgres } from '../support/servers.ts';

async function tables(url: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<{ relname: string }>(`select relname from pg_class where relname like 'mark%'`)).rows;
  } finally {
    await client.end();
  }
}

describe('the servers of the tests', () => {
  it('gives each caller a database of its own, and a copy of a template on demand', async () => {
    const one = await freshDatabase();
    onTestFinished(() => one.drop());
    const client = new pg.Client({ connectionString: one.url });
    await client.connect();
    await client.query('create table mark (n int)');
    await client.end();
    const empty = await freshDatabase();
    onTestFinished(() => empty.drop());
    const copy = await freshDatabase({ template: one.name });
    onTestFinished(() => copy.drop());
    expect(await tables(empty.url)).toEqual([]);
    expect(await tables(copy.url)).toEqual([{ relname: 'mark' }]);
  });

  it('drops a database that somebody is still connected to', async () => {
    const database = await freshDatabase();
    const client = new pg.Client({ connectionString: database.url });
    const cut = new Promise<Error>((resolve) => client.on('error', resolve));
    await client.connect();
    await database.drop();
    expect((await cut).message).toMatch(/terminating connection/);
    await expect(tables(database.url)).rejects.toMatchObject({ code: '3D000' });
  });

  it('starts a killed private server again at the same address with the same data', async () => {
    const server = await privatePostgres();
    onTestFinished(() => server.discard());
    const client = new pg.Client({ connectionString: server.url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('create table mark (n int)');
    await server.kill();
    await expect(tables(server.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await server.restart();
    expect(await tables(server.url)).toEqual([{ relname: 'mark' }]);
  });
});
