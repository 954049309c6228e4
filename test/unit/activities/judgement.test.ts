/** A judgement on a deliverable without a deterministic check: who may state it, and what becomes of it. */
import type { Context } from '@temporalio/activity';
import { describe, expect, test } from 'vitest';
import type { ReceiptSink } from '../../../activities/outbox.ts';
import { ActivityRecorder } from '../../../activities/recorder.ts';
import type { DeliverableJudgement } from '../../../activities/recorder.ts';
import { fileDigest } from '../../../receipts/checks/index.ts';
import { defineContract } from '../../../receipts/contract.ts';
import type { DeliverableCheck } from '../../../receipts/contract.ts';
import type { Receipt } from '../../../receipts/envelope.ts';

const NOW_MS = 1_780_000_000_000;
const CONTEXT = {
  info: {
    workflowExecution: { workflowId: 'wf-1', runId: 'R1' },
    ...{ namespace: 'default', workflowType: 'mission', activityId: '1', activityType: 'step', attempt: 1 },
    ...{ startToCloseTimeoutMs: 60_000, scheduleToCloseTimeoutMs: 0, scheduledTimestampMs: NOW_MS },
    ...{ currentAttemptScheduledTimestampMs: NOW_MS, isLocal: false },
  },
  cancellationSignal: new AbortController().signal,
  cancelled: new Promise<never>(() => undefined),
} as unknown as Context;

const CONTRACT = defineContract({
  workflowType: 'mission',
  deliverables: {
    summary: { destination: 'inbox', noDeterministicCheck: 'prose has no predicate' },
    table: { destination: 'file', check: fileDigest() },
  },
});

function recorder(): { recorder: ActivityRecorder; sent: Receipt[] } {
  const sent: Receipt[] = [];
  const sink: ReceiptSink = {
    nowMs: () => NOW_MS,
    knownDown: () => false,
    emit: (receipt) => {
      sent.push(receipt);
      return Promise.resolve({ receiptId: receipt.receiptId, outcome: 'stored' });
    },
    hasten: () => undefined,
    read: () => Promise.reject(new Error('not asked here')),
    untilWorthTrying: () => Promise.resolve(),
  };
  const facts = {
    ...{ chainId: 'R1', originalExecutionRunId: 'R1', runStartedAtMs: NOW_MS - 1000, runDeadlineMs: null },
    ...{ missionFingerprint: null, historyLength: 1, historySizeBytes: 1 },
  };
  const worker = { sink, clusterId: 'cluster-1', namespace: 'default' };
  return { recorder: new ActivityRecorder(worker, CONTEXT, facts, CONTRACT), sent };
}

const GIVEN: DeliverableJudgement = { by: 'editor-rubric-3', result: 'pass', confidence: 0.86 };

test('a judgement is a receipt with its judge and its confidence, at the promised destination', async () => {
  const { recorder: receipts, sent } = recorder();
  expect(await receipts.deliverable('summary').judge(GIVEN)).toMatchObject({ outcome: 'stored' });
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({
    kind: 'deliverable',
    body: {
      ...{ name: 'summary', destination: 'inbox', check: 'judged:editor-rubric-3' },
      ...{ result: 'pass', confidence: 0.86 },
    },
  });
});

describe('refused, and nothing is recorded', () => {
  test.each<[string, string, Partial<Record<keyof DeliverableJudgement, unknown>>, string]>([
    ['where a check exists', 'table', {}, 'DELIVERABLE_CHECK_REQUIRED'],
    ['of what no contract names', 'other', {}, 'CONTRACT_UNKNOWN'],
    ['without a judge', 'summary', { by: ' ' }, 'RECEIPT_INVALID'],
    ['without a confidence', 'summary', { confidence: undefined }, 'DELIVERABLE_CHECK_REQUIRED'],
    ['with a confidence above 1', 'summary', { confidence: 1.01 }, 'RECEIPT_INVALID'],
    ['with a confidence below 0', 'summary', { confidence: -0.1 }, 'RECEIPT_INVALID'],
    ['with a confidence that is no number', 'summary', { confidence: 'high' }, 'RECEIPT_INVALID'],
    ['with its reasoning', 'summary', { reasoning: 'it reads well' } as never, 'RECEIPT_UNKNOWN_FIELD'],
  ])('%s', async (_what, name, wrong, type) => {
    const { recorder: receipts, sent } = recorder();
    const judging = receipts.deliverable(name).judge({ ...GIVEN, ...wrong } as DeliverableJudgement);
    await expect(judging).rejects.toMatchObject({ type });
    expect(sent).toEqual([]);
  });
});

test('a check may not go by the name of a judgement', () => {
  for (const name of ['judged', 'judged:me']) {
    const check: DeliverableCheck = { ...fileDigest(), name };
    expect(() =>
      defineContract({ workflowType: 'mission', deliverables: { table: { destination: 'file', check } } }),
    ).toThrow(expect.objectContaining({ code: 'CONTRACT_INVALID', field: 'deliverables.table.check' }) as Error);
  }
});
