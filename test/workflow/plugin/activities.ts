/** Activities of the plugin's tests. */
import { activityInfo, CancelledFailure, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { receipts } from '../../../activities/index.ts';

/** How often each body ran, by workflow id: a body must not run again for evidence that could still be delivered. */
export const bodies = new Map<string, number>();

/** Set by the test whose activity is to end the outage. */
export const outage = { end: (): void => undefined };

function countBody(): number {
  const { workflowExecution } = activityInfo();
  const id = workflowExecution?.workflowId ?? '';
  const runs = (bodies.get(id) ?? 0) + 1;
  bodies.set(id, runs);
  return runs;
}

export const activities = {
  async say(step: string): Promise<void> {
    countBody();
    await receipts().progress('steps', { digest: step, done: 1 });
  },

  async sayAllFour(step: string): Promise<void> {
    countBody();
    const say = receipts();
    await say.progress('steps', { digest: step, done: 3, of: 4 });
    await say.wait({ name: 'w', owner: 'ann', deadline: '1 hour', resumeToken: `token-${step}`, resumeBy: 'signal' });
    await say.effect({ name: 'charge', key: step, state: 'attempted' });
    await say.effect({
      name: 'charge',
      key: step,
      state: 'verified',
      verdict: { by: 'destination', level: 'settled' },
    });
    await say.deliverable('report').verify({ location: '/tmp' });
  },

  async failOnce(): Promise<void> {
    const runs = countBody();
    await receipts().progress('steps', { digest: `attempt-${runs}` });
    if (runs === 1) throw ApplicationFailure.retryable('the first attempt fails');
  },

  /** Goes on where an attempt before it stopped; beats only by its milestones. */
  async goesOn(): Promise<string> {
    const before = await receipts().lastProgress('steps');
    await receipts().progress('steps', {
      digest: `after ${before?.digest ?? 'nothing'}`,
      done: 1 + (before?.delta?.done ?? 0),
    });
    if (before === null) throw ApplicationFailure.retryable('the first attempt fails');
    return `${before.digest} by attempt ${String(before.attempt)}, ${String(before.delta?.done)} done`;
  },

  async stepsUntilCancelled(): Promise<void> {
    const { cancellationSignal } = Context.current();
    for (let done = 1; !cancellationSignal.aborted; done += 1) {
      await receipts().progress('steps', { digest: `step-${String(done)}`, done });
      await Context.current()
        .sleep('100 ms')
        .catch(() => undefined);
    }
    throw new CancelledFailure('as asked');
  },

  async deliver(): Promise<void> {
    countBody();
    await receipts().deliverable('report').verify({ location: '/tmp' });
  },

  /** Completes before its wait is stored: the flush must say so. */
  forgetToAwait(): Promise<void> {
    countBody();
    const wait = { name: 'w', owner: 'ann', deadline: '1 hour', resumeToken: 'token', resumeBy: 'signal' } as const;
    receipts()
      .wait(wait)
      .catch(() => undefined);
    return Promise.resolve();
  },

  /** As `say`, for a worker without the plugin: same type length, same arguments. */
  plain(_step: string): Promise<void> {
    return Promise.resolve();
  },

  async endOutage(): Promise<void> {
    outage.end();
    await receipts().progress('steps', { digest: 'outage over' });
  },

  inspectPage(): Promise<{ status: number }> {
    return Promise.resolve({ status: 200 });
  },
};

export type PluginActivities = typeof activities;
