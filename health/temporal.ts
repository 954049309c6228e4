/**
 * Raw answers of Temporal's service → `TemporalState` of the evidence document. Pure.
 *
 * Only raw `workflowService` answers come here: the high-level client decodes memo and payloads and fails without the
 * codec. No payload is decoded, with one exception that holds no content of users: `TemporalReportedProblems`, which the
 * server itself writes. A heartbeat is a time, never its details.
 *
 * Times ≤ 0 and the year 0001 mean unset (null). An enum value that this version does not know is an error with a code
 * and never the first or the best of the list: the caller then says that it could not read.
 */
import type { temporal } from '@temporalio/proto';
import { HealthError } from '../receipts/errors.ts';
import { shorten, terminalText } from '../receipts/text.ts';
import type {
  ActivityState,
  CloseEvent,
  Description,
  Failure,
  Listed,
  PauseState,
  PendingActivity,
  PendingWorkflowTask,
  RunStatus,
  TaskQueueState,
} from './evidence.ts';

type RawDescription = temporal.api.workflowservice.v1.IDescribeWorkflowExecutionResponse;
type RawActivity = temporal.api.workflow.v1.IPendingActivityInfo;
type RawFailure = temporal.api.failure.v1.IFailure;
type RawEvent = temporal.api.history.v1.IHistoryEvent;
type RawTaskQueue = temporal.api.workflowservice.v1.IDescribeTaskQueueResponse;
type RawListedRun = temporal.api.workflow.v1.IWorkflowExecutionInfo;

/** A 64-bit number as protobuf gives it, and as JSON fixtures write it. */
type RawLong = { toNumber(): number } | number | string | null | undefined;
type RawTimestamp = { seconds?: RawLong; nanos?: number | null } | null | undefined;

const STATUSES: Readonly<Record<number, RunStatus>> = {
  1: 'RUNNING',
  2: 'COMPLETED',
  3: 'FAILED',
  4: 'CANCELED',
  5: 'TERMINATED',
  6: 'CONTINUED_AS_NEW',
  7: 'TIMED_OUT',
  8: 'PAUSED',
};

const STATES: Readonly<Record<number, ActivityState>> = {
  1: 'SCHEDULED',
  2: 'STARTED',
  3: 'CANCEL_REQUESTED',
  4: 'PAUSED',
  5: 'PAUSE_REQUESTED',
};

const WORKFLOW_TASK_STARTED = 2;
/** Longest foreign text that is kept or shown. */
const TEXT_LIMIT = 200;

/** A run as Describe tells it: who it is beside what state it is in. */
export interface DescribedRun {
  readonly runId: string;
  readonly workflowType: string;
  readonly firstRunId: string;
  readonly description: Description;
  /** Texts of users' failures by activity id, for a screen only: never part of the evidence document. */
  readonly failureTexts: Readonly<Record<string, string>>;
}

export interface ListedRun extends Listed {
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  readonly taskQueue: string | null;
}

export type TaskQueueQuestion = Pick<TaskQueueState, 'name' | 'kind'>;

/** True for a run that can still do something. */
export function isOpen(status: RunStatus): boolean {
  return status === 'RUNNING' || status === 'PAUSED';
}

function numberOf(value: RawLong): number {
  if (value === null || value === undefined) return 0;
  return typeof value === 'object' ? value.toNumber() : Number(value);
}

/** Epoch ms, or null where the time is unset. */
export function timeOf(value: RawTimestamp): number | null {
  if (!value) return null;
  const ms = numberOf(value.seconds) * 1_000 + Math.floor((value.nanos ?? 0) / 1_000_000);
  return ms > 0 ? ms : null;
}

function durationOf(value: RawTimestamp): number | null {
  return timeOf(value);
}

function earliest(...times: readonly (number | null)[]): number | null {
  const set = times.filter((time) => time !== null);
  return set.length > 0 ? Math.min(...set) : null;
}

/** Text that is not empty, else null. Protobuf writes an unset string as ''. */
function textOf(value: string | null | undefined): string | null {
  return value === null || value === undefined || value === '' ? null : value;
}

/** Foreign text as a document and a terminal can bear it: escaped, and cut. */
function shortText(value: string | null | undefined): string | null {
  const text = textOf(value);
  return text === null ? null : shorten(terminalText(text), TEXT_LIMIT);
}

function known<T>(table: Readonly<Record<number, T>>, value: number | null | undefined, field: string): T {
  const found = table[value ?? 0];
  if (found === undefined) {
    throw new HealthError('EVIDENCE_INVALID', `Temporal answered with a ${field} that this version does not know.`, {
      field,
      hint: 'Update temporal-health to a version that knows this server.',
    });
  }
  return found;
}

/** The failure under its wrappers: what an activity or a child failed with says more than that it failed. */
function innermost(failure: RawFailure): RawFailure {
  let inner = failure;
  while (inner.cause && !inner.applicationFailureInfo && !inner.timeoutFailureInfo) inner = inner.cause;
  return inner;
}

export function failureOf(raw: RawFailure | null | undefined): Failure | null {
  if (!raw) return null;
  const failure = innermost(raw);
  const application = failure.applicationFailureInfo;
  if (application) {
    return {
      type: shortText(application.type) ?? 'ApplicationFailure',
      nonRetryable: application.nonRetryable ?? false,
    };
  }
  if (failure.serverFailureInfo) {
    return { type: 'Server', nonRetryable: failure.serverFailureInfo.nonRetryable ?? false };
  }
  const kinds: readonly (readonly [unknown, string])[] = [
    [failure.timeoutFailureInfo, 'Timeout'],
    [failure.canceledFailureInfo, 'Canceled'],
    [failure.terminatedFailureInfo, 'Terminated'],
    [failure.resetWorkflowFailureInfo, 'ResetWorkflow'],
    [failure.childWorkflowExecutionFailureInfo, 'ChildWorkflow'],
    [failure.nexusOperationExecutionFailureInfo, 'NexusOperation'],
    [failure.nexusHandlerFailureInfo, 'NexusHandler'],
    [failure.activityFailureInfo, 'Activity'],
  ];
  return { type: kinds.find(([present]) => present)?.[1] ?? 'Unknown', nonRetryable: false };
}

function pauseOf(raw: RawActivity): PauseState | null {
  if (raw.paused !== true && !raw.pauseInfo) return null;
  const { manual, rule, pauseTime } = raw.pauseInfo ?? {};
  return {
    by: shortText(manual?.identity ?? rule?.identity),
    reason: shortText(manual?.reason ?? rule?.reason),
    sinceMs: timeOf(pauseTime),
  };
}

function activityOf(raw: RawActivity, workflowQueue: string | null): PendingActivity {
  const state = known(STATES, raw.state, 'activity state');
  // Describe keeps the start of the last attempt while the next one waits: it is not the current attempt's.
  const waits = state === 'SCHEDULED' || state === 'PAUSED';
  const options = raw.activityOptions;
  return {
    activityId: raw.activityId ?? '',
    activityType: raw.activityType?.name ?? '',
    state,
    attempt: raw.attempt ?? 1,
    maximumAttempts: raw.maximumAttempts ?? options?.retryPolicy?.maximumAttempts ?? 0,
    scheduledAtMs: timeOf(raw.scheduledTime),
    lastStartedAtMs: waits ? null : timeOf(raw.lastStartedTime),
    lastHeartbeatAtMs: timeOf(raw.lastHeartbeatTime),
    heartbeatTimeoutMs: durationOf(options?.heartbeatTimeout),
    nextAttemptAtMs: timeOf(raw.nextAttemptScheduleTime),
    lastAttemptEndedAtMs: timeOf(raw.lastAttemptCompleteTime),
    expiresAtMs: timeOf(raw.expirationTime),
    lastFailure: failureOf(raw.lastFailure),
    lastWorkerIdentity: shortText(raw.lastWorkerIdentity),
    taskQueue: textOf(options?.taskQueue?.name) ?? workflowQueue,
    paused: pauseOf(raw),
  };
}

/** `["category=WorkflowTaskFailed","cause=…"]`, written by the server after several failing workflow tasks. */
function reportedProblem(raw: RawDescription): string | null {
  const field = raw.workflowExecutionInfo?.searchAttributes?.indexedFields?.['TemporalReportedProblems'];
  if (!field?.data) return null;
  try {
    const words: unknown = JSON.parse(Buffer.from(field.data).toString('utf8'));
    const list = (Array.isArray(words) ? words : [words]).filter((word): word is string => typeof word === 'string');
    const named = (key: string): string | undefined =>
      list.find((word) => word.startsWith(`${key}=`))?.slice(key.length + 1);
    return shortText([named('category'), named('cause')].filter((word) => word !== undefined).join(' '));
  } catch {
    return null; // A form this version does not know says only that there is a problem, which `attempt` says already.
  }
}

function workflowTaskOf(raw: RawDescription): PendingWorkflowTask | null {
  const task = raw.pendingWorkflowTask;
  if (!task) return null;
  return {
    attempt: task.attempt ?? 1,
    scheduledAtMs: earliest(timeOf(task.originalScheduledTime), timeOf(task.scheduledTime)),
    started: Number(task.state) === WORKFLOW_TASK_STARTED,
    problem: reportedProblem(raw),
  };
}

/**
 * @throws HealthError EVIDENCE_INVALID where the answer lacks the run or holds an enum value unknown here.
 */
export function describedRun(raw: RawDescription): DescribedRun {
  const info = raw.workflowExecutionInfo;
  const runId = textOf(info?.execution?.runId);
  const startedAtMs = timeOf(info?.startTime);
  if (!info || runId === null || startedAtMs === null) {
    throw new HealthError('EVIDENCE_INVALID', 'Temporal described a run without its id or its start.', {
      field: 'workflowExecutionInfo',
    });
  }
  const extended = raw.workflowExtendedInfo;
  const taskQueue = textOf(raw.executionConfig?.taskQueue?.name) ?? textOf(info.taskQueue);
  const pause = extended?.pauseInfo;
  const activities = (raw.pendingActivities ?? []).map((activity) => activityOf(activity, taskQueue));
  const description: Description = {
    status: known(STATUSES, info.status, 'status'),
    startedAtMs,
    closedAtMs: timeOf(info.closeTime),
    expiresAtMs: earliest(timeOf(extended?.runExpirationTime), timeOf(extended?.executionExpirationTime)),
    historyEvents: numberOf(info.historyLength),
    historyBytes: numberOf(info.historySizeBytes),
    historyGrowthPerMinute: null,
    resetRunId: textOf(extended?.resetRunId),
    cancelRequested: extended?.cancelRequested ?? false,
    taskQueue,
    paused: pause
      ? { by: shortText(pause.identity), reason: shortText(pause.reason), sinceMs: timeOf(pause.pausedTime) }
      : null,
    pendingActivities: activities,
    pendingWorkflowTask: workflowTaskOf(raw),
    pendingChildren: (raw.pendingChildren ?? []).map((child) => ({
      workflowId: child.workflowId ?? '',
      runId: textOf(child.runId),
      workflowType: child.workflowTypeName ?? '',
    })),
  };
  return {
    runId,
    workflowType: info.type?.name ?? '',
    firstRunId: textOf(info.firstRunId) ?? runId,
    description,
    failureTexts: failureTextsOf(raw),
  };
}

function failureTextsOf(raw: RawDescription): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const activity of raw.pendingActivities ?? []) {
    const text = activity.lastFailure ? shortText(innermost(activity.lastFailure).message) : null;
    if (text !== null && activity.activityId) texts[activity.activityId] = text;
  }
  return texts;
}

/**
 * The task queues whose pollers matter now: those where due work waits. A retry that is still backing off, a paused
 * activity and a task that somebody holds wait for no poller.
 */
export function queuesWithWaitingWork(description: Description, nowMs: number): readonly TaskQueueQuestion[] {
  if (!isOpen(description.status) || description.status === 'PAUSED') return [];
  const questions = new Map<string, TaskQueueQuestion>();
  const task = description.pendingWorkflowTask;
  if (task && !task.started && description.taskQueue !== null) {
    questions.set(`workflow/${description.taskQueue}`, { name: description.taskQueue, kind: 'workflow' });
  }
  for (const activity of description.pendingActivities) {
    const due = activity.nextAttemptAtMs === null || activity.nextAttemptAtMs <= nowMs;
    if (activity.state !== 'SCHEDULED' || activity.paused || !due || activity.taskQueue === null) continue;
    questions.set(`activity/${activity.taskQueue}`, { name: activity.taskQueue, kind: 'activity' });
  }
  return [...questions.values()];
}

export function taskQueueState(question: TaskQueueQuestion, raw: RawTaskQueue): TaskQueueState {
  const polls = (raw.pollers ?? []).map((poller) => timeOf(poller.lastAccessTime) ?? 0);
  const newest = Math.max(0, ...polls);
  return {
    ...question,
    lastPollAtMs: newest > 0 ? newest : null,
    backlogCount: numberOf(raw.stats?.approximateBacklogCount),
    backlogAgeMs: durationOf(raw.stats?.approximateBacklogAge) ?? 0,
  };
}

/**
 * The close of a run by its last events, newest first: the close event, and the newest cancel request where one came
 * before it (a canceled run's own event does not say who asked).
 */
export function closeEventOf(newestFirst: readonly RawEvent[], description: Description): CloseEvent | null {
  const close = newestFirst[0];
  const closedAtMs = timeOf(close?.eventTime) ?? description.closedAtMs;
  if (!close || closedAtMs === null || isOpen(description.status)) return null;
  const attributes =
    close.workflowExecutionCompletedEventAttributes ??
    close.workflowExecutionFailedEventAttributes ??
    close.workflowExecutionTimedOutEventAttributes ??
    close.workflowExecutionContinuedAsNewEventAttributes;
  const terminated = close.workflowExecutionTerminatedEventAttributes;
  const canceled = close.workflowExecutionCanceledEventAttributes;
  if (!attributes && !terminated && !canceled) return null;
  const failed = close.workflowExecutionFailedEventAttributes;
  const asked = newestFirst.find((event) => event.workflowExecutionCancelRequestedEventAttributes);
  const request = canceled ? asked?.workflowExecutionCancelRequestedEventAttributes : undefined;
  return {
    status: description.status,
    atMs: closedAtMs,
    identity: shortText(terminated?.identity ?? request?.identity),
    reason: shortText(terminated?.reason ?? request?.cause),
    failure: failureOf(failed?.failure),
    successorRunId: textOf(attributes?.newExecutionRunId),
  };
}

/** A row of the visibility list. Null where it is incomplete or of a status unknown here: Describe then decides. */
export function listedRun(raw: RawListedRun): ListedRun | null {
  const workflowId = textOf(raw.execution?.workflowId);
  const runId = textOf(raw.execution?.runId);
  const status = STATUSES[raw.status ?? 0];
  const startedAtMs = timeOf(raw.startTime);
  if (workflowId === null || runId === null || status === undefined || startedAtMs === null) return null;
  return {
    workflowId,
    runId,
    workflowType: raw.type?.name ?? '',
    taskQueue: textOf(raw.taskQueue),
    status,
    startedAtMs,
    closedAtMs: timeOf(raw.closeTime),
  };
}

/** Growth between two observations of one run; null where they are too close to tell. */
export function growthPerMinute(
  earlier: { readonly observedAtMs: number; readonly historyEvents: number },
  later: { readonly observedAtMs: number; readonly historyEvents: number },
): number | null {
  const minutes = (later.observedAtMs - earlier.observedAtMs) / 60_000;
  if (minutes < 0.5 || later.historyEvents < earlier.historyEvents) return null;
  return Math.round(((later.historyEvents - earlier.historyEvents) / minutes) * 10) / 10;
}
