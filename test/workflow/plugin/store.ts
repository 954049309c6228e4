/** A store whose outage is a switch: in all else the memory store. */
import { setTimeout as delay } from 'node:timers/promises';
import { HealthError } from '../../../receipts/errors.ts';
import { createMemoryStore } from '../../../receipts/memory-store.ts';
import type { OutageGap, ReceiptStore } from '../../../receipts/store.ts';
import type { StoredReceipt } from '../../../receipts/envelope.ts';

const QUERY_TIMEOUT_MS = 5_000;

export interface SwitchedStore {
  readonly open: (clusterId: string) => ReceiptStore;
  /** How often the plugin closed it. */
  closed: number;
  opened: number;
  isDown: boolean;
  /** While it lasts writes get no answer at all. */
  isHung: boolean;
  receiptsOf(workflowId: string, chainId: string): Promise<readonly StoredReceipt[]>;
  gaps(): Promise<readonly OutageGap[]>;
}

export function switchedStore(): SwitchedStore {
  let store: ReceiptStore | null = null;
  const reach = (): ReceiptStore => {
    if (store === null || switched.isDown) throw new HealthError('STORE_UNAVAILABLE', 'switched off');
    return store;
  };
  /** A client gives up on a server that hangs, as the Postgres store's does. */
  const answering = async (): Promise<ReceiptStore> => {
    for (let waitedMs = 0; switched.isHung; waitedMs += 50) {
      if (waitedMs >= QUERY_TIMEOUT_MS) throw new HealthError('STORE_UNAVAILABLE', 'no answer');
      await delay(50);
    }
    return reach();
  };
  const switched: SwitchedStore = {
    closed: 0,
    opened: 0,
    isDown: false,
    isHung: false,
    open(clusterId) {
      const inner = createMemoryStore({ clusterId });
      store = inner;
      switched.opened += 1;
      return {
        ...inner,
        clusterId,
        nowMs: () => inner.nowMs(),
        emit: async (receipts) => (await answering()).emit(receipts),
        registerContracts: async (namespace, contracts) => (await answering()).registerContracts(namespace, contracts),
        recordGap: async (gap) => (await answering()).recordGap(gap),
        readContract: (...args) => inner.readContract(...args),
        readChain: (...args) => inner.readChain(...args),
        listChains: (...args) => inner.listChains(...args),
        readReceipts: (...args) => inner.readReceipts(...args),
        readReceipt: async (receiptId) => (await answering()).readReceipt(receiptId),
        readRefusals: (...args) => inner.readRefusals(...args),
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
