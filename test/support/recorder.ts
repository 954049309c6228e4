/** The recorder of an activity attempt that needs no server: what it says is kept. */
import type { Context } from '@temporalio/activity';
import type { ReceiptSink } from '../../activities/outbox.ts';
import { ActivityRecorder } from '../../activities/recorder.ts';
import type { DefinedContract } from '../../receipts/contract.ts';
import type { Receipt } from '../../receipts/envelope.ts';

export const NOW_MS = 1_780_000_000_000;

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

/** Of a contract of the workflow type `mission`. `sent` are the receipts that a store would have taken. */
export function recorderFor(contract: DefinedContract): { recorder: ActivityRecorder; sent: Receipt[] } {
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
  return { recorder: new ActivityRecorder(worker, CONTEXT, facts, contract), sent };
}
