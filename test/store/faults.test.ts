/** What the store keeps and what it says when Postgres dies, hangs, or answers into the void. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { childrenOf, signal } from '../../bin/dev/processes.ts';
import type { Receipt } from '../../receipts/envelope.ts';
import { createGroupCommit } from '../../receipts/group-commit.ts';
import { migrate, openPostgresStore } from '../../receipts/postgres/index.ts';
import type { PostgresStoreOptions } from '../../receipts/postgres/index.ts';
import type { ReceiptStore } from '../../receipts/store.ts';
import { privatePostgres } from '../support/servers.ts';
import type { PrivatePostgres } from '../support/servers.ts';
import { chainOf, Emitter, outcomesOf, rowAndFold, someRun } from './given-receipts.ts';

const clusterId = 'c1';
let server: PrivatePostgres;

beforeAll(async () => {
  server = await privatePostgres();
  await migrate(server.url);
});
afterAll(() => server.discard());

function open(over: Partial<PostgresStoreOptions> = {}): ReceiptStore {
  const store = openPostgresStore({ url: server.url, clusterId, queryTimeoutMs: 20_000, ...over });
  onTestFinished(() => store.close());
  return store;
}

async function ask(text: string): Promise<Record<string, unknown> | undefined> {
  const client = new pg.Client({ connectionString: server.url, query_timeout: 60_000 });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows[0];
  } finally {
    await client.end();
  }
}

describe('Postgres killed with SIGKILL under load', () => {
  it('has every acknowledged receipt afterwards, none twice, and states that add up to the receipts', async () => {
    const store = open();
    const commit = createGroupCommit(store);
    const runs = Array.from({ length: 8 }, () => someRun(clusterId));
    const acknowledged = new Set<string>();
    const failures: string[] = [];
    let kills = 0;
    let ackedSinceKill = 0;
    let back = Promise.resolve();
    const work = async (emitter: Emitter): Promise<void> => {
      while (kills < 2 || ackedSinceKill < 150) {
        const receipt = emitter.progress();
        // The same receipt again and again until it is stored, as the recorder does.
        for (let stored = false; !stored;) {
          try {
            const { outcome } = await commit.submit(receipt, { linger: false });
            expect(['stored', 'repeat']).toContain(outcome);
            acknowledged.add(receipt.receiptId);
            ackedSinceKill += 1;
            stored = true;
          } catch (error) {
            failures.push((error as { code: string }).code);
            await back;
          }
        }
      }
    };
    const kill = async (): Promise<void> => {
      await expect.poll(() => ackedSinceKill, { interval: 5, timeout: 50_000 }).toBeGreaterThan(150);
      await server.kill();
      back = server.restart();
      await back;
      kills += 1;
      ackedSinceKill = 0;
    };
    const killing = kill().then(kill);
    await Promise.all([...runs.map((run) => work(new Emitter(run, { emitter: 'a1' }))), killing]);

    expect(new Set(failures)).toEqual(new Set(['STORE_UNAVAILABLE']));
    const kept = new Set<string>();
    let total = 0;
    for (const run of runs) {
      const receipts = await store.readReceipts(chainOf(run), 100_000);
      for (const { receiptId } of receipts) kept.add(receiptId);
      const { row, folded } = await rowAndFold(store, run);
      expect(row).toEqual(folded);
      expect(row?.state.emitterGaps).toEqual({});
      expect(receipts).toHaveLength(row?.receiptCount ?? -1);
      total += receipts.length;
    }
    expect([...acknowledged].filter((id) => !kept.has(id))).toEqual([]);
    expect(kept.size).toBe(total);
  });
});

describe('Postgres that does not answer', () => {
  it('is told apart by our own time limit, and has the receipt once when it goes on', async () => {
    const store = open({ queryTimeoutMs: 1_000 });
    const run = someRun(clusterId);
    const emitter = new Emitter(run);
    await store.emit([emitter.progress()]);
    const family = [server.pid(), ...childrenOf(server.pid())];
    const receipt = emitter.progress();
    for (const pid of family) signal(pid, 'SIGSTOP');
    try {
      await expect(store.emit([receipt])).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringContaining('timeout') as string,
      });
    } finally {
      for (const pid of family) signal(pid, 'SIGCONT');
    }
    const patient = open();
    expect(['stored', 'repeat']).toContain(outcomesOf(await patient.emit([receipt]))[0]);
    expect((await rowAndFold(patient, run)).row?.receiptCount).toBe(2);
  });

  it('need not be there when the store is opened', async () => {
    const store = open();
    const receipt = new Emitter(someRun(clusterId)).progress();
    await server.stop();
    const before = Date.now();
    expect(store.nowMs()).toBeGreaterThanOrEqual(before);
    await expect(store.emit([receipt])).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining(new URL(server.url).host) as string,
    });
    await server.restart();
    expect(outcomesOf(await store.emit([receipt]))).toEqual(['stored']);
  });
});

/** Passes bytes on in both directions, until it is told to swallow the answers and then to hang up. */
async function deafProxy(): Promise<{ url: string; swallow: () => Promise<void> }> {
  const target = new URL(server.url);
  const sockets = new Set<Socket>();
  let onAnswer: (() => void) | null = null;
  const proxy = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    near.on('data', (bytes) => far.write(bytes));
    far.on('data', (bytes) => {
      if (onAnswer === null) near.write(bytes);
      else {
        onAnswer();
        near.destroy();
        far.destroy();
      }
    });
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const url = new URL(server.url);
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.toString(),
    swallow: () =>
      new Promise((done) => {
        onAnswer = () => {
          onAnswer = null;
          done();
        };
      }),
  };
}

const CLIENT = fileURLToPath(new URL('./client-process.ts', import.meta.url));

/** Resolves when it has met the store. */
async function startClient(what: 'emit' | 'close', receipts: readonly Receipt[] = []): Promise<ChildProcess> {
  const args = ['--import', 'tsx', CLIENT, server.url, what, JSON.stringify(receipts)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

describe('a client that is killed in the middle of an insert', () => {
  it.each(['the server goes on with it', 'the server gives it up'])(
    'has stored nothing before the commit, and the same receipt again is one row: %s',
    async (then) => {
      const store = open();
      const run = someRun(clusterId);
      const emitter = new Emitter(run);
      await store.emit([emitter.progress()]);
      const receipt = emitter.progress();
      // Whoever holds the chain's row keeps the statement from its end: the receipt is inserted and not committed.
      const holder = new pg.Client({ connectionString: server.url });
      await holder.connect();
      onTestFinished(() => holder.end());
      await holder.query('begin');
      await holder.query('select from temporal_health.chains where workflow_id = $1 for update', [run.workflowId]);
      const client = await startClient('emit', [receipt]);
      const blocked = `select pid from pg_stat_activity
        where wait_event_type = 'Lock' and application_name = 'temporal-health'`;
      await expect.poll(() => ask(blocked)).toBeDefined();
      const gone = once(client, 'exit');
      client.kill('SIGKILL');
      await gone;
      expect(await store.readReceipt(receipt.receiptId)).toBeNull();
      if (then === 'the server gives it up') {
        await ask(`select pg_terminate_backend(pid) from (${blocked}) as b`);
        await expect.poll(() => ask(blocked)).toBeUndefined();
      }
      const again = store.emit([receipt]);
      await holder.query('commit');
      expect(outcomesOf(await again)).toEqual([then === 'the server gives it up' ? 'stored' : 'repeat']);
      const { row, folded } = await rowAndFold(store, run);
      expect(row).toEqual(folded);
      expect(row).toMatchObject({ receiptCount: 2, evidenceVersion: 2 });
    },
  );
});

describe('a process that takes leave of a server that hangs', () => {
  it('ends: an idle connection does not hold it', async () => {
    const client = await startClient('close');
    const family = [server.pid(), ...childrenOf(server.pid())];
    for (const pid of family) signal(pid, 'SIGSTOP');
    try {
      const gone = once(client, 'exit');
      client.stdin?.write('now');
      expect(await gone).toEqual([0, null]);
    } finally {
      for (const pid of family) signal(pid, 'SIGCONT');
    }
  });
});

describe('an answer that is lost after the commit', () => {
  it('is STORE_UNAVAILABLE, and the same receipt again is a repeat: one row, one change', async () => {
    const { url, swallow } = await deafProxy();
    const store = open({ url, poolSize: 1 });
    const run = someRun(clusterId);
    const emitter = new Emitter(run);
    await store.emit([emitter.progress()]);
    const batch: Receipt[] = [emitter.progress(), emitter.effect()];
    const swallowed = swallow();
    await expect(store.emit(batch)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await swallowed;
    expect(outcomesOf(await store.emit(batch))).toEqual(['repeat', 'repeat']);
    const { row, folded } = await rowAndFold(store, run);
    expect(row).toEqual(folded);
    expect(row).toMatchObject({ receiptCount: 3, evidenceVersion: 3 });
  });
});

describe('a server that may lose what it acknowledges', () => {
  it.each(['synchronous_commit', 'fsync', 'full_page_writes'])(
    'is refused with %s off, unless that is allowed',
    async (name) => {
      const perServer = name !== 'synchronous_commit';
      await ask(perServer ? `alter system set ${name} = off` : `alter database postgres set ${name} = off`);
      if (perServer) await ask('select pg_reload_conf()');
      try {
        const receipt = new Emitter(someRun(clusterId)).progress();
        await expect
          .poll(() =>
            open()
              .emit([receipt])
              .catch((error: unknown) => error),
          )
          .toMatchObject({ code: 'STORE_SETTINGS', message: expect.stringContaining(`${name} is off`) as string });
        expect(outcomesOf(await open({ allowUnsafeSettings: true }).emit([receipt]))[0]).toMatch(/stored|repeat/);
      } finally {
        await ask(perServer ? `alter system reset ${name}` : `alter database postgres reset ${name}`);
        if (perServer) await ask('select pg_reload_conf()');
      }
    },
  );
});

describe('a receipt that Postgres itself refuses', () => {
  it('is refused alone, and says which SQL state it was', async () => {
    const store = open();
    const run = someRun(clusterId);
    const emitter = new Emitter(run);
    const good = Array.from({ length: 7 }, () => emitter.progress());
    const bad = [
      { ...good[0]!, receiptId: 'no uuid' },
      emitter.progress({ note: 'a \u0000 byte' }),
      emitter.progress({}, { attempt: 2 ** 40 }),
    ] as Receipt[];
    const outcomes = await store.emit([...good.slice(0, 3), ...bad, ...good.slice(3)]);
    expect(outcomesOf(outcomes)).toEqual([
      ...['stored', 'stored', 'stored'],
      ...['RECEIPT_INVALID', 'RECEIPT_TEXT', 'RECEIPT_NUMBER'],
      ...['stored', 'stored', 'stored', 'stored'],
    ]);
    const errors = outcomes.map((one) => (one.outcome === 'refused' ? [one.error, String(one.error.cause)] : null));
    expect(JSON.stringify(errors)).not.toContain('no uuid');
    expect((await rowAndFold(store, run)).row?.receiptCount).toBe(7);
  });
});
