/** What every store must do, as one suite that takes a store. Each test has a cluster of its own, hence an empty store. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import type { ReceiptStore } from '../../receipts/store.ts';
import { describeEmitting } from './conformance-emitting.ts';
import { describeFolding } from './conformance-folding.ts';
import { describeReading } from './conformance-reading.ts';
import { outcomesOf, rowAndFold } from './given-receipts.ts';
import type { StoreUnderTest } from './given-receipts.ts';

export type OpenStore = (clusterId: string) => ReceiptStore;

export function describeStore(name: string, open: OpenStore): void {
  describe(name, () => {
    let clusterId: string;
    let store: ReceiptStore;
    beforeEach(() => {
      clusterId = randomUUID();
      store = open(clusterId);
    });
    afterEach(() => store.close());

    const context: StoreUnderTest = {
      clusterId: () => clusterId,
      store: () => store,
      emit: async (...receipts) => outcomesOf(await store.emit(receipts)),
      wholeRow: async (run) => {
        const { row, folded } = await rowAndFold(store, run);
        expect(row).toEqual(folded);
        return row!;
      },
    };
    describeEmitting(context);
    describeFolding(context);
    describeReading(context);
  });
}
