/**
 * The store behind every receipt: one interface, a memory store that is its reference and a Postgres store, one conformance
 * suite for both. A store is opened for one cluster and refuses receipts of another.
 *
 * Its clock is the one clock for leases, deadlines and ages (R8).
 */
import type { Contract } from './contract.ts';
import type { Receipt, StoredReceipt, StoredRefusal } from './envelope.ts';
import type { HealthError } from './errors.ts';
import type { ChainRow } from './state.ts';

/** `repeat`: the same receipt was there already. `late`: kept, and its fence was replaced before it came. */
export type EmitOutcome =
  | { readonly receiptId: string; readonly outcome: 'stored' | 'repeat' | 'late' }
  | { readonly receiptId: string; readonly outcome: 'refused'; readonly error: HealthError };

/** Where a run is looked for: a workflow id, and a run id where one run of several is meant. */
export interface RunReference {
  readonly namespace: string;
  readonly workflowId: string;
  readonly runId?: string;
}

/** Which chain, exactly. */
export interface ChainReference {
  readonly namespace: string;
  readonly workflowId: string;
  readonly chainId: string;
}

/** A time in which a worker could not write; recorded when the store is back. */
export interface OutageGap {
  readonly workerId: string;
  readonly namespace: string;
  readonly fromMs: number;
  /** Null while it lasts. */
  readonly untilMs: number | null;
}

/** What Temporal said of a run at one moment, as the evidence document holds it (`health/evidence.ts`). Append-only. */
export interface Observation extends ChainReference {
  readonly runId: string;
  readonly observedAtMs: number;
  /** True when the run was closed. */
  readonly closed: boolean;
  /** The `temporal` part of an evidence document: no content, no payloads. */
  readonly temporal: unknown;
}

/** A change of verdict with what decided it. Append-only: incidents are opened, closed and reopened from it. */
export interface JudgementRecord extends ChainReference {
  readonly runId: string;
  readonly evidenceVersion: number;
  readonly ruleVersion: string;
  readonly judgedAtMs: number;
  readonly verdict: string | null;
  readonly reason: string;
  readonly judgement: unknown;
}

export interface ChainPage {
  readonly rows: readonly ChainRow[];
  /** Give it back to read on; null at the end. */
  readonly cursor: string | null;
}

export interface ReceiptStore {
  /** The cluster this store was opened for. */
  readonly clusterId: string;
  /** The store's clock now, by the newest estimate; never behind an earlier answer. */
  nowMs(): number;
  /**
   * Stores receipts, all their state with them, and answers in the order given. What it acknowledges is committed (R6).
   * One bad receipt is refused by itself. Rejects with STORE_UNAVAILABLE or STORE_FULL when nothing can be said of any:
   * some may be stored then, and sending all of them again is safe.
   *
   * One emitter's receipts are taken by (fence, attempt, sequence), wherever they stand in the list, and recordedAtMs with
   * that order sorts an emitter's receipts as they were taken.
   */
  emit(receipts: readonly Receipt[]): Promise<readonly EmitOutcome[]>;
  /** Registers contracts by digest (repeats change nothing, also not which one is newest) and answers the digest of each. */
  registerContracts(namespace: string, contracts: readonly Contract[]): Promise<readonly string[]>;
  /** A pinned contract by digest; the newest of the type where `digest` is null; null where there is none. */
  readContract(
    namespace: string,
    workflowType: string,
    digest: string | null,
  ): Promise<{ contract: Contract; digest: string } | null>;
  /** The chain that holds this run, or the newest chain of the workflow id where no run id is given. */
  readChain(run: RunReference): Promise<ChainRow | null>;
  /** Chain rows by workflow id and chain id, at most `limit` a page; `changedSinceMs` leaves out what got no receipt since. */
  listChains(query: { namespace: string; limit: number; cursor?: string; changedSinceMs?: number }): Promise<ChainPage>;
  /** The first `limit` receipts of a chain as they were recorded, late ones too; those recorded until `untilMs`, if given. */
  readReceipts(chain: ChainReference, limit: number, untilMs?: number): Promise<readonly StoredReceipt[]>;
  /** One receipt; null where the store has none of that id. */
  readReceipt(receiptId: string): Promise<StoredReceipt | null>;
  /**
   * The places that the store refused of a chain. What `emit` refuses leaves its place here, so that the sequence has no hole
   * where its sender was told; only one whose identity cannot be stored, or of another cluster, leaves none.
   */
  readRefusals(chain: ChainReference, untilMs?: number): Promise<readonly StoredRefusal[]>;
  recordObservation(observation: Observation): Promise<void>;
  /** The newest observation of a chain, closed ones only where asked; the newest until `untilMs`, if given. */
  readObservation(chain: ChainReference, closedOnly: boolean, untilMs?: number): Promise<Observation | null>;
  /** Appends a judgement unless the newest of the chain says the same verdict and reason; true when appended. */
  recordJudgement(judgement: JudgementRecord): Promise<boolean>;
  /** The newest judgement of a chain; the newest until `untilMs`, if given. */
  readJudgement(chain: ChainReference, untilMs?: number): Promise<JudgementRecord | null>;
  /** Records an outage, or its end: one per worker, namespace and beginning. */
  recordGap(gap: OutageGap): Promise<void>;
  /** Outages that end after `sinceMs` or have not ended. */
  readGaps(namespace: string, sinceMs: number): Promise<readonly OutageGap[]>;
  close(): Promise<void>;
}
