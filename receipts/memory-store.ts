/**
 * The reference store: everything in memory, its rows from `foldReceipt` itself. For tests, and for judging without a
 * server. What it answers, the Postgres store answers too (`test/store/conformance.ts` runs on both).
 *
 * It keeps nothing over a restart, so a worker must not be given it for real work.
 */
import { canonicalJson, digestJson } from './digest.ts';
import type { Contract } from './contract.ts';
import { compareOrder } from './envelope.ts';
import type { Receipt, StoredReceipt } from './envelope.ts';
import { emitterKeyOf, foldReceipt, startFold, takenAtMs } from './fold.ts';
import type { Folding } from './fold.ts';
import { clusterMismatch, receiptIdConflict } from './refusals.ts';
import type { ChainRow } from './state.ts';
import type {
  ChainPage,
  ChainReference,
  EmitOutcome,
  JudgementRecord,
  Observation,
  OutageGap,
  ReceiptStore,
  RunReference,
} from './store.ts';

export interface MemoryStoreOptions {
  readonly clusterId: string;
  /** The store's clock in epoch ms. */
  readonly nowMs?: () => number;
}

interface Chain {
  folding: Folding;
  readonly receipts: StoredReceipt[];
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);
const chainKey = (chain: ChainReference): string => keyOf(chain.namespace, chain.workflowId, chain.chainId);
const newestBy = <T>(items: readonly T[], timeOf: (item: T) => number): T | null =>
  items.reduce<T | null>((best, item) => (best === null || timeOf(item) >= timeOf(best) ? item : best), null);

export function createMemoryStore(options: MemoryStoreOptions): ReceiptStore {
  return new MemoryStore(options.clusterId, options.nowMs ?? Date.now);
}

class MemoryStore implements ReceiptStore {
  readonly clusterId: string;
  readonly #clock: () => number;
  readonly #bodies = new Map<string, string>();
  readonly #chains = new Map<string, Chain>();
  readonly #observed = new Map<string, Observation[]>();
  readonly #judged = new Map<string, JudgementRecord[]>();
  readonly #contracts: { namespace: string; contract: Contract; digest: string }[] = [];
  readonly #gaps = new Map<string, OutageGap>();
  #newestMs = 0;

  constructor(clusterId: string, clock: () => number) {
    this.clusterId = clusterId;
    this.#clock = clock;
  }

  nowMs(): number {
    this.#newestMs = Math.max(this.#newestMs, Math.floor(this.#clock()));
    return this.#newestMs;
  }

  emit(receipts: readonly Receipt[]): Promise<readonly EmitOutcome[]> {
    const nowMs = this.nowMs();
    const outcomes: EmitOutcome[] = [];
    const inOrder = receipts.map((receipt, place) => ({ receipt, place }));
    inOrder.sort((a, b) => compareOrder(a.receipt, b.receipt));
    for (const { receipt, place } of inOrder) outcomes[place] = this.#take(receipt, nowMs);
    return Promise.resolve(outcomes);
  }

  #take(receipt: Receipt, nowMs: number): EmitOutcome {
    const { receiptId } = receipt;
    if (receipt.clusterId !== this.clusterId) return { receiptId, outcome: 'refused', error: clusterMismatch() };
    const body = canonicalJson([receipt.kind, receipt.body]);
    const known = this.#bodies.get(receiptId);
    if (known !== undefined) {
      return known === body
        ? { receiptId, outcome: 'repeat' }
        : { receiptId, outcome: 'refused', error: receiptIdConflict(receiptId) };
    }
    this.#bodies.set(receiptId, body);
    const key = chainKey(receipt);
    const chain = this.#chains.get(key);
    const before = chain?.folding.emitters[emitterKeyOf(receipt)];
    const stored: StoredReceipt = { ...structuredClone(receipt), recordedAtMs: takenAtMs(before, receipt, nowMs) };
    const pinned = chain === undefined ? this.#newestContract(receipt.namespace, receipt.workflowType) : null;
    const folding = foldReceipt(chain?.folding ?? startFold(stored, pinned?.digest ?? null), stored);
    if (chain === undefined) this.#chains.set(key, { folding, receipts: [stored] });
    else {
      chain.folding = folding;
      chain.receipts.push(stored);
    }
    const isLate = before !== undefined && compareOrder({ ...stored, sequence: 0 }, { ...before, sequence: 0 }) < 0;
    return { receiptId, outcome: isLate ? 'late' : 'stored' };
  }

  registerContracts(namespace: string, contracts: readonly Contract[]): Promise<readonly string[]> {
    const digests = contracts.map((contract) => {
      const digest = digestJson(contract);
      const isKnown = this.#contracts.some((known) => known.namespace === namespace && known.digest === digest);
      if (!isKnown) this.#contracts.push({ namespace, contract: structuredClone(contract), digest });
      return digest;
    });
    return Promise.resolve(digests);
  }

  #newestContract(namespace: string, workflowType: string): { contract: Contract; digest: string } | null {
    const found = this.#contracts.findLast(
      (known) => known.namespace === namespace && known.contract.workflowType === workflowType,
    );
    return found === undefined ? null : { contract: found.contract, digest: found.digest };
  }

  readContract(
    namespace: string,
    workflowType: string,
    digest: string | null,
  ): Promise<{ contract: Contract; digest: string } | null> {
    if (digest === null) return Promise.resolve(this.#newestContract(namespace, workflowType));
    const found = this.#contracts.find(
      (known) =>
        known.namespace === namespace && known.contract.workflowType === workflowType && known.digest === digest,
    );
    return Promise.resolve(found === undefined ? null : { contract: found.contract, digest });
  }

  readChain(run: RunReference): Promise<ChainRow | null> {
    const ofWorkflow = [...this.#chains.values()].filter(
      ({ folding: { row } }) => row.namespace === run.namespace && row.workflowId === run.workflowId,
    );
    const { runId } = run;
    const candidates =
      runId === undefined
        ? ofWorkflow
        : ofWorkflow.filter(
            ({ folding, receipts }) =>
              folding.row.chainId === runId || receipts.some((receipt) => receipt.runId === runId),
          );
    candidates.sort((a, b) => (a.folding.row.chainId < b.folding.row.chainId ? -1 : 1));
    return Promise.resolve(newestBy(candidates, ({ folding }) => folding.row.runStartedAtMs)?.folding.row ?? null);
  }

  listChains(query: {
    namespace: string;
    limit: number;
    cursor?: string;
    changedSinceMs?: number;
  }): Promise<ChainPage> {
    const { namespace, limit, cursor, changedSinceMs = 0 } = query;
    const after = (row: ChainRow): boolean => cursor === undefined || chainKey(row) > cursor;
    const rows = [...this.#chains.values()]
      .map(({ folding }) => folding.row)
      .filter((row) => row.namespace === namespace && after(row) && row.lastReceiptAtMs >= changedSinceMs)
      .sort((a, b) => (chainKey(a) < chainKey(b) ? -1 : 1));
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return Promise.resolve({ rows: page, cursor: rows.length > limit && last !== undefined ? chainKey(last) : null });
  }

  readReceipts(chain: ChainReference, limit: number): Promise<readonly StoredReceipt[]> {
    const receipts = [...(this.#chains.get(chainKey(chain))?.receipts ?? [])].sort(
      (a, b) => a.recordedAtMs - b.recordedAtMs || compareOrder(a, b) || (a.receiptId < b.receiptId ? -1 : 1),
    );
    return Promise.resolve(receipts.slice(0, limit));
  }

  recordObservation(observation: Observation): Promise<void> {
    const key = chainKey(observation);
    this.#observed.set(key, [...(this.#observed.get(key) ?? []), structuredClone(observation)]);
    return Promise.resolve();
  }

  readObservation(chain: ChainReference, closedOnly: boolean): Promise<Observation | null> {
    const all = this.#observed.get(chainKey(chain)) ?? [];
    const asked = all.filter(({ closed }) => closed || !closedOnly);
    return Promise.resolve(newestBy(asked, ({ observedAtMs }) => observedAtMs));
  }

  recordJudgement(judgement: JudgementRecord): Promise<boolean> {
    const key = chainKey(judgement);
    const all = this.#judged.get(key) ?? [];
    const newest = all.at(-1);
    if (newest?.verdict === judgement.verdict && newest.reason === judgement.reason) return Promise.resolve(false);
    this.#judged.set(key, [...all, structuredClone(judgement)]);
    return Promise.resolve(true);
  }

  readJudgement(chain: ChainReference): Promise<JudgementRecord | null> {
    return Promise.resolve(this.#judged.get(chainKey(chain))?.at(-1) ?? null);
  }

  recordGap(gap: OutageGap): Promise<void> {
    const key = keyOf(gap.namespace, gap.workerId, String(gap.fromMs));
    const known = this.#gaps.get(key)?.untilMs ?? null;
    const untilMs = known === null || gap.untilMs === null ? (gap.untilMs ?? known) : Math.max(known, gap.untilMs);
    this.#gaps.set(key, { ...gap, untilMs });
    return Promise.resolve();
  }

  readGaps(namespace: string, sinceMs: number): Promise<readonly OutageGap[]> {
    const gaps = [...this.#gaps.values()]
      .filter((gap) => gap.namespace === namespace && (gap.untilMs === null || gap.untilMs > sinceMs))
      .sort((a, b) => a.fromMs - b.fromMs || (a.workerId < b.workerId ? -1 : 1));
    return Promise.resolve(gaps);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
