/** Step 5: work is due and nobody polls its task queue. Dead pollers are listed for minutes, hence the age of the last poll. */
import type { TaskQueueState } from '../evidence.ts';
import { dueSinceMs } from '../liveness.ts';
import { fact } from '../view.ts';
import type { View } from '../view.ts';
import type { Rule } from './rule.ts';

export interface DueWork {
  readonly ref: string;
  readonly sinceMs: number;
  /** Null where nobody asked for its queue, or the queue could not be read. */
  readonly queue: TaskQueueState | null;
}

/** Work that waits for a worker, with what is known of its queue. */
export function dueWork(view: View): readonly DueWork[] {
  const { temporal } = view.evidence;
  if (!view.open || temporal.source !== 'describe') return [];
  const queueOf = (name: string | null, kind: TaskQueueState['kind']): TaskQueueState | null =>
    temporal.taskQueues.find((queue) => queue.kind === kind && queue.name === (name ?? temporal.describe.taskQueue)) ??
    null;
  const work: DueWork[] = [];
  for (const activity of view.activities) {
    const sinceMs = dueSinceMs(activity, view.nowMs);
    if (sinceMs === null) continue;
    work.push({ ref: `activity:${activity.activityId}`, sinceMs, queue: queueOf(activity.taskQueue, 'activity') });
  }
  const task = temporal.describe.pendingWorkflowTask;
  if (task !== null && !task.started && task.scheduledAtMs !== null) {
    work.push({ ref: 'workflow-task', sinceMs: task.scheduledAtMs, queue: queueOf(null, 'workflow') });
  }
  return work;
}

/** Due for longer than a worker needs to take it. */
export function overdueWork(view: View): readonly DueWork[] {
  return dueWork(view).filter(({ sinceMs }) => view.nowMs >= sinceMs + view.policy.noPollerGraceMs);
}

export const noPoller: Rule = (view) => {
  const { nowMs, policy } = view;
  const unserved = overdueWork(view).flatMap(({ ref, sinceMs, queue }) =>
    queue !== null && (queue.lastPollAtMs === null || nowMs >= queue.lastPollAtMs + policy.noPollerGraceMs)
      ? [{ ref, sinceMs, queue }]
      : [],
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
