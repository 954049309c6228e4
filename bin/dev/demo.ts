/**
 * The demonstration: six scripted runs on real Temporal that land in six states of health, and a check of a document's
 * sources beside them.
 *
 * The worker of the stack runs what goes on: working, waiting, stuck, and the two that complete. The payment whose answer
 * is lost, and the check of a site on the loopback, run on a worker of their own on a task queue of their own; it is
 * killed by SIGKILL once the destination has taken the payment, and nobody starts it again.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { agentSettings } from '../../activities/agents/settings.ts';
import { SIX_CASES, SOURCE_CHECK_CASE } from './demo/cases.ts';
import type { DemonstrationCase } from './demo/cases.ts';
import { startDestination, startSideWorker } from './demo/children.ts';
import type { SideWorker } from './demo/children.ts';
import { connect, openJudge } from './demo/judging.ts';
import type { JudgedRun } from './demo/judging.ts';
import { startSite } from './demo/site.ts';
import { DevServerError } from './processes.ts';

export interface DemonstratedRun extends JudgedRun {
  readonly of: DemonstrationCase;
  readonly workflowId: string;
  readonly runId: string;
}

export interface Demonstration {
  readonly runs: readonly DemonstratedRun[];
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DOCUMENT = 'examples/documents/demonstration.md';
/** What an earlier demonstration left running on purpose; it makes room for the new one. */
const GOING_ON = ['workingAgent', 'waitingAgent', 'stuckAgent'];
const PREFIX = 'demo';
const JUDGED_TIMEOUT_MS = 180_000;
const JUDGE_INTERVAL_MS = 1_000;
const ROOM_TIMEOUT_MS = 30_000;

interface Place {
  readonly env: NodeJS.ProcessEnv;
  readonly client: Client;
  readonly queue: string;
  readonly sideQueue: string;
  /** Ends every workflow id of this demonstration. */
  readonly suffix: string;
}

/** Workers and ids of one demonstration; everything it starts and that need not go on ends with `ends`. */
type Ends = (() => Promise<void>)[];

/**
 * Runs all cases and returns when each is judged to be what it must be.
 *
 * `env` holds TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_HEALTH_DATABASE_URL and whatever else the worker of the stack
 * was given: a worker with the same task queue and output folder must be running.
 * @throws DevServerError DEMO_NOT_JUDGED with what each run was judged to be instead
 */
export async function runDemonstration(env: NodeJS.ProcessEnv): Promise<Demonstration> {
  const address = env['TEMPORAL_ADDRESS'] ?? '127.0.0.1:7233';
  const namespace = env['TEMPORAL_NAMESPACE'] ?? 'default';
  const ends: Ends = [];
  try {
    const connection = await connect(address);
    ends.push(() => connection.close());
    const suffix = suffixOf(new Date());
    const queue = env['TEMPORAL_HEALTH_TASK_QUEUE'] || 'temporal-health';
    const client = new Client({ connection, namespace });
    const place: Place = { env, client, queue, sideQueue: `${queue}-${PREFIX}-${suffix}`, suffix };
    await makeRoom(place);
    const started = await startAll(place, ends);
    const judge = await openJudge({ address, namespace, databaseUrl: env['TEMPORAL_HEALTH_DATABASE_URL'] ?? '' });
    ends.push(() => judge.close());
    return { runs: await untilJudged(started, (run) => judge.judge(run)) };
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** Month, day and time: readable, and new each second. */
function suffixOf(now: Date): string {
  return now.toISOString().slice(5, 19).replaceAll(/[-:]/g, '').replace('T', '-');
}

type Started = Omit<DemonstratedRun, keyof JudgedRun>;

async function startAll(place: Place, ends: Ends): Promise<Started[]> {
  const { outputRoot } = agentSettings(place.env, ROOT);
  const folder = join(outputRoot, 'demonstration');
  const site = await startSite();
  ends.push(() => site.close());
  const destination = await startDestination(join(folder, `destination-${place.suffix}.jsonl`));
  ends.push(() => destination.stop());
  const sideEnv = {
    ...place.env,
    TEMPORAL_HEALTH_TASK_QUEUE: place.sideQueue,
    TEMPORAL_HEALTH_OUTPUT_ROOT: outputRoot,
    TEMPORAL_HEALTH_DOCUMENT_ROOT: ROOT,
    TEMPORAL_HEALTH_ALLOWED_HOSTS: site.host,
  };
  // It takes some seconds to start; the others need not wait for it.
  const side = startSideWorker(sideEnv, join(folder, 'worker.log'));
  const input = { destination: destination.origin };
  const onMain = SIX_CASES.filter(({ worker }) => worker === 'main').map((of) => start(of, input, place));
  const [main, worker] = await Promise.allSettled([Promise.all(onMain), side]);
  if (worker.status === 'fulfilled') ends.push(() => worker.value.kill());
  for (const part of [main, worker]) if (part.status === 'rejected') throw part.reason;
  const started = main.status === 'fulfilled' ? main.value : [];
  const sourceCheck = await start(SOURCE_CHECK_CASE, { document: DOCUMENT, base: site.origin }, place);
  await place.client.workflow.getHandle(sourceCheck.workflowId, sourceCheck.runId).result();
  const paid = await payAndDie(place, input, (ending) => destination.applied(ending), await side);
  return [...started, ...paid, sourceCheck];
}

/** The destination takes the payment, and the worker is gone before any answer could reach it. */
async function payAndDie(
  place: Place,
  input: { readonly destination: string },
  applied: (ending: string) => Promise<void>,
  side: SideWorker,
): Promise<Started[]> {
  const started: Started[] = [];
  for (const of of SIX_CASES.filter(({ worker, name }) => worker === 'side' && name !== 'source-check')) {
    const run = await start(of, input, place);
    await applied(`${run.workflowId}/payment/invoice-2041`);
    started.push(run);
  }
  await side.kill();
  return started;
}

async function start(of: DemonstrationCase, input: object, place: Place): Promise<Started> {
  const { client, suffix } = place;
  const workflowId = `${PREFIX}-${of.name}-${suffix}`;
  const handle = await client.workflow.start(of.workflowType, {
    workflowId,
    taskQueue: of.worker === 'main' ? place.queue : place.sideQueue,
    args: [input],
    workflowIdConflictPolicy: 'FAIL',
  });
  return { of, workflowId, runId: handle.firstExecutionRunId };
}

/** Cancels what an earlier demonstration left going on, and waits until it has ended in its own way. */
async function makeRoom({ client, queue }: Place): Promise<void> {
  const types = GOING_ON.map((type) => `'${type}'`).join(', ');
  const query = `TaskQueue = '${queue}' AND WorkflowType IN (${types}) AND ExecutionStatus = 'Running'`;
  const closing: Promise<unknown>[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    if (!workflowId.startsWith(`${PREFIX}-`)) continue;
    const handle = client.workflow.getHandle(workflowId, runId);
    // It may have ended since the list was made; what it ended as is no concern of the new demonstration.
    closing.push(
      handle.cancel().then(
        () => handle.result().catch(() => undefined),
        () => undefined,
      ),
    );
  }
  const patience = new AbortController();
  await Promise.race([
    Promise.all(closing).finally(() => {
      patience.abort();
    }),
    delay(ROOM_TIMEOUT_MS, undefined, { signal: patience.signal }).catch(() => undefined),
  ]);
}

async function untilJudged(
  started: readonly Started[],
  judge: (run: Started) => Promise<JudgedRun>,
): Promise<DemonstratedRun[]> {
  const endsAtMs = performance.now() + JUDGED_TIMEOUT_MS;
  for (;;) {
    const runs = await Promise.all(started.map(async (run) => ({ ...run, ...(await judge(run)) })));
    const other = runs.filter(({ of, judgement }) => !isExpected(of, judgement));
    if (other.length === 0) return runs;
    if (performance.now() >= endsAtMs) {
      const said = other.map(
        ({ of, judgement }) => `${of.name} is ${judgement.verdict ?? 'none'} (${judgement.reason})`,
      );
      throw new DevServerError('DEMO_NOT_JUDGED', `Not judged as they should be: ${said.join(', ')}.`);
    }
    await delay(JUDGE_INTERVAL_MS);
  }
}

const isExpected = (of: DemonstrationCase, { verdict, reason }: JudgedRun['judgement']): boolean =>
  verdict === of.verdict && of.reasons.includes(reason);
