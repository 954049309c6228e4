/** What must hold for any receipts in any order. A failure prints the seed to run it again with. */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Receipt } from '../../receipts/envelope.ts';
import { createMemoryStore } from '../../receipts/memory-store.ts';
import { migrate, openPostgresStore } from '../../receipts/postgres/index.ts';
import type { ReceiptStore } from '../../receipts/store.ts';
import { freshDatabase } from '../support/servers.ts';
import type { FreshDatabase } from '../support/servers.ts';
import { chainScript, delivery, orderlyDelivery, withoutTaking, withUsurpers } from './arbitrary-receipts.ts';
import { Emitter, outcomesOf, rowAndFold, someRun } from './given-receipts.ts';
import type { Identity } from './given-receipts.ts';

const clusterId = 'c1';
let database: FreshDatabase;
let store: ReceiptStore;

beforeAll(async () => {
  database = await freshDatabase();
  await migrate(database.url);
  store = openPostgresStore({ url: database.url, clusterId });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

/** A memory store whose clock moves with every look, as a real one does between two statements. */
function memoryStore(): ReceiptStore {
  let nowMs = 1_000_000;
  return createMemoryStore({ clusterId, nowMs: () => (nowMs += 1) });
}

async function deliver(to: ReceiptStore, lists: readonly (readonly Receipt[])[]): Promise<readonly string[][]> {
  const outcomes: string[][] = [];
  for (const list of lists) outcomes.push(outcomesOf(await to.emit(list)));
  return outcomes;
}

const chain = ({ namespace, workflowId, chainId }: Identity) => ({ namespace, workflowId, runId: chainId });

describe('for receipts of any chain', () => {
  it('delivered in any order, some twice, some under the id of another: Postgres, the fold and the memory store agree', async () => {
    const cases = chainScript(clusterId)
      .chain(withUsurpers)
      .chain((script) => delivery(script).map((lists) => ({ run: script.run, lists, all: script.emitters.flat(2) })));
    await fc.assert(
      fc.asyncProperty(cases, async ({ run, lists, all }) => {
        const memory = memoryStore();
        const outcomes = await deliver(store, lists);
        expect(outcomes).toEqual(await deliver(memory, lists));
        for (const one of [store, memory]) {
          const { row, folded } = await rowAndFold(one, run);
          expect(row).toEqual(folded);
          expect(row?.receiptCount).toBe(new Set(all.map(({ receiptId }) => receiptId)).size);
        }
        expect(withoutTaking(await store.readChain(chain(run)))).toEqual(
          withoutTaking(await memory.readChain(chain(run))),
        );
      }),
      { numRuns: 40, endOnFailure: true },
    );
  });

  it('delivered in any order without a late one: the same state', async () => {
    const cases = chainScript(clusterId).chain((script) =>
      fc.tuple(orderlyDelivery(script), orderlyDelivery(script)).map((orders) => ({ run: script.run, orders })),
    );
    await fc.assert(
      fc.asyncProperty(cases, async ({ run, orders }) => {
        const rows = await Promise.all(
          orders.map(async (order) => {
            const memory = memoryStore();
            await deliver(
              memory,
              order.map((receipt) => [receipt]),
            );
            const row = await memory.readChain(chain(run));
            expect(row?.state.late.count).toBe(0);
            return row?.state;
          }),
        );
        expect(rows[0]).toEqual(rows[1]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('six writers on fifty chains, in no order', () => {
  it('never wait for each other, and every row is what its receipts fold to', async () => {
    const runs = Array.from({ length: 50 }, () => someRun(clusterId));
    const writers = Array.from({ length: 6 }, () => openPostgresStore({ url: database.url, clusterId, poolSize: 1 }));
    // Two fences of the same emitters from different writers at once: some come late, and which ones is left to chance.
    const emitters = writers.map((_, writer) =>
      runs.map((run) => new Emitter(run, { emitter: `e${String(writer % 3)}`, fence: 100 + writer })),
    );
    let emitted = 0;
    try {
      await Promise.all(
        writers.map(async (writer, index) => {
          for (let round = 0; round < 8; round += 1) {
            const receipts = fc
              .sample(fc.shuffledSubarray(emitters[index]!, { minLength: 30, maxLength: 30 }), 1)[0]!
              .flatMap((emitter, place) => [
                emitter.progress({ digest: `${String(index)}/${String(round)}` }),
                ...(place % 3 === 0 ? [emitter.effect({ operationId: `op-${String(place % 2)}` })] : []),
                ...(place % 5 === 0 ? [emitter.wait({ resumeToken: `t-${String(place % 2)}` })] : []),
                ...(place % 7 === 0 ? [emitter.deliverable()] : []),
              ]);
            emitted += receipts.length;
            const outcomes = await writer.emit(receipts);
            expect(outcomes.every(({ outcome }) => outcome === 'stored' || outcome === 'late')).toBe(true);
          }
        }),
      );
    } finally {
      await Promise.all(writers.map((writer) => writer.close()));
    }
    const rows = await Promise.all(runs.map((run) => rowAndFold(store, run)));
    for (const { row, folded } of rows) expect(row).toEqual(folded);
    expect(rows.reduce((sum, { row }) => sum + (row?.receiptCount ?? 0), 0)).toBe(emitted);
    expect(await deadlocks()).toBe(0);
  });
});

/** Deadlocks that Postgres has seen in this database; the store retries them, so only the server tells. */
async function deadlocks(): Promise<number> {
  const client = new pg.Client({ connectionString: database.url, query_timeout: 10_000 });
  await client.connect();
  try {
    const text = 'select deadlocks::int from pg_stat_database where datname = current_database()';
    return (await client.query<{ deadlocks: number }>(text)).rows[0]?.deadlocks ?? -1;
  } finally {
    await client.end();
  }
}
