/** A store whose outage is a switch: in all else the memory store. */
import { HealthError } from '../../../receipts/errors.ts';
import { createMemoryStore } from '../../../receipts/memory-store.ts';
import type { OutageGap, ReceiptStore } from '../../../receipts/store.ts';
import type { StoredReceipt } from '../../../receipts/envelope.ts';

export interface SwitchedStore {
  readonly open: (clusterId: string) => ReceiptStore;
  /** How often the plugin closed it. */
  closed: number;
  opened: number;
  isDown: boolean;
  receiptsOf(workflowId: string, chainId: string): Promise<readonly StoredReceipt[]>;
  gaps(): Promise<readonly OutageGap[]>;
}

export function switchedStore(): SwitchedStore {
  let store: ReceiptStore | null = null;
  const reach = (): ReceiptStore => {
    if (store === null || switched.isDown) throw new HealthError('STORE_UNAVAILABLE', 'switched off');
    return store;
  };
  const switched: SwitchedStore = {
    closed: 0,
    opened: 0,
    isDown: false,
    open(clusterId) {
      const inner = createMemoryStore({ clusterId });
      store = inner;
      switched.opened += 1;
      return {
        ...inner,
        clusterId,
        nowMs: () => inner.nowMs(),
        emit: async (receipts) => reach().emit(receipts),
        registerContracts: async (namespace, contracts) => reach().registerContracts(namespace, contracts),
        recordGap: async (gap) => reach().recordGap(gap),
        readContract: (...args) => inner.readContract(...args),
        readChain: (...args) => inner.readChain(...args),
        listChains: (...args) => inner.listChains(...args),
        readReceipts: (...args) => inner.readReceipts(...args),
        recordObservation: (...args) => inner.recordObservation(...args),
        readObservation: (...args) => inner.readObservation(...args),
        recordJudgement: (...args) => inner.recordJudgement(...args),
        readJudgement: (...args) => inner.readJudgement(...args),
        readGaps: (...args) => inner.readGaps(...args),
        close() {
          switched.closed += 1;
          return Promise.resolve();
        },
      };
    },
    async receiptsOf(workflowId, chainId) {
      return (await store?.readReceipts({ namespace: 'default', workflowId, chainId }, 1000)) ?? [];
    },
    async gaps() {
      return (await store?.readGaps('default', 0)) ?? [];
    },
  };
  return switched;
}
