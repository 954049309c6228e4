/**
 * What it costs to store a receipt durably and keep all state from it. Variants, one after the other in each round, in an
 * order that turns:
 *
 *   ours 50    50 emitters, each awaits every receipt, through the worker's group commit
 *   single 50  the same 50 emitters, one awaited emit statement a receipt, a pool of ten connections
 *   by hand    emit statements of as many receipts as the group commit made of them, two connections
 *   bare       the same batches into a table that keeps no state
 *   ours 1     one emitter through the group commit
 *   bare 1     one emitter, one plain insert a receipt, no state
 *
 * Each variant has a database of its own on one server, begins with the same fleet in the middle of its work, and makes and
 * checks its receipts the same way (`receipt-script.ts`).
 */
import { ensureDatabase } from '../bin/dev/postgres.ts';
import { createGroupCommit } from '../receipts/group-commit.ts';
import { migrate, openPostgresStore } from '../receipts/postgres/index.ts';
import type { ReceiptStore } from '../receipts/store.ts';
import { familyCpuMs, ownCpuMs } from './cpu-time.ts';
import { BARE_TABLE, connect, emitByHand, insertBare, poolOf } from './raw-statements.ts';
import { Fleet, FLEET } from './receipt-script.ts';
import type { BenchOptions, BenchReport, Correctness } from './report.ts';
import { benchPostgres } from './servers.ts';
import type { BenchServer } from './servers.ts';
import { figure, medianOf, quantileOf, ratiosOf, showSpread, spreadOf } from './spread.ts';

const EMITTERS = 50;
const POOL_SIZE = 10;
const BY_HAND_CONNECTIONS = 2;
/** A round is so many times this long for each variant. */
const SLICE_MS = 500;
const PASSES = 4;
const WARM_UP_RECEIPTS = 4_000;
const WARM_UP_LIMIT_MS = 8_000;
const { clusterId } = FLEET;

/** One emitter's step: makes receipts, has them stored, and answers how many were acknowledged as stored. */
type Emit = (lane: number, batchSize: number) => Promise<number>;

interface Variant {
  readonly name: string;
  /** How many go on at the same time. */
  readonly lanes: number;
  readonly keepsState: boolean;
  readonly emit: Emit;
  readonly count: () => Promise<Counts>;
  readonly close: () => Promise<void>;
  acknowledged: number;
  /** What the template held already. */
  readonly acknowledgedBefore: number;
  /** Statements sent so far, where somebody counts them. */
  readonly statements?: () => number;
  readonly rounds: Measured[];
}

interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly nodeCpuUs: number;
  readonly postgresCpuUs: number;
  readonly batchSize: number;
}

interface Counts {
  readonly receipts: number;
  /** What the chain rows say they were made from; the receipts themselves where no state is kept. */
  readonly inState: number;
}

export async function ingest(options: BenchOptions): Promise<BenchReport> {
  const server = await benchPostgres();
  const variants: Variant[] = [];
  try {
    options.note('a fleet of runs in the middle of its work');
    const bed = await makeBed(server);
    for (const make of [ours50, single50, byHand, bare, ours1, bare1]) variants.push(await make(bed));
    options.note('warming up');
    for (const variant of variants) await warmUp(variant, options, server.pid);
    for (let round = 0; round < options.rounds; round += 1) {
      options.note(`round ${round + 1} of ${options.rounds}`);
      await oneRound(variants, round, options, server.pid);
    }
    return await report(variants);
  } finally {
    for (const variant of variants) await variant.close();
    await server.stop();
  }
}

/** Until the code is compiled and the plans are made, however slow the machine is: short of that Node's share is doubled. */
async function warmUp(variant: Variant, { quick }: BenchOptions, pid: number): Promise<void> {
  const enough = variant.acknowledged + (quick ? 200 : WARM_UP_RECEIPTS);
  const until = performance.now() + WARM_UP_LIMIT_MS;
  while (variant.acknowledged < enough && performance.now() < until) await run(variant, 250, EMITTERS / 2, pid);
}

/** Each variant several times, in an order that turns: a slow second of the machine then meets all of them. */
async function oneRound(
  variants: readonly Variant[],
  round: number,
  { quick }: BenchOptions,
  pid: number,
): Promise<void> {
  const measured = new Map<Variant, Slice[]>();
  for (let pass = 0; pass < PASSES; pass += 1) {
    for (let turn = 0; turn < variants.length; turn += 1) {
      const variant = variants[(turn + pass + round) % variants.length];
      if (variant === undefined) continue;
      const slice = await run(variant, quick ? 150 : SLICE_MS, batchSizeOf(variants), pid);
      measured.set(variant, [...(measured.get(variant) ?? []), slice]);
    }
  }
  for (const [variant, slices] of measured) variant.rounds.push(summed(slices));
}

/** How many receipts the group commit has put into one statement so far: what is done by hand is given as many. */
function batchSizeOf(variants: readonly Variant[]): number {
  const ours = variants[0];
  if (ours?.statements === undefined || ours.statements() === 0) return EMITTERS / 2;
  return Math.max(1, Math.round((ours.acknowledged - ours.acknowledgedBefore) / ours.statements()));
}

interface Slice {
  readonly stored: number;
  readonly statements: number;
  readonly ms: number;
  readonly nodeCpuMs: number;
  readonly postgresCpuMs: number;
  readonly latenciesMs: readonly number[];
}

async function run(variant: Variant, forMs: number, batchSize: number, serverPid: number): Promise<Slice> {
  const before = { postgres: familyCpuMs(serverPid), statements: variant.statements?.() ?? 0 };
  const nodeBefore = ownCpuMs();
  const startedAt = performance.now();
  const latenciesMs: number[] = [];
  let stored = 0;
  const lane = async (_: unknown, at: number): Promise<void> => {
    while (performance.now() - startedAt < forMs) {
      const sentAt = performance.now();
      // Read after the wait: the other lanes add to the sum meanwhile.
      const added = await variant.emit(at, batchSize);
      stored += added;
      latenciesMs.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: variant.lanes }, lane));
  const ms = performance.now() - startedAt;
  const nodeCpuMs = ownCpuMs() - nodeBefore;
  variant.acknowledged += stored;
  const statements = variant.statements === undefined ? latenciesMs.length : variant.statements() - before.statements;
  return { stored, statements, ms, nodeCpuMs, postgresCpuMs: familyCpuMs(serverPid) - before.postgres, latenciesMs };
}

function summed(slices: readonly Slice[]): Measured {
  const sum = (of: (slice: Slice) => number): number => slices.reduce((total, slice) => total + of(slice), 0);
  const stored = sum((slice) => slice.stored);
  const latenciesMs = slices.flatMap((slice) => slice.latenciesMs);
  return {
    perSecond: (stored / sum(({ ms }) => ms)) * 1_000,
    p50Ms: medianOf(latenciesMs),
    p99Ms: quantileOf(latenciesMs, 0.99),
    nodeCpuUs: (sum(({ nodeCpuMs }) => nodeCpuMs) / stored) * 1_000,
    postgresCpuUs: (sum(({ postgresCpuMs }) => postgresCpuMs) / stored) * 1_000,
    batchSize: stored / sum(({ statements }) => statements),
  };
}

/** A server whose template database holds a fleet in the middle of its work, with state and without. */
interface Bed {
  readonly server: BenchServer;
  readonly fleet: Fleet;
  readonly receipts: number;
}

const TEMPLATE = 'fleet';

async function makeBed(server: BenchServer): Promise<Bed> {
  const url = await ensureDatabase({ url: server.address }, TEMPLATE);
  await migrate(url);
  const client = await connect(url);
  try {
    await client.query(BARE_TABLE);
    const fleet = new Fleet(1);
    let receipts = 0;
    for (const batch of fleet.beginnings()) {
      receipts += await emitByHand(client, clusterId, batch);
      await insertBare(client, clusterId, batch);
    }
    return { server, fleet, receipts };
  } finally {
    await client.end();
  }
}

/** A copy of the template: the variants do not work in each other's tables. */
async function copyBed({ server }: Bed, name: string): Promise<string> {
  const client = await connect(server.address);
  try {
    await client.query(`create database ${name} template ${TEMPLATE}`);
  } finally {
    await client.end();
  }
  const url = new URL(server.address);
  url.pathname = `/${name}`;
  return url.toString();
}

async function countsOf(url: string, text: string): Promise<Counts> {
  const client = await connect(url);
  try {
    const { rows } = await client.query<{ receipts: string; in_state: string }>(text);
    return { receipts: Number(rows[0]?.receipts), inState: Number(rows[0]?.in_state) };
  } finally {
    await client.end();
  }
}

const countState = (url: string): Promise<Counts> =>
  countsOf(
    url,
    `select (select count(*) from temporal_health.receipts) as receipts, coalesce(sum(receipt_count), 0) as in_state
     from temporal_health.chains`,
  );
const countBare = (url: string): Promise<Counts> =>
  countsOf(url, 'select count(*) as receipts, count(*) as in_state from bare_receipts');

/** The store with its calls counted: how many receipts the group commit puts into one. */
function counted(store: ReceiptStore): { store: ReceiptStore; calls: () => number } {
  let calls = 0;
  const emit: ReceiptStore['emit'] = (receipts) => {
    calls += 1;
    return store.emit(receipts);
  };
  const proxy = new Proxy(store, {
    get: (target, key) => {
      if (key === 'emit') return emit;
      const member: unknown = Reflect.get(target, key);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
  return { store: proxy, calls: () => calls };
}

const begun = ({ receipts }: Bed): Pick<Variant, 'acknowledged' | 'acknowledgedBefore'> => ({
  acknowledged: receipts,
  acknowledgedBefore: receipts,
});

async function ours(bed: Bed, name: string, database: string, lanes: number): Promise<Variant> {
  const fleet = bed.fleet.copy(lanes);
  const url = await copyBed(bed, database);
  const { store, calls } = counted(openPostgresStore({ url, clusterId }));
  const commit = createGroupCommit(store);
  return {
    ...{ name, lanes, keepsState: true, ...begun(bed), rounds: [], statements: calls },
    emit: async (lane) => {
      const { outcome } = await commit.submit(fleet.next(lane), { linger: false });
      return outcome === 'stored' ? 1 : 0;
    },
    count: () => countState(url),
    close: async () => {
      await commit.flush();
      await store.close();
    },
  };
}

const ours50 = (bed: Bed): Promise<Variant> => ours(bed, 'ours 50', 'ours_50', EMITTERS);
const ours1 = (bed: Bed): Promise<Variant> => ours(bed, 'ours 1', 'ours_1', 1);

async function single50(bed: Bed): Promise<Variant> {
  const fleet = bed.fleet.copy(EMITTERS);
  const url = await copyBed(bed, 'single_50');
  const pool = poolOf(url, POOL_SIZE);
  return {
    ...{ name: 'single 50', lanes: EMITTERS, keepsState: true, ...begun(bed), rounds: [] },
    emit: async (lane) => {
      const receipt = fleet.next(lane);
      const client = await pool.connect();
      try {
        return await emitByHand(client, clusterId, [receipt]);
      } finally {
        client.release();
      }
    },
    count: () => countState(url),
    close: () => pool.end(),
  };
}

/** Two connections, each with half of the emitters: batches that are never in each other's way. */
async function batches(bed: Bed, name: string, database: string, keepsState: boolean): Promise<Variant> {
  const fleet = bed.fleet.copy(EMITTERS);
  const url = await copyBed(bed, database);
  const clients = await Promise.all(Array.from({ length: BY_HAND_CONNECTIONS }, () => connect(url)));
  const half = EMITTERS / BY_HAND_CONNECTIONS;
  let turn = 0;
  return {
    ...{ name, lanes: BY_HAND_CONNECTIONS, keepsState, ...begun(bed), rounds: [] },
    emit: async (lane, batchSize) => {
      const receipts = Array.from({ length: batchSize }, () => fleet.next(lane * half + (turn++ % half)));
      const client = clients[lane];
      if (client === undefined) throw new Error('a lane without a connection');
      return (keepsState ? emitByHand : insertBare)(client, clusterId, receipts);
    },
    count: () => (keepsState ? countState : countBare)(url),
    close: async () => {
      for (const client of clients) await client.end();
    },
  };
}

const byHand = (bed: Bed): Promise<Variant> => batches(bed, 'by hand', 'by_hand', true);
const bare = (bed: Bed): Promise<Variant> => batches(bed, 'bare', 'bare', false);

async function bare1(bed: Bed): Promise<Variant> {
  const fleet = bed.fleet.copy(1);
  const url = await copyBed(bed, 'bare_1');
  const client = await connect(url);
  return {
    ...{ name: 'bare 1', lanes: 1, keepsState: false, ...begun(bed), rounds: [] },
    emit: (lane) => insertBare(client, clusterId, [fleet.next(lane)]),
    count: () => countBare(url),
    close: () => client.end(),
  };
}

async function report(variants: readonly Variant[]): Promise<BenchReport> {
  const named = (name: string): readonly Measured[] => variants.find((variant) => variant.name === name)?.rounds ?? [];
  const ratio = (a: string, b: string, of: (one: Measured) => number): number[] =>
    ratiosOf(named(a).map(of), named(b).map(of));
  return {
    figures: [
      ['variant', 'receipts/s (min / median / max)', 'p50 ms', 'p99 ms', 'Node CPU µs', 'Postgres CPU µs', 'a batch'],
      ...variants.map(figuresOf),
    ],
    correctness: await Promise.all(variants.map(correctnessOf)),
    metrics: [
      {
        name: 'rate50VersusSingle',
        meaning: 'rate, 50 emitters: ours / one awaited insert each',
        perRound: ratio('ours 50', 'single 50', ({ perSecond }) => perSecond),
        ...{ target: { atLeast: 4 }, floor: { atLeast: 2 } },
      },
      {
        name: 'rate50VersusByHand',
        meaning: 'rate, 50 emitters: ours / raw multi-row statement',
        perRound: ratio('ours 50', 'by hand', ({ perSecond }) => perSecond),
        target: { atLeast: 0.9 },
      },
      {
        name: 'p50OneEmitter',
        meaning: 'p50, 1 emitter: ours / plain insert without state',
        perRound: ratio('ours 1', 'bare 1', ({ p50Ms }) => p50Ms),
        ...{ target: { atMost: 1.1 }, floor: { atMost: 1.6 } },
      },
      {
        name: 'postgresCpuState',
        meaning: 'Postgres CPU in batches: with state / receipts only',
        perRound: ratio('by hand', 'bare', ({ postgresCpuUs }) => postgresCpuUs),
        ...{ target: { atMost: 1.4 }, floor: { atMost: 2.2 } },
      },
    ],
  };
}

function figuresOf({ name, rounds }: Variant): string[] {
  const median = (of: (one: Measured) => number): string => figure(medianOf(rounds.map(of)));
  return [
    name,
    showSpread(spreadOf(rounds.map(({ perSecond }) => perSecond))),
    ...[median((one) => one.p50Ms), median((one) => one.p99Ms)],
    ...[median((one) => one.nodeCpuUs), median((one) => one.postgresCpuUs), median((one) => one.batchSize)],
  ];
}

async function correctnessOf({ name, acknowledged, count, keepsState }: Variant): Promise<Correctness> {
  const { receipts, inState } = await count();
  return {
    variant: name,
    holds: receipts === acknowledged && inState === acknowledged,
    line: `${acknowledged} acknowledged, ${receipts} rows${keepsState ? `, ${inState} in state` : ', no state kept'}`,
  };
}
