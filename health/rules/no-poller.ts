/** Step 5: work is due and nobody polls its task queue. Dead pollers are listed for minutes, hence the age of the last poll. */
import type { TaskQueueState } from '../evidence.ts';
import { dueSinceMs } from '../liveness.ts';
import { fact } from '../view.ts';
import type { View } from '../view.ts';
import type { Rule } from './rule.ts';

export interface DueWork {
  readonly ref: string;
  readonly sinceMs: number;
  readonly queue: TaskQueueState;
}

/** Work that waits for a worker, with what is known of its queue. */
export function dueWork(view: View): readonly DueWork[] {
  const { temporal } = view.evidence;
  if (!view.open || temporal.source !== 'describe') return [];
  const queueOf = (name: string | null, kind: TaskQueueState['kind']): TaskQueueState | undefined =>
    temporal.taskQueues.find((queue) => queue.kind === kind && queue.name === (name ?? temporal.describe.taskQueue));
  const work: DueWork[] = [];
  for (const activity of view.activities) {
    const sinceMs = dueSinceMs(activity, view.nowMs);
    const queue = queueOf(activity.taskQueue, 'activity');
    if (sinceMs !== null && queue !== undefined) work.push({ ref: `activity:${activity.activityId}`, sinceMs, queue });
  }
  const task = temporal.describe.pendingWorkflowTask;
  const queue = queueOf(null, 'workflow');
  if (task !== null && !task.started && task.scheduledAtMs !== null && queue !== undefined) {
    work.push({ ref: 'workflow-task', sinceMs: task.scheduledAtMs, queue });
  }
  return work;
}

export const noPoller: Rule = (view) => {
  const { nowMs, policy } = view;
  const unserved = dueWork(view).filter(
    ({ sinceMs, queue }) =>
      nowMs >= sinceMs + policy.noPollerGraceMs &&
      (queue.lastPollAtMs === null || nowMs >= queue.lastPollAtMs + policy.noPollerGraceMs),
  );
  const first = unserved[0];
  if (first === undefined) return null;
  return {
    verdict: 'stuck',
    reason: 'no-poller',
    message: `No worker polls task queue ${first.queue.name}, and work is due there.`,
    decisive: unserved.flatMap(({ ref, sinceMs, queue }) => [
      fact(`task-queue:${queue.name}`, 'lastPollAtMs', queue.lastPollAtMs),
      fact(ref, 'dueSinceMs', sinceMs),
    ]),
  };
};
