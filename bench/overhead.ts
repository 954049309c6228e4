/**
 * What the plugin costs a run: ten activities one after the other, one run at a time, on one Temporal server.
 *
 *   bare   the worker without the plugin
 *   one    with the plugin, one progress receipt an activity
 *   four   with the plugin, four receipts an activity, two of them awaited around a call
 *
 * All three workers live in this process with bundles built beforehand; runs take turns, so that what else the machine
 * does meets all of them alike. History is counted by Temporal's own Describe.
 */
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { Logger } from '@temporalio/worker';
import { HealthPlugin } from '../activities/plugin.ts';
import { ensureDatabase } from '../bin/dev/postgres.ts';
import { defineContract } from '../receipts/contract.ts';
import { migrate, openPostgresStore } from '../receipts/postgres/index.ts';
import { familyCpuMs, ownCpuMs } from './cpu-time.ts';
import { RECEIPTS_OF_STEP, STEP_FORMS } from './overhead-activities.ts';
import type { StepForm } from './overhead-activities.ts';
import { connect } from './raw-statements.ts';
import type { BenchOptions, BenchReport, Correctness } from './report.ts';
import { benchPostgres, benchTemporal } from './servers.ts';
import type { BenchServer } from './servers.ts';
import { figure, medianOf, ratiosOf, showSpread, spreadOf } from './spread.ts';

const WORKFLOW_TYPE = 'tenSteps';
const STEPS = 10;
const FORMS: readonly StepForm[] = ['bare', 'one', 'four'];
/** Enough for the code to be compiled, as in a worker that has run for a while. */
const WARM_UP_RUNS = 60;
const WARM_UP_AT_ONCE = 10;
const workflowsPath = fileURLToPath(new URL('./overhead-workflows.ts', import.meta.url));

interface Variant {
  readonly form: StepForm;
  readonly taskQueue: string;
  readonly databaseUrl: string;
  readonly stop: () => Promise<void>;
  runs: number;
  completed: number;
  readonly rounds: Measured[];
}

interface Measured {
  readonly wallMs: number;
  readonly events: number;
  readonly historyBytes: number;
  /** Per activity, of this process, Postgres and Temporal. */
  readonly cpuMs: number;
  readonly nodeCpuMs: number;
  readonly postgresCpuMs: number;
  readonly temporalCpuMs: number;
}

interface Bed {
  readonly postgres: BenchServer;
  readonly temporal: BenchServer;
  readonly native: NativeConnection;
  readonly client: Client;
}

const SILENT: Logger = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

export async function overhead(options: BenchOptions): Promise<BenchReport> {
  Runtime.install({ logger: SILENT });
  const undo: (() => Promise<void>)[] = [];
  try {
    const postgres = await benchPostgres();
    undo.push(() => postgres.stop());
    const temporal = await benchTemporal();
    undo.push(() => temporal.stop());
    const native = await NativeConnection.connect({ address: temporal.address });
    undo.push(() => native.close());
    const connection = await Connection.connect({ address: temporal.address });
    undo.push(() => connection.close());
    const bed: Bed = { postgres, temporal, native, client: new Client({ connection }) };
    const variants: Variant[] = [];
    for (const form of FORMS) {
      const variant = await startVariant(bed, form);
      undo.push(variant.stop);
      variants.push(variant);
    }
    options.note('warming up');
    for (const variant of variants) await warmUp(bed, variant, options.quick ? WARM_UP_AT_ONCE : WARM_UP_RUNS);
    for (let round = 0; round < options.rounds; round += 1) {
      options.note(`round ${round + 1} of ${options.rounds}`);
      const measured = await measure(bed, variants, options.quick ? 4 : 15, round);
      for (const [at, variant] of variants.entries()) variant.rounds.push(measured[at] ?? NOTHING);
    }
    return await report(variants);
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

async function startVariant({ postgres, native }: Bed, form: StepForm): Promise<Variant> {
  // Names of one length: the history holds them, and its bytes are compared.
  const taskQueue = `bench-${form.padEnd(4, '-')}`;
  const databaseUrl = await ensureDatabase({ url: postgres.address }, `overhead_${form}`);
  await migrate(databaseUrl);
  const contract = defineContract({
    workflowType: WORKFLOW_TYPE,
    milestones: { steps: { fresh: '10m' } },
    effects: { charge: { due: 'any', levels: ['settled'] } },
  });
  const store = (clusterId: string): ReturnType<typeof openPostgresStore> =>
    openPostgresStore({ url: databaseUrl, clusterId });
  const plugins = form === 'bare' ? [] : [new HealthPlugin({ store, contracts: [contract] })];
  const worker = await Worker.create({
    connection: native,
    taskQueue,
    activities: STEP_FORMS[form],
    workflowBundle: await bundleWorkflowCode({ workflowsPath, plugins, logger: SILENT }),
    plugins,
  });
  const running = worker.run();
  running.catch(() => undefined); // `stop` tells it.
  const stop = async (): Promise<void> => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
  };
  return { form, taskQueue, databaseUrl, stop, runs: 0, completed: 0, rounds: [] };
}

interface Sums {
  readonly wallMs: number[];
  readonly events: number[];
  readonly historyBytes: number[];
  node: number;
  postgres: number;
  temporal: number;
}

/** So many runs of each variant, taking turns, and what they came to. */
async function measure(bed: Bed, variants: readonly Variant[], runs: number, round: number): Promise<Measured[]> {
  const sums = variants.map((): Sums => ({
    wallMs: [],
    events: [],
    historyBytes: [],
    node: 0,
    postgres: 0,
    temporal: 0,
  }));
  for (let run = 0; run < runs; run += 1) {
    for (let turn = 0; turn < variants.length; turn += 1) {
      const at = (turn + run + round) % variants.length;
      const variant = variants[at];
      const sum = sums[at];
      if (variant !== undefined && sum !== undefined) await oneRun(bed, variant, sum);
    }
  }
  return sums.map(({ wallMs, events, historyBytes, node, postgres, temporal }) => {
    const perActivity = 1 / (runs * STEPS);
    return {
      wallMs: medianOf(wallMs),
      events: medianOf(events),
      historyBytes: medianOf(historyBytes),
      cpuMs: (node + postgres + temporal) * perActivity,
      nodeCpuMs: node * perActivity,
      postgresCpuMs: postgres * perActivity,
      temporalCpuMs: temporal * perActivity,
    };
  });
}

async function warmUp({ client }: Bed, variant: Variant, runs: number): Promise<void> {
  for (let run = 0; run < runs; run += WARM_UP_AT_ONCE) {
    await Promise.all(Array.from({ length: WARM_UP_AT_ONCE }, () => execute(client, variant)));
  }
}

/** One run from start to end; answers its id. */
async function execute(client: Client, variant: Variant): Promise<string> {
  variant.runs += 1;
  // The history holds the id: of one length everywhere.
  const workflowId = `${variant.taskQueue}-${String(variant.runs).padStart(6, '0')}`;
  const done = await client.workflow.execute<(steps: number) => Promise<number>>(WORKFLOW_TYPE, {
    taskQueue: variant.taskQueue,
    workflowId,
    args: [STEPS],
  });
  if (done === STEPS) variant.completed += 1;
  return workflowId;
}

async function oneRun({ client, postgres, temporal }: Bed, variant: Variant, sum: Sums): Promise<void> {
  const before = { postgres: familyCpuMs(postgres.pid), temporal: familyCpuMs(temporal.pid) };
  // Looking at the others costs this process something: that is outside.
  const nodeBefore = ownCpuMs();
  const startedAt = performance.now();
  const workflowId = await execute(client, variant);
  sum.wallMs.push(performance.now() - startedAt);
  sum.node += ownCpuMs() - nodeBefore;
  sum.postgres += familyCpuMs(postgres.pid) - before.postgres;
  sum.temporal += familyCpuMs(temporal.pid) - before.temporal;
  const { historyLength, raw } = await client.workflow.getHandle(workflowId).describe();
  sum.events.push(historyLength);
  sum.historyBytes.push(Number(raw.workflowExecutionInfo?.historySizeBytes ?? NaN));
}

const NOTHING: Measured = {
  ...{ wallMs: NaN, events: NaN, historyBytes: NaN },
  ...{ cpuMs: NaN, nodeCpuMs: NaN, postgresCpuMs: NaN, temporalCpuMs: NaN },
};

async function report(variants: readonly Variant[]): Promise<BenchReport> {
  const named = (form: StepForm): readonly Measured[] =>
    variants.find((variant) => variant.form === form)?.rounds ?? [];
  const ratio = (form: StepForm, of: (one: Measured) => number): number[] =>
    ratiosOf(named(form).map(of), named('bare').map(of));
  const more = (form: StepForm, of: (one: Measured) => number): number[] =>
    named(form).map((one, round) => of(one) - of(named('bare')[round] ?? NOTHING));
  const atMost = (most: number): { atMost: number } => ({ atMost: most });
  return {
    figures: [
      [
        'variant',
        'wall ms of a run (min / median / max)',
        'CPU ms an activity',
        'Node',
        'Postgres',
        'Temporal',
        'events',
        'bytes',
      ],
      ...variants.map(figuresOf),
    ],
    correctness: await Promise.all(variants.map(correctnessOf)),
    metrics: [
      {
        name: 'wallOne',
        meaning: 'wall of a run: one receipt an activity / bare',
        perRound: ratio('one', ({ wallMs }) => wallMs),
        target: atMost(1.05),
      },
      {
        name: 'extraEvents',
        meaning: 'history events more than bare, a run',
        perRound: more('one', ({ events }) => events),
        ...{ target: atMost(2), floor: atMost(2) },
      },
      {
        name: 'extraBytes',
        meaning: 'history bytes more than bare, an activity',
        perRound: more('one', ({ historyBytes }) => historyBytes).map((bytes) => bytes / STEPS),
        ...{ target: atMost(300), floor: atMost(300) },
      },
      { name: 'cpuOne', meaning: 'CPU: one receipt an activity / bare', perRound: ratio('one', ({ cpuMs }) => cpuMs) },
      {
        name: 'cpuFour',
        meaning: 'CPU: four receipts an activity / bare',
        perRound: ratio('four', ({ cpuMs }) => cpuMs),
        ...{ target: atMost(1.2), floor: atMost(1.5) },
      },
      {
        name: 'wallFour',
        meaning: 'wall of a run: four receipts / bare',
        perRound: ratio('four', ({ wallMs }) => wallMs),
      },
    ],
  };
}

function figuresOf({ form, rounds }: Variant): string[] {
  const median = (of: (one: Measured) => number): string => figure(medianOf(rounds.map(of)));
  return [
    form,
    showSpread(spreadOf(rounds.map(({ wallMs }) => wallMs))),
    ...[median((one) => one.cpuMs), median((one) => one.nodeCpuMs), median((one) => one.postgresCpuMs)],
    ...[median((one) => one.temporalCpuMs), median((one) => one.events), median((one) => one.historyBytes)],
  ];
}

/** Every receipt of every run is stored once, in its chain's state, with no hole. */
async function correctnessOf({ form, databaseUrl, runs, completed }: Variant): Promise<Correctness> {
  const client = await connect(databaseUrl);
  try {
    const { rows } = await client.query<Record<'receipts' | 'in_state' | 'chains' | 'holes', string>>(
      `select
         (select count(*) from temporal_health.receipts) as receipts,
         (select coalesce(sum(receipt_count), 0) from temporal_health.chains) as in_state,
         (select count(*) from temporal_health.chains) as chains,
         (select count(*) from temporal_health.emitters where temporal_health.has_hole(taken)) as holes`,
    );
    const row = rows[0];
    const [receipts, inState, chains, holes] = [row?.receipts, row?.in_state, row?.chains, row?.holes].map(Number);
    const expected = runs * STEPS * RECEIPTS_OF_STEP[form];
    const expectedChains = form === 'bare' ? 0 : runs;
    return {
      variant: form,
      holds:
        completed === runs && receipts === expected && inState === expected && chains === expectedChains && holes === 0,
      line: `${completed} of ${runs} runs right, ${expected} said, ${receipts} rows, ${inState} in state of ${chains} chains, ${holes} holes`,
    };
  } finally {
    await client.end();
  }
}
