/** What the store knows of one run: its chain, the contract that binds it, the outages around it. Failures become `unread`. */
import type { Contract } from '../../receipts/contract.ts';
import type { ReceiptStore } from '../../receipts/store.ts';
import type { Outage, Unread } from '../evidence.ts';
import { codeOf } from './sources.ts';

/** What is read once however many runs it speaks for: contracts (immutable by digest), and outages. */
export class SharedReads {
  readonly #store: ReceiptStore;
  readonly #namespace: string;
  readonly #gapsSinceMs: number;
  readonly #contracts = new Map<string, Promise<Contract | null>>();
  #gaps: Promise<readonly Outage[]> | undefined;

  constructor(store: ReceiptStore, namespace: string, gapsSinceMs: number) {
    this.#store = store;
    this.#namespace = namespace;
    this.#gapsSinceMs = gapsSinceMs;
  }

  contract(workflowType: string, digest: string | null): Promise<Contract | null> {
    const key = `${digest ?? ''} ${workflowType}`;
    let found = this.#contracts.get(key);
    if (found === undefined) {
      found = this.#store.readContract(this.#namespace, workflowType, digest).then((row) => row?.contract ?? null);
      this.#contracts.set(key, found);
    }
    return found;
  }

  gaps(): Promise<readonly Outage[]> {
    this.#gaps ??= this.#store
      .readGaps(this.#namespace, this.#gapsSinceMs)
      .then((gaps) => gaps.map(({ workerId, fromMs, untilMs }) => ({ workerId, fromMs, untilMs })));
    return this.#gaps;
  }
}

export interface StoreSide {
  readonly contract: Contract | null;
  readonly gaps: readonly Outage[];
  readonly unread: readonly Unread[];
}

export async function storeSideOf(
  reads: SharedReads,
  workflowType: string,
  contractDigest: string | null,
): Promise<StoreSide> {
  const unread: Unread[] = [];
  const [contract, gaps] = await Promise.all([
    reads.contract(workflowType, contractDigest).catch((error: unknown) => {
      unread.push({ source: 'contract', code: codeOf(error) });
      return null;
    }),
    reads.gaps().catch((error: unknown) => {
      unread.push({ source: 'store', code: codeOf(error) });
      return [];
    }),
  ]);
  return { contract, gaps, unread };
}
