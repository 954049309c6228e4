import { afterAll, beforeAll } from 'vitest';
import { migrate, openPostgresStore } from '../../receipts/postgres/index.ts';
import { freshDatabase } from '../support/servers.ts';
import type { FreshDatabase } from '../support/servers.ts';
import { describeStore } from './conformance.ts';

let database: FreshDatabase;

beforeAll(async () => {
  database = await freshDatabase();
  await migrate(database.url);
});
afterAll(() => database.drop());

describeStore('the Postgres store', (clusterId) => openPostgresStore({ url: database.url, clusterId }));
