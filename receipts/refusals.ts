/** Refusals that every store gives in the same words, and the place that they leave. */
import type { Receipt, StoredRefusal } from './envelope.ts';
import { HealthError } from './errors.ts';
import type { ErrorCode } from './errors.ts';

/** The receipt's chain lives on another cluster than the one the store was opened for. */
export function clusterMismatch(): HealthError {
  return new HealthError('CLUSTER_MISMATCH', 'The receipt is of another Temporal cluster than this store is for.', {
    field: 'clusterId',
    hint: 'Open a store for that cluster.',
  });
}

/** The id is stored with another body: to acknowledge it would be to lose it. */
export function receiptIdConflict(receiptId: string): HealthError {
  return new HealthError('RECEIPT_ID_CONFLICT', `Receipt ${receiptId} is stored with another body.`, {
    field: 'receiptId',
    hint: 'Give every receipt a new id; send the same id again only with the same body.',
  });
}

/** The place of a refused receipt; nothing of its body. */
export function refusalOf(receipt: Receipt, code: ErrorCode, recordedAtMs: number): StoredRefusal {
  const { body: _body, occurredAtMs: _occurredAtMs, sanitised: _sanitised, ...place } = receipt;
  return { ...place, code, recordedAtMs };
}
