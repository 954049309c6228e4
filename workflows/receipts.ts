/**
 * Recording from a workflow: `recordProgress`, `recordWait`, `openWait`.
 *
 * A receipt is made here (id, sequence, time) and written by an activity: first a local one of one second and one attempt
 * (one history event), then, where the store is away, a regular one, which holds no workflow task and is seen in
 * Describe. What could not be written at all travels with the next receipt.
 */
import { ApplicationFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import { proxyActivities, proxyLocalActivities, uuid4 } from '@temporalio/workflow';
import type { ErrorCode } from '../receipts/errors.ts';
import type { ProgressInput, WaitInput } from '../receipts/input.ts';
import type { ReceiptKind } from '../receipts/receipt.ts';
import { RECORD_ACTIVITY, RECORD_REFUSED } from './messages.ts';
import type { RecordFailureDetails, RecordRequest, WorkflowReceipt } from './messages.ts';
import { isIntercepted, runStartedAtMs } from './run.ts';

/** An expected refusal is a value: a note never fails a run. STORE_UNAVAILABLE: it travels with the next receipt. */
export type WorkflowProgressAnswer =
  | { readonly recorded: true }
  | { readonly recorded: false; readonly error: { readonly code: string; readonly message: string } };

export type WaitRequest = Omit<WaitInput, 'resumeToken' | 'state'> & {
  /** Any non-empty identity that resumes this same work; one is minted where absent. */
  readonly resumeToken?: string;
};

/** A wait that is open: end it by one of the two. Neither fails the run, nor waits for long, when the store is away. */
export interface OpenWait {
  readonly resumeToken: string;
  /** The answer came and was acted on. */
  consumed(): Promise<void>;
  /** It is no longer needed: nobody has to answer. */
  withdrawn(): Promise<void>;
}

const LOCAL_MS = 1_000;
/** How long a progress note, and how long the end of a wait, may hold up its workflow. */
const PROGRESS_PATIENCE_MS = 10_000;
const END_OF_WAIT_PATIENCE_MS = 60_000;
/** The opening of a wait is not given up: it is tried in rounds of this length, about six events each. */
const OPENING_ROUND_MS = 600_000;
const ATTEMPT_MS = 20_000;
const HEARTBEAT_TIMEOUT_MS = 10_000;
const MAXIMUM_BACKLOG = 64;

type Recording = Record<typeof RECORD_ACTIVITY, (request: RecordRequest) => Promise<void>>;

/** What this run has recorded; replayed like everything else in the sandbox. */
const sent = { fence: 0, last: 0, freed: [] as number[], backlog: [] as WorkflowReceipt[] };

class Refused extends Error {
  readonly details: RecordFailureDetails;

  constructor(details: RecordFailureDetails) {
    super(details.message);
    this.details = details;
  }
}

/**
 * Records a milestone of the workflow itself; in an outage it holds the workflow for ten seconds at most.
 * @throws ApplicationFailure PLUGIN_MISSING (non-retryable)
 */
export async function recordProgress(progress: ProgressInput): Promise<WorkflowProgressAnswer> {
  const receipt = mint('progress', progress, Date.now());
  try {
    if (await sendPatiently(receipt, PROGRESS_PATIENCE_MS)) return { recorded: true };
    const code: ErrorCode = 'STORE_UNAVAILABLE';
    return { recorded: false, error: { code, message: 'The store is away; the note travels with the next receipt.' } };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { code, message } = error.details;
    return { recorded: false, error: { code, message } };
  }
}

/**
 * Records one state of a wait. `open` (the default) returns when it is stored, whatever an outage takes, or when the
 * workflow is cancelled; every later state is tried for a minute and then travels with the next receipt. Give the same
 * name, token and absolute deadline each time; `openWait` does.
 * @throws ApplicationFailure WAIT_INCOMPLETE, WAIT_DEADLINE, RECEIPT_*, PLUGIN_MISSING (non-retryable)
 */
export async function recordWait(wait: WaitInput): Promise<void> {
  await recordWaitFrom(wait, Date.now());
}

/**
 * Records an open wait and gives back how to end it. Await your condition between the two:
 *
 *     const wait = await openWait({ name: 'approval', owner: 'ann', deadline: '2 days', resumeBy: 'signal' });
 *     if (await condition(() => approved, '2 days')) await wait.consumed();
 *
 * @throws ApplicationFailure as `recordWait`
 */
export async function openWait(request: WaitRequest): Promise<OpenWait> {
  const { resumeToken = uuid4(), ...rest } = request;
  const openedAtMs = Date.now();
  const become = (state: WaitInput['state'] & string): Promise<void> =>
    recordWaitFrom({ ...rest, resumeToken, state }, openedAtMs);
  await become('open');
  return { resumeToken, consumed: () => become('consumed'), withdrawn: () => become('withdrawn') };
}

async function recordWaitFrom(wait: WaitInput, readFromMs: number): Promise<void> {
  const receipt = mint('wait', wait, readFromMs);
  try {
    if ((wait.state ?? 'open') !== 'open') {
      await sendPatiently(receipt, END_OF_WAIT_PATIENCE_MS);
      return;
    }
    let stored = await CancellationScope.nonCancellable(() => send(receipt, localActivity()));
    while (!stored) stored = await send(receipt, regularActivity(OPENING_ROUND_MS));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { code, message } = error.details;
    throw ApplicationFailure.create({ type: code, message, nonRetryable: true, details: [error.details] });
  }
}

/** A cancelled workflow still says what became of its waits; false: kept for the next receipt. */
function sendPatiently(receipt: WorkflowReceipt, patienceMs: number): Promise<boolean> {
  return CancellationScope.nonCancellable(async () => {
    if (await send(receipt, localActivity())) return true;
    if (await send(receipt, regularActivity(patienceMs))) return true;
    sent.backlog = [...sent.backlog, receipt].slice(-MAXIMUM_BACKLOG);
    return false;
  });
}

function localActivity(): Recording {
  return proxyLocalActivities<Recording>({
    startToCloseTimeout: LOCAL_MS,
    scheduleToCloseTimeout: LOCAL_MS,
    retry: { maximumAttempts: 1 },
  });
}

function regularActivity(patienceMs: number): Recording {
  return proxyActivities<Recording>({
    startToCloseTimeout: Math.min(ATTEMPT_MS, patienceMs),
    scheduleToCloseTimeout: patienceMs,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: { initialInterval: 1_000, backoffCoefficient: 1.5, maximumInterval: 5_000 },
    summary: 'temporal-health: records a receipt',
  });
}

/** Sends what was kept and then the receipt. False: nobody can say whether it is stored; its id makes a repeat harmless. */
async function send(receipt: WorkflowReceipt, vehicle: Recording): Promise<boolean> {
  const kept = sent.backlog;
  sent.backlog = [];
  const putBack = (): void => {
    sent.backlog = [...kept, ...sent.backlog].slice(-MAXIMUM_BACKLOG);
  };
  try {
    await vehicle[RECORD_ACTIVITY]({ receipts: [...kept, receipt] });
    return true;
  } catch (error) {
    putBack();
    if (isCancellation(error)) throw error;
    const details = refusalIn(error);
    if (details === null) return false;
    // Refused before it was sent, it has left no hole: the next receipt takes its place.
    if (!details.sequenceSpent) sent.freed = [...sent.freed, receipt.sequence].sort((a, b) => a - b);
    throw new Refused(details);
  }
}

/** What was refused, or null where the receipt may be sent again. No `instanceof`: failures are made outside. */
function refusalIn(error: unknown): RecordFailureDetails | null {
  const { name, message, cause } = error as Error;
  if (name === 'ReferenceError') throw missing('This worker has no recording activity.');
  // A regular activity's failure comes wrapped, a local one's does not.
  const failure = name === 'ActivityFailure' ? (cause as Error | undefined) : (error as Error);
  if (failure?.name === 'TimeoutFailure') return null;
  // Not from the activity: the input could not be written as JSON.
  if (failure?.name !== 'ApplicationFailure') return { code: 'RECEIPT_INVALID', message, sequenceSpent: false };
  const { type, details } = failure as { type?: string; details?: readonly unknown[] };
  return type === RECORD_REFUSED ? (details?.[0] as RecordFailureDetails) : null;
}

function mint(kind: ReceiptKind, input: unknown, readFromMs: number): WorkflowReceipt {
  if (!isIntercepted()) throw missing('This workflow bundle was built without the plugin.');
  const fence = runStartedAtMs();
  if (fence !== sent.fence) startFence(fence);
  const sequence = sent.freed.shift() ?? ++sent.last;
  const atMs = Date.now();
  return { receiptId: uuid7(atMs), kind, fence, sequence, occurredAtMs: atMs, readFromMs, input };
}

/** A reset gives the run another id, and so another emitter, whose sequence starts at 1. */
function startFence(fence: number): void {
  sent.fence = fence;
  sent.freed = [];
  sent.backlog = sent.backlog.map((receipt, index) => ({ ...receipt, fence, sequence: index + 1 }));
  sent.last = sent.backlog.length;
}

/** Version 7 layout of workflow time and Temporal's deterministic random bits: the same on every replay. */
function uuid7(atMs: number): string {
  const time = atMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${uuid4().slice(15)}`;
}

function missing(message: string): ApplicationFailure {
  const code: ErrorCode = 'PLUGIN_MISSING';
  const hint = 'Give HealthPlugin to the worker, and to bundleWorkflowCode where its bundle is prebuilt.';
  return ApplicationFailure.create({ type: code, message: `${message} ${hint}`, nonRetryable: true });
}
