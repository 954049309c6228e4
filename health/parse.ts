/**
 * The border of the classifier: a value from outside becomes an evidence document, or a HealthError that names the field
 * and never its value. Numbers and depth first (`receipts/inspect.ts`), then the strict shape (`schemas.ts`), then what one
 * field says of another: a document that could be judged in two ways is refused, not interpreted.
 */
import { digestJson } from '../receipts/digest.ts';
import type { StoredReceipt } from '../receipts/envelope.ts';
import { HealthError, isHealthError } from '../receipts/errors.ts';
import { fieldName, inspect } from '../receipts/inspect.ts';
import type { Inspection, Limits } from '../receipts/inspect.ts';
import { refusalOfIssues } from '../receipts/parse.ts';
import type { EvidenceDocument } from './evidence.ts';
import { evidenceSchema } from './schemas.ts';

export { evidenceSchema, judgementSchema, policySchema } from './schemas.ts';

/** A chain of some ten thousand receipts, with room to spare. */
const LIMITS: Limits = { bytes: 64 * 1024 * 1024, nesting: 16, keys: 1_000_000 };

/** Text that people wrote or read and that decides nothing by being equal: cleaned, not refused (R16). */
const LABELS: ReadonlySet<string> = new Set([
  ...['note', 'step', 'end', 'unit', 'value', 'model', 'currency', 'condition', 'level', 'reference', 'version'],
  ...['excludedBy', 'cause', 'noDeterministicCheck', 'reason', 'by', 'identity', 'problem', 'lastWorkerIdentity'],
]);

/**
 * An evidence document as `explain --export` writes it.
 * @throws HealthError EVIDENCE_INVALID, with the path of the field at fault
 */
export function parseEvidence(value: unknown): EvidenceDocument {
  const { value: cleaned, refusal } = inspected(value);
  const result = evidenceSchema.safeParse(cleaned);
  if (!result.success) throw refusalOfIssues(result.error.issues, cleaned, [], 'EVIDENCE_INVALID');
  // Whoever wrote the document has stored what it holds: a value that looks like a secret is no reason not to judge it.
  if (refusal !== null && refusal.code !== 'RECEIPT_SECRET') throw asEvidenceError(refusal);
  refuseAmbiguity(result.data);
  return result.data;
}

function inspected(value: unknown): Inspection {
  try {
    return inspect(value, { limits: LIMITS, path: [], labels: LABELS });
  } catch (error) {
    throw isHealthError(error) ? asEvidenceError(error) : error;
  }
}

function asEvidenceError({ code, field, got, limit, position, message }: HealthError): HealthError {
  const text = code === 'RECEIPT_TOO_DEEP' ? `${field ?? ''} is deeper or wider than an evidence document.` : message;
  return new HealthError('EVIDENCE_INVALID', text, {
    ...(field === undefined ? {} : { field }),
    ...(got === undefined ? {} : { got }),
    ...(limit === undefined ? {} : { limit }),
    ...(position === undefined ? {} : { position }),
  });
}

function refuse(path: readonly PropertyKey[], says: string): never {
  const field = fieldName(path);
  throw new HealthError('EVIDENCE_INVALID', `${field} ${says}`, { field });
}

function refuseAmbiguity({ chain, receipts, temporal, stops, children }: EvidenceDocument): void {
  if (chain !== null && receipts !== null) {
    refuse(['receipts'], 'must be null where the chain row is given: the two might differ.');
  }
  refuseTwice(stops, ['stops'], ({ stopId }) => stopId);
  refuseTwice(children, ['children'], ({ workflowId }) => workflowId);
  if (temporal.source === 'describe') {
    const { pendingActivities, pendingChildren } = temporal.describe;
    const path = ['temporal', 'describe'];
    refuseTwice(pendingActivities, [...path, 'pendingActivities'], ({ activityId }) => activityId);
    refuseTwice(pendingChildren, [...path, 'pendingChildren'], ({ workflowId }) => workflowId);
    refuseTwice(temporal.taskQueues, ['temporal', 'taskQueues'], ({ kind, name }) => `${kind} ${name}`);
  }
  refuseConflictingReceipts(receipts ?? []);
}

function refuseTwice<T>(items: readonly T[], path: readonly PropertyKey[], key: (item: T) => string): void {
  const known = new Set<string>();
  for (const [index, item] of items.entries()) {
    if (known.has(key(item))) refuse([...path, index], 'is there twice, and only one can be right.');
    known.add(key(item));
  }
}

/** The same receipt may come twice; the same id with another body is two receipts of which one is false (R7). */
function refuseConflictingReceipts(receipts: readonly StoredReceipt[]): void {
  const digests = new Map<string, string>();
  for (const [index, receipt] of receipts.entries()) {
    const digest = digestJson(receipt);
    const known = digests.get(receipt.receiptId);
    if (known !== undefined && known !== digest) {
      refuse(['receipts', index, 'receiptId'], 'is the id of another receipt in this document.');
    }
    digests.set(receipt.receiptId, digest);
  }
}
