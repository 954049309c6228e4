/** Names and shapes of everything that crosses the border of the sandbox. Plain JSON, and no code. */
import type { ReceiptKind } from '../receipts/receipt.ts';

/** The activity that writes what a workflow records; every worker with the plugin has it. */
export const RECORD_ACTIVITY = 'temporal-health.record';

/** A receipt as the workflow makes it: id, order and time are made there, so that a retried write is the same receipt. */
export interface WorkflowReceipt {
  readonly receiptId: string;
  readonly kind: ReceiptKind;
  /** The run's start: it only grows, and a reset gives a new one. */
  readonly fence: number;
  readonly sequence: number;
  readonly occurredAtMs: number;
  /** What relative moments of the input count from: every sending of it must read the same body. */
  readonly readFromMs: number;
  /** As `BodyInputs[kind]`: it is read and refused in the activity, because the reader does not fit in the sandbox. */
  readonly input: unknown;
}

/** Oldest first: what could not be written earlier travels with the next receipt. */
export interface RecordRequest {
  readonly receipts: readonly WorkflowReceipt[];
}

/** `details[0]` of a record activity's failure. */
export interface RecordFailureDetails {
  readonly code: string;
  readonly message: string;
  /** False when the receipt was refused before it was sent: its sequence number is free again. */
  readonly sequenceSpent: boolean;
}

/** The failure type of a receipt that was refused: the same receipt will be refused again. */
export const RECORD_REFUSED = 'temporal-health.refused';
