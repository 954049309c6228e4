/** Raw answers of Temporal, as the service gives them, and what becomes of them. */
import { describe, expect, it } from 'vitest';
import type { Description } from '../../health/evidence.ts';
import {
  closeEventOf,
  describedRun,
  failureOf,
  growthPerMinute,
  listedRun,
  queuesWithWaitingWork,
  taskQueueState,
  timeOf,
} from '../../health/temporal.ts';

/** A 64-bit number as protobuf gives it. */
const long = (value: number) => ({ toNumber: () => value }) as never;
const at = (seconds: number, nanos = 0) => ({ seconds: long(seconds), nanos });
const UNSET = at(-62_135_596_800); // the year 0001

const raw = (parts: Record<string, unknown> = {}, info: Record<string, unknown> = {}) =>
  ({
    executionConfig: { taskQueue: { name: 'main' } },
    workflowExecutionInfo: {
      execution: { workflowId: 'w', runId: 'r' },
      type: { name: 'mission' },
      status: 1,
      startTime: at(1_700_000_000, 5_000_000),
      closeTime: null,
      historyLength: long(12),
      historySizeBytes: long(3_400),
      firstRunId: 'first',
      ...info,
    },
    workflowExtendedInfo: { runExpirationTime: UNSET, executionExpirationTime: UNSET },
    pendingActivities: [],
    ...parts,
  }) as never;

const describe_ = (parts?: Record<string, unknown>, info?: Record<string, unknown>): Description =>
  describedRun(raw(parts, info)).description;

const activity = (parts: Record<string, unknown>) => ({
  activityId: 'a1',
  activityType: { name: 'charge' },
  state: 1,
  attempt: 1,
  scheduledTime: at(1_700_000_001),
  ...parts,
});

describe('times', () => {
  it('unset, zero, negative and the year 0001 are no times', () => {
    for (const time of [null, undefined, at(0), at(-5), UNSET, {}]) expect(timeOf(time)).toBeNull();
    expect(timeOf(at(1_700_000_000, 123_456_789))).toBe(1_700_000_000_123);
    expect(timeOf({ seconds: '1700000000' })).toBe(1_700_000_000_000);
  });
});

describe('Describe', () => {
  it('gives the run, with the earliest expiry that is set', () => {
    expect(describedRun(raw())).toMatchObject({ runId: 'r', firstRunId: 'first', workflowType: 'mission' });
    expect(describe_()).toMatchObject({
      status: 'RUNNING',
      startedAtMs: 1_700_000_000_005,
      closedAtMs: null,
      expiresAtMs: null,
      historyEvents: 12,
      historyBytes: 3_400,
      taskQueue: 'main',
      paused: null,
      pendingWorkflowTask: null,
    });
    const extended = { runExpirationTime: at(1_700_000_900), executionExpirationTime: at(1_700_000_800) };
    expect(describe_({ workflowExtendedInfo: extended }).expiresAtMs).toBe(1_700_000_800_000);
  });

  it('refuses a status or an activity state that it does not know: unknown is never the first of a list', () => {
    expect(() => describe_({}, { status: 99 })).toThrow(expect.objectContaining({ code: 'EVIDENCE_INVALID' }));
    expect(() => describe_({}, { status: 0 })).toThrow(expect.objectContaining({ field: 'status' }));
    expect(() => describe_({ pendingActivities: [activity({ state: 77 })] })).toThrow(/activity state/);
    expect(() => describedRun({})).toThrow(/without its id/);
  });

  it('takes no start of an earlier attempt for the current one', () => {
    const [waiting] = describe_({
      pendingActivities: [activity({ attempt: 3, lastStartedTime: at(1_700_000_005) })],
    }).pendingActivities;
    expect(waiting).toMatchObject({ state: 'SCHEDULED', lastStartedAtMs: null, taskQueue: 'main', maximumAttempts: 0 });
    const [running] = describe_({
      pendingActivities: [activity({ state: 2, lastStartedTime: at(1_700_000_005) })],
    }).pendingActivities;
    expect(running).toMatchObject({ state: 'STARTED', lastStartedAtMs: 1_700_000_005_000 });
  });

  it('reads limits from the activity options, and who paused it and why, escaped and cut', () => {
    const [one] = describe_({
      pendingActivities: [
        activity({
          state: 4,
          paused: true,
          pauseInfo: { pauseTime: at(1_700_000_009), manual: { identity: 'ann', reason: `x\n${'y'.repeat(300)}` } },
          activityOptions: {
            taskQueue: { name: 'gpu' },
            heartbeatTimeout: at(30),
            retryPolicy: { maximumAttempts: 7 },
          },
        }),
      ],
    }).pendingActivities;
    expect(one).toMatchObject({ heartbeatTimeoutMs: 30_000, maximumAttempts: 7, taskQueue: 'gpu' });
    expect(one?.paused).toMatchObject({ by: 'ann', sinceMs: 1_700_000_009_000 });
    expect(one?.paused?.reason).toMatch(/^x\\ny+…$/);
    expect(one?.paused?.reason).toHaveLength(200);
  });

  it('keeps the words of a failure apart from the document', () => {
    const failure = { message: 'secret words', applicationFailureInfo: { type: 'HttpStatus', nonRetryable: true } };
    const run = describedRun(raw({ pendingActivities: [activity({ attempt: 2, lastFailure: failure })] }));
    expect(run.description.pendingActivities[0]?.lastFailure).toEqual({ type: 'HttpStatus', nonRetryable: true });
    expect(JSON.stringify(run.description)).not.toContain('secret');
    expect(run.failureTexts).toEqual({ a1: 'secret words' });
  });

  it("names the server's own problem report of a failing workflow task, and survives a form it does not know", () => {
    const reported = (text: string) => ({
      searchAttributes: { indexedFields: { TemporalReportedProblems: { data: Buffer.from(text) } } },
    });
    const task = { pendingWorkflowTask: { state: 1, attempt: 6, scheduledTime: at(1_700_000_050) } };
    const words = JSON.stringify(['category=WorkflowTaskFailed', 'cause=WorkflowWorkerUnhandledFailure']);
    expect(describe_(task, reported(words)).pendingWorkflowTask).toEqual({
      attempt: 6,
      scheduledAtMs: 1_700_000_050_000,
      started: false,
      problem: 'WorkflowTaskFailed WorkflowWorkerUnhandledFailure',
    });
    expect(describe_(task, reported('no JSON')).pendingWorkflowTask?.problem).toBeNull();
  });
});

describe('failures', () => {
  it.each([
    [{ applicationFailureInfo: { type: 'Boom' } }, 'Boom', false],
    [{ applicationFailureInfo: { type: '' } }, 'ApplicationFailure', false],
    [{ timeoutFailureInfo: {} }, 'Timeout', false],
    [{ canceledFailureInfo: {} }, 'Canceled', false],
    [{ terminatedFailureInfo: {} }, 'Terminated', false],
    [{ serverFailureInfo: { nonRetryable: true } }, 'Server', true],
    [
      { activityFailureInfo: {}, cause: { applicationFailureInfo: { type: 'Deep', nonRetryable: true } } },
      'Deep',
      true,
    ],
    [{ childWorkflowExecutionFailureInfo: {}, cause: { timeoutFailureInfo: {} } }, 'Timeout', false],
    [{ activityFailureInfo: {} }, 'Activity', false],
    [{}, 'Unknown', false],
  ])('%j is %s', (failure, type, nonRetryable) => {
    expect(failureOf(failure as never)).toEqual({ type, nonRetryable });
  });

  it('none is none', () => {
    expect(failureOf(null)).toBeNull();
  });
});

describe('which task queues are asked', () => {
  const NOW_MS = 1_700_000_100_000;
  const asked = (parts: Record<string, unknown>, status = 1) =>
    queuesWithWaitingWork(describe_(parts, { status }), NOW_MS);

  it('those where due work waits', () => {
    expect(asked({ pendingActivities: [activity({})] })).toEqual([{ name: 'main', kind: 'activity' }]);
    expect(asked({ pendingWorkflowTask: { state: 1, attempt: 1 } })).toEqual([{ name: 'main', kind: 'workflow' }]);
  });

  it('not for a retry that backs off, a paused or running activity, a task in hand, a closed or paused run', () => {
    expect(
      asked({ pendingActivities: [activity({ attempt: 2, nextAttemptScheduleTime: at(1_700_000_200) })] }),
    ).toEqual([]);
    expect(asked({ pendingActivities: [activity({ paused: true })] })).toEqual([]);
    expect(asked({ pendingActivities: [activity({ state: 2 })] })).toEqual([]);
    expect(asked({ pendingWorkflowTask: { state: 2, attempt: 1 } })).toEqual([]);
    expect(asked({ pendingActivities: [activity({})] }, 5)).toEqual([]);
    expect(asked({ pendingActivities: [activity({})] }, 8)).toEqual([]);
  });

  it('a retry whose time has come is due again', () => {
    const due = activity({ attempt: 2, nextAttemptScheduleTime: at(1_700_000_099) });
    expect(asked({ pendingActivities: [due] })).toHaveLength(1);
  });

  it('the newest poll counts, and nobody is null', () => {
    const question = { name: 'main', kind: 'activity' } as const;
    const pollers = [{ lastAccessTime: at(1_700_000_000) }, { lastAccessTime: at(1_700_000_050) }];
    const stats = { approximateBacklogCount: long(3), approximateBacklogAge: at(12) };
    expect(taskQueueState(question, { pollers, stats })).toEqual({
      ...question,
      lastPollAtMs: 1_700_000_050_000,
      backlogCount: 3,
      backlogAgeMs: 12_000,
    });
    expect(taskQueueState(question, {})).toMatchObject({ lastPollAtMs: null, backlogCount: 0, backlogAgeMs: 0 });
  });
});

describe('how a run closed', () => {
  const closed = (status: number) => describe_({}, { status, closeTime: at(1_700_000_060) });

  it('a canceled run: who asked stands before the close', () => {
    const events = [
      { eventTime: at(1_700_000_060), workflowExecutionCanceledEventAttributes: {} },
      { eventTime: at(1_700_000_059), workflowTaskCompletedEventAttributes: {} },
      { workflowExecutionCancelRequestedEventAttributes: { identity: 'ann', cause: 'wrong invoice' } },
    ];
    expect(closeEventOf(events as never, closed(4))).toEqual({
      status: 'CANCELED',
      atMs: 1_700_000_060_000,
      identity: 'ann',
      reason: 'wrong invoice',
      failure: null,
      successorRunId: null,
    });
  });

  it('a failed run: its failure and its successor; an open run has no close', () => {
    const failed = {
      workflowExecutionFailedEventAttributes: {
        failure: { applicationFailureInfo: { type: 'Boom' } },
        newExecutionRunId: 'next',
      },
    };
    expect(closeEventOf([failed] as never, closed(3))).toMatchObject({
      atMs: 1_700_000_060_000,
      failure: { type: 'Boom' },
      successorRunId: 'next',
    });
    expect(closeEventOf([failed] as never, describe_())).toBeNull();
    expect(closeEventOf([], closed(3))).toBeNull();
  });

  it('an event that is no close tells nothing', () => {
    expect(closeEventOf([{ eventTime: at(1), timerStartedEventAttributes: {} }] as never, closed(2))).toBeNull();
  });
});

describe('the list, and growth', () => {
  it('a row that is incomplete or of an unknown status is left to Describe', () => {
    const row: Record<string, unknown> = {
      execution: { workflowId: 'w', runId: 'r' },
      status: 2,
      startTime: at(1_700_000_000),
    };
    const listed = (parts: Record<string, unknown> = {}) => listedRun({ ...row, ...parts });
    expect(listed()).toMatchObject({ workflowId: 'w', status: 'COMPLETED' });
    expect(listed({ status: 42 })).toBeNull();
    expect(listed({ execution: {} })).toBeNull();
    expect(listed({ startTime: UNSET })).toBeNull();
  });

  it('growth wants half a minute between two looks, and no reset', () => {
    const early = { observedAtMs: 0, historyEvents: 100 };
    expect(growthPerMinute(early, { observedAtMs: 120_000, historyEvents: 300 })).toBe(100);
    expect(growthPerMinute(early, { observedAtMs: 10_000, historyEvents: 300 })).toBeNull();
    expect(growthPerMinute(early, { observedAtMs: 120_000, historyEvents: 50 })).toBeNull();
  });
});
