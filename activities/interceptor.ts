/**
 * The plugin's half around each activity: a recorder in its context, and the flush before its result goes to Temporal (R6).
 *
 * A result that is there is never made again for evidence that could still be delivered. Where the store stays away until
 * the attempt is nearly over, notes give way (they are kept for the store's return, and the gap is recorded), and whatever
 * else is not acknowledged fails the attempt retryably, with a code that says the work was done.
 */
import { CompleteAsyncError } from '@temporalio/activity';
import type { Context } from '@temporalio/activity';
import type { ActivityExecuteInput, ActivityInterceptorsFactory, Next } from '@temporalio/worker';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import type { DefinedContract } from '../receipts/contract.ts';
import { HealthError } from '../receipts/errors.ts';
import { readRunHeader } from '../workflows/header.ts';
import { RECORD_ACTIVITY } from '../workflows/messages.ts';
import { toFailure } from './failures.ts';
import { ActivityRecorder } from './recorder.ts';
import type { WorkerFacts } from './recorder.ts';
import { factsOfRun } from './unheaded.ts';

/** What interceptors need of the worker they are on; it is known when the worker runs. */
export interface RunningWorker extends WorkerFacts {
  readonly contracts: readonly DefinedContract[];
  /** Takes over what an ended attempt could not deliver. */
  leaveBehind(recorder: ActivityRecorder): void;
}

/** A failure waits for nobody: what it still had to say gets this long, in ms. */
const FAILED_PATIENCE_MS = 2_000;

export function activityInterceptors(running: () => RunningWorker | null): ActivityInterceptorsFactory {
  return (ctx: Context) => ({
    inbound: {
      async execute(input, next) {
        const worker = running();
        // A standalone activity belongs to no run.
        if (worker === null || !ctx.info.inWorkflow) return next(input);
        const contract = worker.contracts.find((defined) => defined.contract.workflowType === ctx.info.workflowType);
        const facts = readRunHeader(input.headers) ?? (await factsOfRun(ctx));
        const recorder = new ActivityRecorder(worker, ctx, facts, contract);
        return recorder.run(() => execute(worker, recorder, ctx, input, next));
      },
    },
  });
}

async function execute(
  worker: RunningWorker,
  recorder: ActivityRecorder,
  ctx: Context,
  input: ActivityExecuteInput,
  next: Next<ActivityInboundCallsInterceptor, 'execute'>,
): Promise<unknown> {
  let result: unknown;
  try {
    result = await next(input);
  } catch (error) {
    // "Completed elsewhere" is no failure: this attempt's work is done, its result comes from outside.
    if (error instanceof CompleteAsyncError) await flushAndEnd(worker, recorder, ctx);
    else await endFailed(worker, recorder);
    throw error;
  }
  if (ctx.info.activityType !== RECORD_ACTIVITY) await recorder.noteResult(result);
  await flushAndEnd(worker, recorder, ctx);
  return result;
}

async function endFailed(worker: RunningWorker, recorder: ActivityRecorder): Promise<void> {
  recorder.close();
  if (recorder.outbox.unsettled.length === 0) return;
  if (recorder.attempt.hasTime) await recorder.attempt.hold(recorder.outbox.settled(), FAILED_PATIENCE_MS);
  if (recorder.outbox.unsettled.length > 0) worker.leaveBehind(recorder);
}

/** @throws ApplicationFailure WORK_DONE_UNRECORDED (retryable) */
async function flushAndEnd(worker: RunningWorker, recorder: ActivityRecorder, ctx: Context): Promise<void> {
  recorder.close();
  const { outbox } = recorder;
  if (outbox.unsettled.length === 0) return;
  await recorder.attempt.hold(outbox.settled());
  const left = outbox.unsettled;
  if (left.length === 0) return;
  const kinds = [...new Set(left.map((receipt) => receipt.kind))];
  worker.leaveBehind(recorder);
  if (kinds.every((kind) => kind === 'progress')) {
    ctx.log.warn('The store stayed away: the activity completes without its notes', { notes: left.length });
    return;
  }
  throw toFailure(
    new HealthError(
      'WORK_DONE_UNRECORDED',
      `The work was done, but its receipts could not be stored: ${kinds.join(', ')}.`,
      {
        hint: 'The attempt is retried; an effect must be found again under its operation id, not repeated.',
      },
    ),
  );
}
