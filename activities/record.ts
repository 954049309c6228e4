/**
 * The activity that workflow helpers record through: first as a local activity of one second and one attempt, then as a
 * regular one. It holds nothing and waits for nobody: while the store is known to be away it fails at once, so that
 * neither a workflow-task slot nor an activity slot is held by an outage.
 */
import { ApplicationFailure } from '@temporalio/common';
import { RECEIPT_SCHEMA_VERSION, WORKFLOW_EMITTER } from '../receipts/envelope.ts';
import type { Receipt } from '../receipts/envelope.ts';
import { HealthError } from '../receipts/errors.ts';
import { parseBody } from '../receipts/parse.ts';
import { RECORD_REFUSED } from '../workflows/messages.ts';
import type { RecordFailureDetails, RecordRequest, WorkflowReceipt } from '../workflows/messages.ts';
import { asHealthError, isUnavailable, toFailure } from './failures.ts';
import { currentRecorder } from './recorder.ts';
import type { ActivityRecorder } from './recorder.ts';

/** A store that hangs sends no error: no slot is held for it longer than this. */
const PATIENCE_MS = 2_000;

/** Stores the receipts in their order. The last one is the newest: only its refusal is the caller's business. */
export async function recordForWorkflow(request: RecordRequest): Promise<void> {
  const recorder = currentRecorder();
  const ready: Receipt[] = [];
  for (const [index, receipt] of request.receipts.entries()) {
    const read = readReceipt(recorder, receipt);
    if (!(read instanceof HealthError)) ready.push(read);
    else if (index === request.receipts.length - 1) throw refused(read, false);
  }
  if (recorder.sink.knownDown()) {
    throw withoutStack(
      toFailure(new HealthError('STORE_UNAVAILABLE', 'The store is away; the receipt is sent again.')),
    );
  }
  try {
    const sending = Promise.all(ready.map((receipt) => recorder.sink.emit(receipt, { linger: false })));
    const outcomes = await recorder.attempt.hold(sending, PATIENCE_MS);
    if (outcomes === undefined) throw away();
    const newest = outcomes.at(-1);
    if (newest?.outcome === 'refused') throw refused(newest.error, true);
  } catch (error) {
    throw isUnavailable(error) ? withoutStack(toFailure(asHealthError(error, 'STORE_UNAVAILABLE'))) : error;
  }
}

function away(): ApplicationFailure {
  return withoutStack(toFailure(new HealthError('STORE_UNAVAILABLE', 'The store is away; the receipt is sent again.')));
}

function readReceipt(recorder: ActivityRecorder, given: WorkflowReceipt): Receipt | HealthError {
  try {
    const { facts, ...identity } = recorder.identity();
    const { body, sanitised } = parseBody(given.kind, given.input, recorder.bodyContext(given.readFromMs));
    return {
      ...identity,
      schemaVersion: RECEIPT_SCHEMA_VERSION,
      receiptId: given.receiptId,
      kind: given.kind,
      runStartedAtMs: given.fence,
      emitter: WORKFLOW_EMITTER,
      fence: given.fence,
      attempt: 1,
      sequence: given.sequence,
      missionFingerprint: facts.missionFingerprint,
      occurredAtMs: given.occurredAtMs,
      ...(sanitised ? { sanitised: true } : {}),
      body,
    } as Receipt;
  } catch (error) {
    return asHealthError(error, 'RECEIPT_INVALID');
  }
}

function refused(error: HealthError, sequenceSpent: boolean): ApplicationFailure {
  const details: RecordFailureDetails = { ...error.toJSON(), sequenceSpent };
  const { message } = error;
  return withoutStack(
    ApplicationFailure.create({ type: RECORD_REFUSED, message, nonRetryable: true, details: [details] }),
  );
}

/** These failures are expected and each one stands in history: the place in our code says nothing to anybody there. */
function withoutStack(failure: ApplicationFailure): ApplicationFailure {
  failure.stack = '';
  return failure;
}
