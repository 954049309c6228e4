/**
 * The reference store: everything in memory, its rows from `foldStored` itself. For tests, and for judging without a
 * server. What it answers, the Postgres store answers too (`test/store/conformance.ts` runs on both).
 *
 * It keeps nothing over a restart, so a worker must not be given it for real work.
 */
import { canonicalJson, digestJson } from './digest.ts';
import type { Contract } from './contract.ts';
import { takenAtMs } from './emitters.ts';
import type { EmitterState } from './emitters.ts';
import type { ErrorCode } from './errors.ts';
import { compareFence, compareOrder, orderKey } from './envelope.ts';
import type { Receipt, StoredReceipt, StoredRefusal } from './envelope.ts';
import { compareStored, emitterKeyOf, foldStored, startFold } from './fold.ts';
import type { Folding, Stored } from './fold.ts';
import { clusterMismatch, receiptIdConflict, refusalOf } from './refusals.ts';
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
  /** By place: a refusal that is repeated is one. */
  readonly refusals: Map<string, StoredRefusal>;
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);
const chainKey = (chain: ChainReference): string => keyOf(chain.namespace, chain.workflowId, chain.chainId);
const newestBy = <T>(items: readonly T[], timeOf: (item: T) => number): T | null =>
  items.reduce<T | null>((best, item) => (best === null || timeOf(item) >= timeOf(best) ? item : best), null);

const isUntil =
  (untilMs: number) =>
  ({ recordedAtMs }: { readonly recordedAtMs: number }): boolean =>
    recordedAtMs <= untilMs;

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
    if (known !== undefined && known !== body) {
      const error = receiptIdConflict(receiptId);
      this.#refuse(receipt, error.code, nowMs);
      return { receiptId, outcome: 'refused', error };
    }
    if (known !== undefined) return { receiptId, outcome: 'repeat' };
    this.#bodies.set(receiptId, body);
    const before = this.#emitterOf(receipt);
    const stored: StoredReceipt = { ...structuredClone(receipt), recordedAtMs: takenAtMs(before, receipt, nowMs) };
    this.#fold(stored).receipts.push(stored);
    const isLate = before !== undefined && compareFence(stored, before.newest) < 0;
    return { receiptId, outcome: isLate ? 'late' : 'stored' };
  }

  #refuse(receipt: Receipt, code: ErrorCode, nowMs: number): void {
    const place = keyOf(emitterKeyOf(receipt), orderKey(receipt));
    if (this.#chains.get(chainKey(receipt))?.refusals.has(place) === true) return;
    const refusal = refusalOf(receipt, code, takenAtMs(this.#emitterOf(receipt), receipt, nowMs));
    this.#fold(refusal).refusals.set(place, refusal);
  }

  #emitterOf(receipt: Receipt): EmitterState | undefined {
    return this.#chains.get(chainKey(receipt))?.folding.emitters[emitterKeyOf(receipt)];
  }

  #fold(stored: Stored): Chain {
    const key = chainKey(stored);
    const known = this.#chains.get(key);
    const pinned = known === undefined ? this.#newestContract(stored.namespace, stored.workflowType) : null;
    const folding = foldStored(known?.folding ?? startFold(stored, pinned?.digest ?? null), stored);
    const chain = known ?? { folding, receipts: [], refusals: new Map<string, StoredRefusal>() };
    chain.folding = folding;
    this.#chains.set(key, chain);
    return chain;
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

  readReceipts(chain: ChainReference, limit: number, untilMs = Infinity): Promise<readonly StoredReceipt[]> {
    const stored = this.#chains.get(chainKey(chain))?.receipts ?? [];
    const receipts = stored.filter(isUntil(untilMs)).sort(compareStored);
    return Promise.resolve(receipts.slice(0, limit));
  }

  readReceipt(receiptId: string): Promise<StoredReceipt | null> {
    const stored = [...this.#chains.values()].flatMap(({ receipts }) => receipts);
    return Promise.resolve(stored.find((receipt) => receipt.receiptId === receiptId) ?? null);
  }

  readRefusals(chain: ChainReference, untilMs = Infinity): Promise<readonly StoredRefusal[]> {
    const stored = [...(this.#chains.get(chainKey(chain))?.refusals.values() ?? [])];
    const refusals = stored.filter(isUntil(untilMs));
    return Promise.resolve(refusals.sort(compareStored));
  }

  recordObservation(observation: Observation): Promise<void> {
    const key = chainKey(observation);
    this.#observed.set(key, [...(this.#observed.get(key) ?? []), structuredClone(observation)]);
    return Promise.resolve();
  }

  readObservation(chain: ChainReference, closedOnly: boolean, untilMs = Infinity): Promise<Observation | null> {
    const all = this.#observed.get(chainKey(chain)) ?? [];
    const asked = all.filter(({ closed, observedAtMs }) => (closed || !closedOnly) && observedAtMs <= untilMs);
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

  readJudgement(chain: ChainReference, untilMs = Infinity): Promise<JudgementRecord | null> {
    const all = this.#judged.get(chainKey(chain)) ?? [];
    return Promise.resolve(all.findLast(({ judgedAtMs }) => judgedAtMs <= untilMs) ?? null);
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
