/**
 * Cuts receipts into segments that one emit statement can take. `on conflict` may touch a row once, so within a segment
 *  - a receipt id, and the key of an effect, a wait or a deliverable occurs once;
 *  - an emitter has one fence, and its sequences follow each other (then the count of what is missing is the same whether
 *    the receipts are taken together or one by one).
 * An emitter's receipts keep their order over the segments. Nearly always the answer is one segment.
 */
import { compareOrder } from '../envelope.ts';
import type { OrderParts, Receipt } from '../envelope.ts';

/** Anything that carries a receipt. */
export interface WithReceipt {
  readonly receipt: Receipt;
}

interface Place extends OrderParts {
  readonly segment: number;
}

/** Segments in the order in which they must be stored; together they hold every item once. */
export function cutIntoSegments<T extends WithReceipt>(items: readonly T[]): readonly (readonly T[])[] {
  const segments: T[][] = [];
  const lastUse = new Map<string, number>();
  const emitters = new Map<string, Place>();
  for (const item of [...items].sort((a, b) => compareOrder(a.receipt, b.receipt))) {
    const { receipt } = item;
    const keys = keysOf(receipt);
    const emitter = key('emitter', receipt, receipt.runId, receipt.emitter);
    const before = emitters.get(emitter);
    const afterEmitter = before === undefined ? 0 : before.segment + (follows(receipt, before) ? 0 : 1);
    const segment = Math.max(afterEmitter, ...keys.map((one) => (lastUse.get(one) ?? -1) + 1));
    for (const one of keys) lastUse.set(one, segment);
    const { fence, attempt, sequence } = receipt;
    emitters.set(emitter, { segment, fence, attempt, sequence });
    (segments[segment] ??= []).push(item);
  }
  return segments;
}

function follows(receipt: OrderParts, before: OrderParts): boolean {
  return (
    receipt.fence === before.fence && receipt.attempt === before.attempt && receipt.sequence === before.sequence + 1
  );
}

/** No text that Postgres stores holds a NUL, so the parts stay apart. */
function key(kind: string, receipt: Receipt, ...parts: readonly string[]): string {
  return [kind, receipt.namespace, receipt.workflowId, receipt.chainId, ...parts].join('\0');
}

function keysOf(receipt: Receipt): readonly string[] {
  const id = `id ${receipt.receiptId.toLowerCase()}`;
  const mission = receipt.missionFingerprint ?? '';
  switch (receipt.kind) {
    case 'progress':
      return [id];
    case 'effect':
      return [id, key('effect', receipt, receipt.body.operationId)];
    case 'wait':
      return [id, key('wait', receipt, mission, receipt.body.resumeToken?.trim() ?? '')];
    case 'deliverable':
      return [id, key('deliverable', receipt, mission, receipt.body.name, receipt.body.check)];
  }
}
