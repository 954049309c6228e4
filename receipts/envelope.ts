/**
 * Whose receipt it is: which run of which chain, which emitter, in which order, when it happened and when it was stored.
 *
 * Order is (fence, attempt, sequence) per emitter, never arrival and never a wall clock (R7).
 */
import type { ReceiptBodies, ReceiptKind } from './receipt.ts';

/** The schema major of receipts and envelopes. A stored receipt keeps the one it was written with. */
export const RECEIPT_SCHEMA_VERSION = 1;

/** The emitter id of receipts that a workflow records; an activity's emitter id is its activityId. */
export const WORKFLOW_EMITTER = 'workflow';

/** Which run, in which chain, on which cluster. */
export interface RunIdentity {
  /** Temporal's cluster id (GetClusterInfo): two clusters with a namespace `default` never mix in one store. */
  readonly clusterId: string;
  readonly namespace: string;
  readonly workflowId: string;
  readonly runId: string;
  /**
   * The chain: firstExecutionRunId, so that continue-as-new, workflow retry and reset inherit; for a cron run its own
   * runId, so that last week's deliverable never speaks for today's run.
   */
  readonly chainId: string;
  readonly workflowType: string;
}

export interface Envelope extends RunIdentity {
  readonly schemaVersion: typeof RECEIPT_SCHEMA_VERSION;
  /** UUID version 7, made by the emitter: the same id is the same receipt, however often it is sent. */
  readonly receiptId: string;
  readonly kind: ReceiptKind;
  /** The run's start on Temporal's clock: it grows along the chain, so the newest run is known without asking. */
  readonly runStartedAtMs: number;
  /** activityId, or `workflow`. */
  readonly emitter: string;
  readonly activityType?: string;
  /** An activity: the server's currentAttemptScheduledTime in ms. The workflow: the run's start in ms. It only grows. */
  readonly fence: number;
  /** Temporal's attempt. It breaks ties of the fence and is none by itself: a reset sets it back to 1. */
  readonly attempt: number;
  /** Starts at 1 for each fence of an emitter and has no holes unless a receipt is missing. */
  readonly sequence: number;
  /** Digest of the mission this was done for; null where the workflow has none. */
  readonly missionFingerprint: string | null;
  /** When it happened, by the emitter's estimate of the store's clock. */
  readonly occurredAtMs: number;
  /** Bad text was replaced in a field that is no identity (R16). */
  readonly sanitised?: true;
}

export type ReceiptOf<K extends ReceiptKind> = Envelope & { readonly kind: K; readonly body: ReceiptBodies[K] };
/** A receipt on its way to the store. */
export type Receipt = { [K in ReceiptKind]: ReceiptOf<K> }[ReceiptKind];
/** A receipt as the store gives it back. */
export type StoredReceipt = Receipt & {
  /** When the store committed it, on the store's clock. */
  readonly recordedAtMs: number;
};

/**
 * A receipt that the store refused, by its place: so that its place in the sequence is no hole. Its body is not kept; who
 * sent it was told.
 */
export type StoredRefusal = Omit<Envelope, 'occurredAtMs' | 'sanitised'> & {
  /** Why, as an error code of `receipts/errors.ts`. */
  readonly code: string;
  readonly recordedAtMs: number;
};

/** The moment that counts for freshness: a backlog flushed now does not look fresh, a fast clock does not look young (R8). */
export function effectiveAtMs(receipt: { readonly occurredAtMs: number; readonly recordedAtMs: number }): number {
  return Math.min(receipt.occurredAtMs, receipt.recordedAtMs);
}

export interface OrderParts {
  readonly fence: number;
  readonly attempt: number;
  readonly sequence: number;
}

/** Negative when `a` comes before `b` by (fence, attempt, sequence). */
export function compareOrder(a: OrderParts, b: OrderParts): number {
  return a.fence - b.fence || a.attempt - b.attempt || a.sequence - b.sequence;
}

/** Negative when the attempt of `a` comes before that of `b`, by (fence, attempt). */
export function compareFence(a: Omit<OrderParts, 'sequence'>, b: Omit<OrderParts, 'sequence'>): number {
  return a.fence - b.fence || a.attempt - b.attempt;
}

const padded = (value: number, width: number): string => String(value).padStart(width, '0');

/** (fence, attempt) as text that sorts like the numbers. */
export function fenceKey({ fence, attempt }: Omit<OrderParts, 'sequence'>): string {
  return `${padded(fence, 15)}.${padded(attempt, 8)}`;
}

/** (fence, attempt, sequence) as text that sorts like the numbers: what state rows keep and ignore lower ones by. */
export function orderKey(order: OrderParts): string {
  return `${fenceKey(order)}.${padded(order.sequence, 8)}`;
}
