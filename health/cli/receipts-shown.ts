/** What `receipts list` shows of a receipt, and of how many. */
import type { StoredReceipt, StoredRefusal } from '../../receipts/envelope.ts';

export const RECEIPT_COLUMNS = [
  'recorded',
  'kind',
  'what',
  'mark',
  'emitter',
  'attempt',
  'sequence',
  'occurred',
  'run',
  'id',
] as const;
export type ReceiptColumn = (typeof RECEIPT_COLUMNS)[number];

/** Receipts of one chain that are read at most. */
export const MOST_RECEIPTS = 10_000;

/** `late`: kept and not counted, its attempt had been replaced. `refused`: its place alone is kept, and why. */
export type Mark = 'late' | 'refused' | null;

export interface ListedReceipt {
  readonly mark: Mark;
  readonly receipt: StoredReceipt | StoredRefusal;
}
